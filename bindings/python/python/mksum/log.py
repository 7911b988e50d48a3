"""Append-only logs with proofs, in folders that any web server can serve (`spec/log.md`, `docs/log.md`).

>>> import tempfile
>>> import mksum.log
>>> folder = tempfile.TemporaryDirectory()
>>> with mksum.log.Log.create(folder.name, "example.com/ledger") as log:
...     key = log.verifier
...     log.append([b"one", b"two"]), log.checkpoint().size
(range(0, 2), 2)
>>> proof = mksum.log.Published.open(folder.name).inclusion(1)
>>> proof.check(b"two", key).origin
'example.com/ledger'
>>> folder.cleanup()

The formats are C2SP's: tlog-tiles, tlog-checkpoint, signed-note, tlog-cosignature, tlog-proof and tlog-policy. Keys are texts,
`NAME+ID+KEY`.
"""

from typing import TypedDict

from mksum._mksum import (
    Checkpoint,
    ConsistencyProof,
    Log,
    LogEntries,
    Note,
    Policy,
    Proof,
    Published,
    entry_hash,
    follow,
    fsck,
)
from mksum.errors import MksumError


class Followed(TypedDict):
    """The result of `follow`."""

    before: int
    """The entries that the mirror had before."""
    checkpoint: Checkpoint
    """The checkpoint that it has now."""


class Report(TypedDict):
    """The result of `fsck`."""

    entries: int
    """The entries that were checked."""
    files: int
    """The files that were checked."""
    problems: list[MksumError]
    """What is wrong, at most 1,000 errors; empty if all is well."""


__all__ = [
    "Checkpoint",
    "ConsistencyProof",
    "Followed",
    "Log",
    "LogEntries",
    "Note",
    "Policy",
    "Proof",
    "Published",
    "Report",
    "entry_hash",
    "follow",
    "fsck",
]
