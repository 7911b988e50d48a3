"""Roots of files and objects on a Dask cluster: `pip install mksum[dask]`.

>>> client = distributed.Client("scheduler:8786")                                      # doctest: +SKIP
>>> mksum.dask.hash(client, "s3://bucket/prefix/", "s3://other/ledger", "blake3")      # doctest: +SKIP
"""

# pyright: basic, reportMissingImports=false

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import distributed

from mksum import cluster
from mksum.cluster import Result, Source, Span
from mksum.types import Format


def each(client: distributed.Client) -> cluster.Each:
    """Returns what calls a function with each task on the workers of a client. Tasks of workers that die are given to others."""

    def run(call: Callable[[list[Span]], int], tasks: Iterable[list[Span]]) -> Iterator[int]:
        futures = client.map(call, list(tasks), pure=False, batch_size=1000)
        for _, count in distributed.as_completed(futures, with_results=True):
            yield count

    return run


def hash(client: distributed.Client, source: Source, ledger: str, fmt: Format = "rfc6962", **options: Any) -> list[Result]:
    """Returns the roots of all inputs of a source: see `mksum.cluster.hash`."""
    return cluster.hash(source, ledger, fmt, each=each(client), **options)


def verify(
    client: distributed.Client, kept: Iterable[Result], ledger: str, fmt: Format | None = None, **options: Any
) -> list[Result]:
    """Reads objects again and compares their roots: see `mksum.cluster.verify`."""
    return cluster.verify(kept, ledger, fmt, each=each(client), **options)


__all__ = ["hash", "verify"]
