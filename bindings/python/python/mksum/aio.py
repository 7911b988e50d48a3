"""Awaitable twins of what takes long: the work is in threads, and the event loop goes on.

Each takes the arguments of its twin, and raises the same exceptions; the twin of a method takes its object first. A task that is
cancelled stops the work within about 50 ms, except `root`. `on_progress` is called in the event loop.
"""

import asyncio
import functools
import itertools
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar, Unpack, cast, overload

import mksum
from mksum import Catalogue, DirectoryRoot, Outboard, Root, Stop
from mksum.types import AnyPath, Format, Formats, Progress, Readable

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

_Arguments = ParamSpec("_Arguments")
_Path = TypeVar("_Path", bound=AnyPath)
_Result = TypeVar("_Result")


class _How(TypedDict, total=False):
    """The options of what reads files."""

    threads: int | None
    on_progress: Progress | None
    stop: Stop | None


def _in_loop(options: dict[str, Any]) -> Stop:
    """Has the progress among `options` called in the running loop, and returns their stop, or a new one."""
    on_progress = options.get("on_progress")
    if on_progress is not None:
        options["on_progress"] = functools.partial(asyncio.get_running_loop().call_soon_threadsafe, on_progress)
    if options.get("stop") is None:
        options["stop"] = Stop()
    return cast("Stop", options["stop"])


def _awaitable(
    call: Callable[_Arguments, _Result], name: str | None = None
) -> Callable[_Arguments, Coroutine[Any, Any, _Result]]:
    """Returns a twin that calls in a thread; it has another name if the call is a method."""

    @functools.wraps(call)
    async def twin(*args: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        stop = _in_loop(options)
        try:
            return await asyncio.to_thread(call, *args, **options)
        except asyncio.CancelledError:
            stop.stop()
            raise

    return _named(twin, name or call.__name__)


def _iterated(call: Callable[_Arguments, Iterator[_Result]]) -> Callable[_Arguments, AsyncIterator[_Result]]:
    """Returns a twin that yields what the call does, taken in threads."""

    @functools.wraps(call)
    async def twin(*args: _Arguments.args, **options: _Arguments.kwargs) -> AsyncIterator[_Result]:
        stop = _in_loop(options)
        results = call(*args, **options)
        try:
            while taken := await asyncio.to_thread(_take, results):
                for result in taken:
                    yield result
        except (asyncio.CancelledError, GeneratorExit):
            stop.stop()
            raise

    return _named(twin, call.__name__)


def _named(twin: Callable[_Arguments, _Result], name: str) -> Callable[_Arguments, _Result]:
    twin.__name__ = twin.__qualname__ = name
    twin.__module__ = __name__
    return twin


def _take(results: Iterator[_Result]) -> list[_Result]:
    """Takes results for at most about 20 ms, so that many small files need few threads; at least one, if there is one."""
    end = time.monotonic() + 0.02
    taken: list[_Result] = []
    for result in itertools.islice(results, 256):
        taken.append(result)
        if time.monotonic() > end:
            break
    return taken


# mypy takes the first of several signatures through a decorator, so functions that have two have them here, too.
_file_root: Any = _awaitable(mksum.file_root)
_directory_root: Any = _awaitable(mksum.directory_root)
_hash_files: Any = _iterated(mksum.hash_files)


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
async def file_root(source: AnyPath | Readable, fmt: Format = ..., **options: Unpack[_How]) -> Root: ...
@overload
async def file_root(source: AnyPath | Readable, fmt: Formats, **options: Unpack[_How]) -> list[Root]: ...
async def file_root(
    source: AnyPath | Readable, fmt: Format | Formats = "rfc6962", **options: Unpack[_How]
) -> Root | list[Root]:
    """Returns the root of a file: see `mksum.file_root`. A file object is read in another thread."""
    result: Root | list[Root] = await _file_root(source, fmt, **options)
    return result


@overload
async def directory_root(path: AnyPath, fmt: str = ..., **options: Unpack[_How]) -> DirectoryRoot: ...
@overload
async def directory_root(
    path: AnyPath, fmt: list[str] | tuple[str, ...], **options: Unpack[_How]
) -> list[DirectoryRoot]: ...
async def directory_root(
    path: AnyPath, fmt: str | list[str] | tuple[str, ...] = "dir", **options: Unpack[_How]
) -> DirectoryRoot | list[DirectoryRoot]:
    """Returns the root of a directory: see `mksum.directory_root`."""
    result: DirectoryRoot | list[DirectoryRoot] = await _directory_root(path, fmt, **options)
    return result


@overload
def hash_files(
    paths: Iterable[_Path], fmts: Format = ..., **options: Unpack[_How]
) -> AsyncIterator[tuple[_Path, Root | Exception]]: ...
@overload
def hash_files(
    paths: Iterable[_Path], fmts: Formats, **options: Unpack[_How]
) -> AsyncIterator[tuple[_Path, list[Root] | Exception]]: ...
def hash_files(
    paths: Iterable[Any], fmts: Format | Formats = "rfc6962", **options: Unpack[_How]
) -> AsyncIterator[tuple[Any, Any]]:
    """Yields a pair for each file: see `mksum.hash_files`. The paths are taken in another thread."""
    pairs: AsyncIterator[tuple[Any, Any]] = _hash_files(paths, fmts, **options)
    return pairs


map_range = _awaitable(mksum.map_range)
get = _awaitable(mksum.get)
get_directory = _awaitable(mksum.get_directory)
keep = _awaitable(Outboard.keep)
verify = _awaitable(Outboard.verify)
damaged = _awaitable(Outboard.damaged)
repair = _awaitable(Outboard.repair)
keep_catalogue = _awaitable(Catalogue.keep, "keep_catalogue")
update_catalogue = _awaitable(Catalogue.update, "update_catalogue")
verify_catalogue = _awaitable(Catalogue.verify, "verify_catalogue")
repair_catalogue = _awaitable(Catalogue.repair, "repair_catalogue")


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


def _opened(call: Callable[_Arguments, mksum.VerifiedFile]) -> Callable[_Arguments, _Opening]:
    """Returns a twin whose result is awaited, or entered: `async with mksum.aio.open(path, root=root) as file`."""

    @functools.wraps(call)
    def twin(*args: _Arguments.args, **options: _Arguments.kwargs) -> _Opening:
        return _Opening(functools.partial(call, *args, **options))

    return _named(twin, call.__name__)


open = _opened(mksum.open)


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
