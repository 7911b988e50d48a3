"""Models and data sets in the cache of huggingface_hub, verified without the network.

The cache has a file's content under the digest that the Hub has of it: SHA-256 for large files, git's SHA-1 of a blob for small
ones. A snapshot has links to these blobs.

>>> from mksum.recipes import huggingface
>>> rows = huggingface.verify_model("~/.cache/huggingface/hub/models--me--model")              # doctest: +SKIP
>>> [(row["path"], row["error"]) for row in rows if row["status"] != "ok"]                     # doctest: +SKIP
[]
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TypedDict

import mksum
from mksum.errors import MksumError, RefusedError
from mksum.types import AnyPath

SHA256 = re.compile("[0-9a-f]{64}")
SHA1 = re.compile("[0-9a-f]{40}")
METADATA = PurePosixPath(".cache", "huggingface", "download")
"""The digests of a folder that files were downloaded into: a file each, with the commit, the ETag and a time in lines."""
CHUNK = 1 << 20


class Checked(TypedDict):
    """A file of a model."""

    path: str
    """Its path: below the snapshots' folder `COMMIT/NAME`, or below the folder that was downloaded into."""
    size: int
    """The length of its content in bytes; 0 if it is not there."""
    algorithm: str
    """`sha256` or `git-sha1`; empty if the cache has no digest of it."""
    expected: str
    """The digest by which the cache has the file, in hex; empty if there is none."""
    status: str
    """`ok`; `damaged`: it has other content; `missing`: the link leads to nothing; `unknown`: the cache has no digest of it, so
    it was not read; `failed`: it cannot be read."""
    error: str | None
    """What happened."""


class _Known(TypedDict):
    """A file, what it leads to, and its digest."""

    path: str
    content: Path
    digest: str
    error: str | None


def verify_model(repo_dir: AnyPath, *, threads: int | None = None) -> list[Checked]:
    """Compares every file of a model, data set or space in a cache with the digest that the Hub had of it.

    Links are followed. A blob with several links is read once. Nothing is asked of the network, so whether the Hub has the same
    files today is not known.

    Args:
        repo_dir: A repository in the cache (`models--OWNER--NAME`) with all its snapshots, or one snapshot of it
            (`snapshots/COMMIT`); or a folder that was downloaded into (`local_dir`).
        threads: The threads that read and hash: as many as the process may run on, if None.

    Returns:
        A row for each file, by path. All is well if each `status` is `ok`.

    Raises:
        RefusedError: The folder is nothing of these, or no digest of any file is known: an empty list would look like success.
    """
    folder = Path(os.path.expanduser(os.fsdecode(repo_dir)))
    files = sorted(_files(folder), key=lambda file: file["path"])
    if not any(file["digest"] for file in files):
        words = "expected models--OWNER--NAME, a snapshot in it, or a folder that huggingface_hub downloaded into"
        raise RefusedError(f"{folder}: the digest of no file is known: {words}")
    large = {file["content"] for file in files if SHA256.fullmatch(file["digest"])}
    found: dict[Path, str | Exception] = {
        path: root if isinstance(root, Exception) else root.text
        for path, root in mksum.hash_files(sorted(large), "sha256", threads=threads)
    }
    blobs: dict[Path, str | Exception] = {}
    for file in files:
        if SHA1.fullmatch(file["digest"]) and file["content"] not in blobs:
            blobs[file["content"]] = _git_sha1(file["content"])
    return [_checked(file, found if SHA256.fullmatch(file["digest"]) else blobs) for file in files]


def _files(folder: Path) -> Iterator[_Known]:
    """The files of a repository in a cache, of a snapshot, or of a folder."""
    metadata = folder / METADATA
    if metadata.is_dir():
        for path in sorted(metadata.rglob("*.metadata")):
            name = path.relative_to(metadata).as_posix().removesuffix(".metadata")
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            yield _known(name, folder / name, lines[1] if len(lines) > 1 else "")
        return
    if (folder / "snapshots").is_dir():
        top, blobs = folder / "snapshots", folder / "blobs"
        snapshots = sorted(path for path in top.iterdir() if path.is_dir())
    else:
        top, blobs, snapshots = (
            folder.parent,
            folder.parent.parent / "blobs",
            [folder] if folder.parent.name == "snapshots" else [],
        )
    for snapshot in snapshots:
        for place, folders, names in os.walk(snapshot, onerror=_raised):
            for name in [*names, *(name for name in folders if os.path.islink(os.path.join(place, name)))]:
                path = Path(place, name)
                shown = path.relative_to(top).as_posix()
                content = Path(os.path.abspath(os.path.join(place, os.readlink(path)))) if path.is_symlink() else path
                inside = os.path.realpath(content.parent) == os.path.realpath(blobs)
                if path.is_symlink() and not inside:
                    yield {
                        "path": shown,
                        "content": content,
                        "digest": "",
                        "error": f"{path}: a link to {content}, which is no blob",
                    }
                else:
                    yield _known(shown, content, content.name if inside else "")


def _raised(error: OSError) -> None:
    raise mksum.FileError(f"{error.filename}: the folder cannot be listed: {error.strerror}")


def _known(path: str, content: Path, etag: str) -> _Known:
    digest = etag.strip().removeprefix("W/").strip('"')
    if SHA256.fullmatch(digest) or SHA1.fullmatch(digest):
        return {"path": path, "content": content, "digest": digest, "error": None}
    return {"path": path, "content": content, "digest": "", "error": f"{content}: the cache has no digest of it"}


def _checked(file: _Known, digests: dict[Path, str | Exception]) -> Checked:
    content, expected, error = file["content"], file["digest"], file["error"]
    algorithm = {64: "sha256", 40: "git-sha1"}.get(len(expected), "")
    found = digests.get(content, "")
    try:
        size = content.stat().st_size
    except OSError:
        size = 0
    if not expected:
        status = "unknown" if content.exists() else "missing"
    elif isinstance(found, FileNotFoundError):
        status, error = "missing", f"{content}: it is not there"
    elif isinstance(found, Exception):
        status, error = "failed", str(found)
    elif found == expected:
        status = "ok"
    else:
        status, error = "damaged", f"{content}: expected the {algorithm} {expected}, found {found}"
    return {
        "path": file["path"],
        "size": size,
        "algorithm": algorithm,
        "expected": expected,
        "status": status,
        "error": error,
    }


def _git_sha1(path: Path) -> str | Exception:
    """The SHA-1 of a git blob: of `blob LENGTH`, a zero byte and the content."""
    try:
        with open(path, "rb") as file:
            length = os.fstat(file.fileno()).st_size
            hasher, done = mksum.sha1(b"blob %d\0" % length), 0
            while chunk := file.read(CHUNK):
                hasher.update(chunk)
                done += len(chunk)
    except (OSError, MksumError) as error:
        return error
    if done != length:
        return mksum.ChangedError(f"{path}: it had {length} bytes, and {done} were read")
    return hasher.hexdigest()


__all__ = ["Checked", "verify_model"]
