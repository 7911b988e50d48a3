"""pip: a wheelhouse from an index and its mirrors, by the hashes of a requirements file.

The file is one that pip takes with `--require-hashes`, as `pip-compile --generate-hashes` and `uv export` write it. Each file is
verified before it has its name; an interrupted run goes on, and a damaged file is fetched again. Then
`pip install --no-index --find-links FOLDER --require-hashes -r FILE` needs no network.
"""

import json
import pathlib
import re
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence

import mksum

SIMPLE = "application/vnd.pypi.simple.v1+json"


def pinned(requirements: str) -> dict[str, set[str]]:
    """Returns the SHA-256 digests of each project in the text of a requirements file."""
    joined = requirements.replace("\\\n", " ")
    found: dict[str, set[str]] = {}
    for line in joined.splitlines():
        if name := re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*==", line):
            project = re.sub(r"[-_.]+", "-", name[1]).lower()
            found.setdefault(project, set()).update(re.findall(r"--hash=sha256:([0-9a-f]{64})", line))
    return found


def fetch(requirements: str, folder: pathlib.Path, indexes: Sequence[str]) -> Iterator[str]:
    """Fetches the files of all requirements from the first index that lists them, and its mirrors. Yields their names.

    The indexes are not trusted: they say where a file is, and the requirements say which bytes it has.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for project, digests in pinned(requirements).items():
        places: dict[str, tuple[str, list[str]]] = {}
        for index in indexes:
            page = f"{index.rstrip('/')}/{project}/"
            with urllib.request.urlopen(urllib.request.Request(page, headers={"Accept": SIMPLE})) as answer:
                files = json.load(answer)["files"]
            for file in files:
                digest, name = file["hashes"].get("sha256"), file["filename"]
                if digest in digests and "/" not in name and not name.startswith("."):
                    places.setdefault(digest, (name, []))[1].append(urllib.parse.urljoin(page, file["url"]))
        for digest, (name, urls) in places.items():
            mksum.get(urls, f"sha256:{digest}", folder / name, outboards=[])
            yield name
