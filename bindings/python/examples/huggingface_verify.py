"""huggingface_hub: `hf cache verify` with mksum, many files at once.

The Hub has SHA-256 for large files and git's SHA-1 for small ones. The verification asks one function for the digest of one file
(`huggingface_hub.utils._verification.compute_file_hash`); here all SHA-256 digests are computed ahead, side by side.
"""

import pathlib
from collections.abc import Generator, Iterable
from contextlib import contextmanager

import mksum
from huggingface_hub.utils import _verification


def git_sha1(path: pathlib.Path) -> str:
    """Returns the SHA-1 of a git blob: of `blob LENGTH`, a zero byte and the content."""
    content = path.read_bytes()
    hasher = mksum.sha1(b"blob %d\0" % len(content))
    hasher.update(content)
    return hasher.hexdigest()


@contextmanager
def hashed_by_mksum(paths: Iterable[pathlib.Path]) -> Generator[None]:
    """While this is entered, huggingface_hub verifies these files by digests of mksum, and others as always."""
    known = dict(mksum.hash_files(paths, "sha256"))
    before = _verification.compute_file_hash

    def compute(path: pathlib.Path, algorithm: _verification.HashAlgo) -> str:
        found = known.get(path)
        if algorithm == "git-sha1":
            return git_sha1(path)
        if found is None:
            return before(path, algorithm)
        if isinstance(found, Exception):
            raise found
        return found.text

    _verification.compute_file_hash = compute
    try:
        yield
    finally:
        _verification.compute_file_hash = before
