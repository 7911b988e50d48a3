"""fsspec: roots of files wherever fsspec finds them, and of many at once."""

from collections.abc import Iterator

import fsspec  # type: ignore[import-untyped]
import mksum
from mksum.types import HashedPart, Part


def url_root(url: str, fmt: str = "rfc6962") -> mksum.Root:
    """Returns the root of a file at any URL that fsspec knows, read in order, once."""
    files, path = fsspec.core.url_to_fs(url)
    with files.open(path, "rb") as file:
        return mksum.file_root(file, fmt)


def tree_roots(url: str, fmt: str = "blake3") -> Iterator[tuple[str, mksum.Root]]:
    """Yields the path and root of every file under a URL, in the order of their paths."""
    files, top = fsspec.core.url_to_fs(url)
    for path in sorted(files.find(top)):
        with files.open(path, "rb") as file:
            yield path, mksum.file_root(file, fmt)


def range_digest(url: str, row: Part) -> HashedPart:
    """Hashes one part of a plan from a store: what a worker of a cluster does."""
    files, path = fsspec.core.url_to_fs(url)
    start = row["offset"]
    return mksum.map_range(row, files.cat_file(path, start=start, end=start + row["length"]))
