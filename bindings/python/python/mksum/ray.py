"""Roots of files and objects on a Ray cluster: `pip install mksum[ray]`.

>>> ray.init("auto")                                                             # doctest: +SKIP
>>> mksum.ray.hash("s3://bucket/prefix/", "s3://other/ledger", "blake3")         # doctest: +SKIP
"""

# Where Ray is not installed, pyright takes this file for it.
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import ray

from mksum import cluster
from mksum.cluster import Result, Source, Span
from mksum.types import Format

AHEAD = 1000
"""The tasks that are given to the cluster at a time."""


def each(call: Callable[[list[Span]], int], tasks: Iterable[list[Span]]) -> Iterator[int]:
    """Calls a function with each task on the workers. Tasks of those that die are given to others, up to eight times."""
    remote = ray.remote(max_retries=8, num_cpus=1)(_call)
    held, left = ray.put(call), iter(tasks)
    running = [remote.remote(held, task) for task in itertools.islice(left, AHEAD)]
    while running:
        done, running = ray.wait(running)
        yield from ray.get(done)
        running += [remote.remote(held, task) for task in itertools.islice(left, len(done))]


def _call(call: Callable[[list[Span]], int], task: list[Span]) -> int:
    return call(task)


def hash(source: Source, ledger: str, fmt: Format = "rfc6962", **options: Any) -> list[Result]:
    """Returns the roots of all inputs of a source: see `mksum.cluster.hash`."""
    return cluster.hash(source, ledger, fmt, each=each, **options)


def verify(kept: Iterable[Result], ledger: str, fmt: Format | None = None, **options: Any) -> list[Result]:
    """Reads objects again and compares their roots: see `mksum.cluster.verify`."""
    return cluster.verify(kept, ledger, fmt, each=each, **options)


__all__ = ["hash", "verify"]
