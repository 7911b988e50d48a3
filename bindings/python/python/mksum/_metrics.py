"""Figures of calls and jobs."""

import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TypedDict

from mksum._mksum import counts

LOG = logging.getLogger("mksum")


class Metrics(TypedDict):
    """What was read and fetched.

    Not counted: bytes in memory (`root`, hash objects) and reads of `mksum.open`; retries by themselves, since each try is a
    request; hits of the operating system's cache; what worker processes of a cluster do, whose rows are in the ledger.
    """

    hashed_bytes: int
    """The bytes of files and objects that calls have read and hashed; those of calls that have ended."""
    skipped_bytes: int
    """The bytes that such calls need not read, because they are unchanged or were hashed before: hits of trees and catalogues."""
    requests: int
    """The requests to stores and web servers, repeated ones too; of stores in `use_store` the calls of their clients."""
    received_bytes: int
    """The bytes of objects that came."""
    seconds: float
    """The wall time."""


_BEGIN = time.monotonic()


def metrics() -> Metrics:
    """Returns the figures of this process since it imported mksum, of all threads."""
    found = counts()
    return {
        "hashed_bytes": found["hashed_bytes"],
        "skipped_bytes": found["skipped_bytes"],
        "requests": found["requests"],
        "received_bytes": found["received_bytes"],
        "seconds": time.monotonic() - _BEGIN,
    }


@contextmanager
def measured(name: str = "job") -> Generator[Metrics]:
    """Measures what this process does while the `with` block runs, in all threads.

    Yields a dict, which has the figures when the block has ended, also after an error. They are logged then, by `logging`, as one
    line of the logger `mksum` at the level INFO; the record has the dict as `mksum`.

        with mksum.measured("nightly") as figures:
            mksum.file_root("s3://bucket/key", "blake3")
        print(figures["requests"], figures["received_bytes"])
    """
    before, figures = metrics(), Metrics(hashed_bytes=0, skipped_bytes=0, requests=0, received_bytes=0, seconds=0.0)
    try:
        yield figures
    finally:
        after = metrics()
        figures["hashed_bytes"] = after["hashed_bytes"] - before["hashed_bytes"]
        figures["skipped_bytes"] = after["skipped_bytes"] - before["skipped_bytes"]
        figures["requests"] = after["requests"] - before["requests"]
        figures["received_bytes"] = after["received_bytes"] - before["received_bytes"]
        figures["seconds"] = after["seconds"] - before["seconds"]
        words = "%s: %d bytes hashed, %d skipped, %d requests, %d bytes received, %.3f s"
        values = (figures["hashed_bytes"], figures["skipped_bytes"], figures["requests"], figures["received_bytes"])
        LOG.info(words, name, *values, figures["seconds"], extra={"mksum": {"name": name, **figures}})


__all__ = ["Metrics", "measured", "metrics"]
