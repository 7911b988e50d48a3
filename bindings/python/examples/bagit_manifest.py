"""BagIt (RFC 8493): the payload manifest of a bag, hashed by mksum, and checked by bagit.

`bagit` reads each file on one core, and once for each algorithm. Manifests are the same; all algorithms share one read here, and
many files are hashed at once.
"""

import pathlib

import mksum


def write_manifests(bag: pathlib.Path, algorithms: tuple[str, ...] = ("sha256", "sha512")) -> None:
    """Writes `manifest-ALGORITHM.txt` of the files in `data/` (RFC 8493, 2.1.3).

    Raises:
        MksumError: A file could not be hashed. Then nothing was written.
    """
    paths = sorted(path for path in (bag / "data").rglob("*") if path.is_file())
    lines: dict[str, list[str]] = {name: [] for name in algorithms}
    for path, roots in mksum.hash_files(paths, algorithms):
        if isinstance(roots, Exception):
            raise roots
        name = path.relative_to(bag).as_posix()
        # RFC 8493, 2.1.3: these are percent-encoded. bagit 1.9 forgets the '%', so it cannot validate a bag with one in a name.
        name = name.replace("%", "%25").replace("\n", "%0A").replace("\r", "%0D")
        for root in roots:
            lines[root.format].append(f"{root}  {name}\n")
    for algorithm, entries in lines.items():
        (bag / f"manifest-{algorithm}.txt").write_text("".join(entries), encoding="utf-8")


def make_bag(folder: pathlib.Path, algorithms: tuple[str, ...] = ("sha256", "sha512")) -> None:
    """Makes a bag of a folder that has a `data` folder: declaration, payload manifests, tag manifest (RFC 8493, 2.2.1)."""
    write_manifests(folder, algorithms)
    (folder / "bagit.txt").write_text("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n", encoding="utf-8")
    tags = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("tagmanifest-"))
    for algorithm in algorithms:
        entries = [f"{mksum.file_root(path, algorithm)}  {path.name}\n" for path in tags]
        (folder / f"tagmanifest-{algorithm}.txt").write_text("".join(entries), encoding="utf-8")
