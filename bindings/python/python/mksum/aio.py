"""Awaitable twins of what takes long: the work is in threads, and the event loop goes on.

Each takes the arguments of its twin but `stop`, and raises the same exceptions. A task that is cancelled stops the work within
about 50 ms. `on_progress` is called in the event loop.
"""

import asyncio
import functools
import itertools
import os
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import mksum
from mksum import Catalogue, DirectoryRoot, Outboard, Root, Stop
from mksum.types import (
    AnyPath,
    DirectoryDownload,
    Download,
    EntryState,
    Format,
    Formats,
    HashedPart,
    Part,
    Place,
    Progress,
    Readable,
    Repaired,
    Verified,
)

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

_Path = TypeVar("_Path", bound=AnyPath)
_Result = TypeVar("_Result")


def _in_loop(on_progress: Progress | None) -> Progress | None:
    """Returns a progress for other threads, which calls this one in the running loop."""
    if on_progress is None:
        return None
    loop, told = asyncio.get_running_loop(), on_progress

    def tell(count: int, /) -> None:
        loop.call_soon_threadsafe(told, count)

    return tell


async def _run(call: Callable[..., _Result], *args: Any, on_progress: Progress | None, **options: Any) -> _Result:
    """Calls in a thread, and stops it when this task is cancelled."""
    stop = Stop()
    try:
        return await asyncio.to_thread(call, *args, stop=stop, on_progress=_in_loop(on_progress), **options)
    finally:
        stop.stop()


@overload
async def root(data: "ReadableBuffer", fmt: Format = ...) -> Root: ...
@overload
async def root(data: "ReadableBuffer", fmt: Formats) -> list[Root]: ...
async def root(data: "ReadableBuffer", fmt: Format | Formats = "rfc6962") -> Root | list[Root]:
    """Returns the root of bytes in memory: see `mksum.root`. A cancelled task does not wait for it, but it goes on."""
    call: Any = mksum.root
    result: Root | list[Root] = await asyncio.to_thread(call, data, fmt)
    return result


@overload
async def file_root(
    source: AnyPath | Readable, fmt: Format = ..., *, threads: int | None = ..., on_progress: Progress | None = ...
) -> Root: ...
@overload
async def file_root(
    source: AnyPath | Readable,
    fmt: Formats,
    *,
    threads: int | None = ...,
    on_progress: Progress | None = ...,
) -> list[Root]: ...
async def file_root(
    source: AnyPath | Readable,
    fmt: Format | Formats = "rfc6962",
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> Root | list[Root]:
    """Returns the root of a file: see `mksum.file_root`. A file object is read in another thread."""
    call: Any = mksum.file_root
    result: Root | list[Root] = await _run(call, source, fmt, threads=threads, on_progress=on_progress)
    return result


@overload
async def directory_root(
    path: AnyPath, fmt: str = ..., *, threads: int | None = ..., on_progress: Progress | None = ...
) -> DirectoryRoot: ...
@overload
async def directory_root(
    path: AnyPath, fmt: list[str] | tuple[str, ...], *, threads: int | None = ..., on_progress: Progress | None = ...
) -> list[DirectoryRoot]: ...
async def directory_root(
    path: AnyPath,
    fmt: str | list[str] | tuple[str, ...] = "dir",
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> DirectoryRoot | list[DirectoryRoot]:
    """Returns the root of a directory: see `mksum.directory_root`."""
    call: Any = mksum.directory_root
    result: DirectoryRoot | list[DirectoryRoot] = await _run(call, path, fmt, threads=threads, on_progress=on_progress)
    return result


@overload
def hash_files(
    paths: Iterable[_Path], fmts: Format = ..., *, threads: int | None = ..., on_progress: Progress | None = ...
) -> AsyncIterator[tuple[_Path, Root | Exception]]: ...
@overload
def hash_files(
    paths: Iterable[_Path],
    fmts: Formats,
    *,
    threads: int | None = ...,
    on_progress: Progress | None = ...,
) -> AsyncIterator[tuple[_Path, list[Root] | Exception]]: ...
async def hash_files(
    paths: Iterable[Any],
    fmts: Format | Formats = "rfc6962",
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> AsyncIterator[tuple[Any, Any]]:
    """Yields a pair for each file: see `mksum.hash_files`. The paths are taken in another thread."""
    stop, call = Stop(), cast("Callable[..., Iterator[tuple[Any, Any]]]", mksum.hash_files)
    files = call(paths, fmts, threads=threads, on_progress=_in_loop(on_progress), stop=stop)
    try:
        while pairs := await asyncio.to_thread(_take, files):
            for pair in pairs:
                yield pair
    finally:
        stop.stop()


def _take(files: Iterator[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Takes pairs for at most about 20 ms, so that many small files need few threads; at least one, if there is one."""
    end = time.monotonic() + 0.02
    pairs: list[tuple[Any, Any]] = []
    for pair in itertools.islice(files, 256):
        pairs.append(pair)
        if time.monotonic() > end:
            break
    return pairs


async def map_range(row: Part, *, threads: int | None = None, on_progress: Progress | None = None) -> HashedPart:
    """Returns a row of `plan` with its digest, from the file: see `mksum.map_range`."""
    return await _run(mksum.map_range, row, threads=threads, on_progress=on_progress)


async def keep(
    path: AnyPath,
    fmt: Format = "rfc6962",
    *,
    outboard: AnyPath | None = None,
    unit: int | None = None,
    accept_changes: bool = False,
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> Outboard:
    """Hashes a file and writes its tree beside it: see `Outboard.keep`. A run that was cancelled is resumed by the next."""
    return await _run(
        Outboard.keep,
        path,
        fmt,
        outboard=outboard,
        unit=unit,
        accept_changes=accept_changes,
        threads=threads,
        on_progress=on_progress,
    )


async def verify(
    outboard: Outboard,
    start: int = 0,
    end: int | None = None,
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> None:
    """Verifies bytes of a file, and raises if they are damaged: see `Outboard.verify`."""
    await _run(outboard.verify, start, end, threads=threads, on_progress=on_progress)


async def damaged(
    outboard: Outboard,
    start: int = 0,
    end: int | None = None,
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> list[Place]:
    """Returns where a file differs from its tree: see `Outboard.damaged`."""
    return await _run(outboard.damaged, start, end, threads=threads, on_progress=on_progress)


async def repair(
    outboard: Outboard, source: AnyPath, *, threads: int | None = None, on_progress: Progress | None = None
) -> Repaired:
    """Repairs a file from a copy: see `Outboard.repair`. A repair that was cancelled is completed by the next."""
    return await _run(outboard.repair, source, threads=threads, on_progress=on_progress)


async def keep_catalogue(
    directory: AnyPath,
    fmts: Format | Formats | None = None,
    *,
    catalogue: AnyPath | None = None,
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> Catalogue:
    """Makes the catalogue of a directory or brings it up to date: see `Catalogue.keep`."""
    return await _run(Catalogue.keep, directory, fmts, catalogue=catalogue, threads=threads, on_progress=on_progress)


async def update_catalogue(
    catalogue: Catalogue, *, threads: int | None = None, on_progress: Progress | None = None
) -> list[EntryState]:
    """Reads what is new or changed: see `Catalogue.update`."""
    return await _run(catalogue.update, threads=threads, on_progress=on_progress)


async def verify_catalogue(
    catalogue: Catalogue,
    *,
    budget: float | None = None,
    sample: float | None = None,
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> Verified:
    """Compares the content of files with their roots: see `Catalogue.verify`."""
    return await _run(catalogue.verify, budget=budget, sample=sample, threads=threads, on_progress=on_progress)


async def repair_catalogue(
    catalogue: Catalogue, source: AnyPath, *, threads: int | None = None, on_progress: Progress | None = None
) -> list[EntryState]:
    """Repairs damaged files of a directory from copies: see `Catalogue.repair`."""
    return await _run(catalogue.repair, source, threads=threads, on_progress=on_progress)


class VerifiedFile:
    """An awaitable twin of `mksum.VerifiedFile`, made by `mksum.aio.open`: its reads are in threads.

    One position is for one task at a time; `read_at` has none, and is for any number of tasks at once. A task that is cancelled
    does not wait for its read, and the position stays as it is.
    """

    def __init__(self, file: mksum.VerifiedFile) -> None:
        self._file = file

    @property
    def name(self) -> str:
        """The path or URL of the file."""
        return self._file.name

    @property
    def size(self) -> int:
        """The length of the file in bytes."""
        return self._file.size

    @property
    def root(self) -> Root:
        """The root that every byte is verified against."""
        return self._file.root

    @property
    def unit(self) -> int:
        """The length of the units that are verified at once, in bytes."""
        return self._file.unit

    @property
    def replaced(self) -> int:
        """The bytes that came from replicas so far."""
        return self._file.replaced

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return self._file.closed

    async def read(self, size: int | None = -1, /) -> bytes:
        """Returns the next `size` bytes, fewer only at the end of the file; all that are left, if it is negative or None.

        Raises:
            DamagedError, OutboardError, ChangedError, FetchError, FileError: As `mksum.VerifiedFile`. The position stays.
        """
        start = self._file.tell()
        count = max(0, self.size - start) if size is None or size < 0 else size
        found = await self.read_at(start, count)
        self._file.seek(start + len(found))
        return found

    async def read_at(self, offset: int, size: int) -> bytes:
        """Returns `size` bytes from `offset` on, fewer only at the end of the file. The position stays as it is."""
        return await asyncio.to_thread(self._file.read_at, offset, size)

    async def map(self, offset: int = 0, length: int | None = None) -> memoryview:
        """Returns a range of the file as read-only memory that is verified already: see `mksum.VerifiedFile.map`."""
        return await asyncio.to_thread(self._file.map, offset, length)

    async def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fills a contiguous buffer of any item type with the next bytes; returns their number."""
        with memoryview(buffer) as view, view.cast("B") as flat:
            if flat.readonly:
                raise TypeError("the buffer is read-only")
            found = await self.read(len(flat))
            flat[: len(found)] = found
        return len(found)

    async def chunks(self, size: int = 1 << 20) -> AsyncIterator[bytes]:
        """Yields the rest of the file in chunks of `size` bytes, the last of which may be shorter."""
        while chunk := await self.read(size):
            yield chunk

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Moves the position to `offset` bytes from the start (0), the position (1) or the end (2). Returns the new one."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Returns the position in bytes."""
        return self._file.tell()

    async def close(self) -> None:
        """Closes the file. Closing it again does nothing."""
        self._file.close()

    async def __aenter__(self) -> "VerifiedFile":
        """Returns itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes the file."""
        await self.close()

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Yields the rest of the file in chunks of 1 MiB."""
        return self.chunks()


class _Opening:
    """A file that is opened when it is awaited or entered."""

    def __init__(self, call: Callable[[], mksum.VerifiedFile]) -> None:
        self._call, self._file = call, cast("VerifiedFile | None", None)

    async def _open(self) -> VerifiedFile:
        return VerifiedFile(await asyncio.to_thread(self._call))

    def __await__(self) -> Generator[Any, None, VerifiedFile]:
        return self._open().__await__()

    async def __aenter__(self) -> VerifiedFile:
        self._file = await self._open()
        return self._file

    async def __aexit__(self, *_: object) -> None:
        if self._file is not None:
            await self._file.close()


def open(
    path: AnyPath,
    *,
    root: Root | str | None,
    fmt: str | None = None,
    length: int | None = None,
    outboard: AnyPath | None = None,
    foreign: Format | None = None,
    replicas: AnyPath | Iterable[AnyPath] = (),
    repair: bool = False,
    threads: int | None = None,
) -> _Opening:
    """Opens a file or object that yields only verified bytes: see `mksum.open`.

    The result is awaited, or entered: `async with mksum.aio.open(path, root=root) as file: await file.read(10)`.
    """
    return _Opening(
        functools.partial(
            mksum.open,
            path,
            root=root,
            fmt=fmt,
            length=length,
            outboard=outboard,
            foreign=foreign,
            replicas=replicas,
            repair=repair,
            threads=threads,
        )
    )


async def get(
    urls: AnyPath | Iterable[AnyPath],
    root: Root | str,
    path: AnyPath,
    *,
    fmt: str | None = None,
    outboards: AnyPath | Iterable[AnyPath] | None = None,
    foreign: Format | None = None,
    seeds: Iterable[AnyPath] | None = None,
    length: int | None = None,
    connections: int = 8,
    on_progress: Progress | None = None,
) -> Download:
    """Fetches a file from mirrors that are not trusted: see `mksum.get`."""
    return await _run(
        mksum.get,
        urls,
        root,
        path,
        fmt=fmt,
        outboards=outboards,
        foreign=foreign,
        seeds=seeds,
        length=length,
        connections=connections,
        on_progress=on_progress,
    )


async def get_directory(
    urls: AnyPath | Iterable[AnyPath],
    root: DirectoryRoot | str,
    path: AnyPath,
    *,
    catalogues: AnyPath | Iterable[AnyPath] | None = None,
    connections: int = 8,
    on_progress: Progress | None = None,
) -> DirectoryDownload:
    """Fetches a directory from mirrors that are not trusted: see `mksum.get_directory`."""
    return await _run(
        mksum.get_directory, urls, root, path, catalogues=catalogues, connections=connections, on_progress=on_progress
    )


__all__ = [
    "VerifiedFile",
    "damaged",
    "directory_root",
    "file_root",
    "get",
    "get_directory",
    "hash_files",
    "keep",
    "keep_catalogue",
    "map_range",
    "open",
    "repair",
    "repair_catalogue",
    "root",
    "update_catalogue",
    "verify",
    "verify_catalogue",
]
