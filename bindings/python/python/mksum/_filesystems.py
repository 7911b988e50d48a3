"""Stores and file systems of other packages, as the engine reads them: by ranges, in parallel, each of one version."""

import datetime
import importlib
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from uuid import uuid4

from mksum import _mksum
from mksum.errors import ChangedError, RefusedError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Facts: TypeAlias = tuple[int, str]
"""The length of a file in bytes, and its version: an ETag, or the time of its last change. Empty if there is none."""


class Empty(Exception):
    """A range that begins at or behind the end of a file."""


class Adapter(Protocol):
    """What the engine asks of a store. Each method raises FileNotFoundError where there is no file."""

    def facts(self, key: str) -> Facts:
        """Returns the length and version of a file."""
        ...

    def read(self, key: str, start: int, end: int, wanted: str | None) -> "tuple[int, str, ReadableBuffer]":
        """Returns the length and version of a file, and the bytes `start..end` or those of them that it has.

        Raises:
            ChangedError: The file has another version than `wanted`, or got one meanwhile.
            Empty: It has no byte of the range.
        """
        ...

    def list(self, prefix: str) -> Iterator[tuple[str, int, str]]:
        """Yields the key, length and version of each file below a folder; of all, if it is empty."""
        ...

    def write(self, key: str, chunks: Iterable[bytes]) -> None:
        """Writes a file: all of it, or it is as it was."""
        ...

    def path(self, key: str) -> str:
        """Returns the path that the store has for a key."""
        ...


def adapter_of(store: Any) -> Adapter:
    """Returns the adapter of a store.

    Raises:
        TypeError: It is nothing that can be read by ranges.
    """
    if _is_of(store, "fsspec.spec", "AbstractFileSystem"):
        return _Fsspec(store)
    if _is_of(store, "pyarrow._fs", "FileSystem"):
        # fsspec has the versions that the wrapper leaves out.
        inner = getattr(getattr(store, "handler", None), "fs", None)
        return _Arrow(store) if inner is None else adapter_of(inner)
    if any(base.__module__.partition(".")[0] == "obstore" for base in type(store).__mro__) and hasattr(store, "head"):
        return _Obstore(store)
    words = "expected a store of obstore, a file system of fsspec or pyarrow.fs, or an open file of fsspec"
    raise TypeError(f"{words}, not {type(store).__qualname__}")


@contextmanager
def use_store(store: object, storage_options: Mapping[str, Any] | None = None) -> Generator[str]:
    """Has the engine read and write in a store of another package: its files have URLs while the `with` block runs.

    Yields the URL of the store; with a slash and a path of the store behind it, it is the URL of a file or folder. Every function
    of this process takes it where it takes the URL of an object: as an input, and as the place of an outboard or ledger. Ranges
    are read in parallel, by the store's own client with its credentials, retries and caches.

        with mksum.use_store(obstore.store.S3Store("bucket", region="eu-west-1")) as url:
            mksum.Outboard.keep(f"{url}/data.bin", outboard=f"{url}/data.bin.mkt")

    All bytes of an input are of one version, or there is a `ChangedError`. obstore binds each request to the ETag of the first.
    fsspec and pyarrow cannot: the version is asked for again after each range, and is the ETag, or else the time of the last
    change, which some stores have in seconds only. A store that has neither is refused.

    Args:
        store: A store of obstore, or a file system of fsspec or pyarrow.fs. Of an open file of fsspec the URL is that file's. Or
            the URL of a file or folder as fsspec takes it.
        storage_options: For such a URL, what fsspec passes to the file system: as for `pandas.read_csv`.

    Raises:
        TypeError: It is something else. A file object that is read in order is an argument of `file_root` itself.
        ImportError: It is a URL, and fsspec or its package for this store is not installed.
        RefusedError: This build has no client of stores.
    """
    if not hasattr(_mksum, "UsedStore"):
        raise RefusedError("this build of mksum has no network client: install one with the feature 'stores'")
    below = ""
    if isinstance(store, str):
        fsspec: Any = importlib.import_module("fsspec.core")
        store, found = fsspec.url_to_fs(store, **storage_options or {})
        below = f"/{found.strip('/')}"
    elif storage_options is not None:
        raise TypeError("storage_options are for a URL: a store has its own already")
    files, path = getattr(store, "fs", None), getattr(store, "path", None)
    if isinstance(path, str) and hasattr(store, "read") and _is_of(files, "fsspec.spec", "AbstractFileSystem"):
        store, below = files, f"/{path.lstrip('/')}"
    used = _mksum.UsedStore(adapter_of(store))
    try:
        yield f"{used.url}{below}"
    finally:
        used.close()


def _is_of(value: object, module: str, name: str) -> bool:
    """Whether a value is of a class of a package, which need not be installed."""
    return any((base.__module__, base.__name__) == (module, name) for base in type(value).__mro__)


def _time(value: Any) -> str:
    """The time of a last change as a version: of a file as `spec/plan.md` has it."""
    if isinstance(value, datetime.datetime):
        value = value.timestamp()
    if isinstance(value, int | float):
        # Listings and facts of one system may differ in the type of a time.
        return f"mtime:{value:.9f}"
    return f"time:{value}" if value else ""


def _compared(key: str, before: Facts, after: Facts) -> None:
    if before != after:
        was, found = (f"{size} bytes of version {version!r}" for size, version in (before, after))
        raise ChangedError(f"{key}: it had {was}, and has {found}")


class _Obstore:
    """A store of obstore: each response says its version, and requests are bound to an ETag."""

    def __init__(self, store: Any) -> None:
        self.store = store

    @staticmethod
    def _facts_of(meta: Any) -> Facts:
        return meta["size"], meta["e_tag"] or _time(meta["last_modified"])

    def facts(self, key: str) -> Facts:
        return self._facts_of(self.store.head(key))

    def read(self, key: str, start: int, end: int, wanted: str | None) -> "tuple[int, str, ReadableBuffer]":
        # Ranges are 63 bits long at most.
        options: dict[str, Any] = {"range": (start, min(end, (1 << 63) - 1))}
        if wanted is not None and not wanted.startswith(("mtime:", "time:", "W/")):
            options["if_match"] = wanted
        try:
            found = self.store.get(key, options=options)
            size, version = self._facts_of(found.meta)
            data = found.bytes()
        except FileNotFoundError:
            raise
        except Exception as error:
            if type(error).__name__ == "PreconditionError":
                raise ChangedError(f"{key}: it has another version than {wanted}") from None
            # Stores say in many ways that a range begins behind the end; only a first request can be about one.
            if wanted is None and start >= self.facts(key)[0]:
                raise Empty from None
            raise
        if wanted is not None and wanted != version:
            raise ChangedError(f"{key}: it had the version {wanted}, and has {version}")
        return size, version, data

    def list(self, prefix: str) -> Iterator[tuple[str, int, str]]:
        for chunk in self.store.list(prefix or None):
            for meta in chunk:
                yield (meta["path"], *self._facts_of(meta))

    def write(self, key: str, chunks: Iterable[bytes]) -> None:
        self.store.put(key, iter(chunks))

    def path(self, key: str) -> str:
        return key


class _Fsspec:
    """A file system of fsspec: the version is asked for after each range."""

    ETAGS = ("ETag", "etag", "e_tag")
    TIMES = ("mtime", "LastModified", "last_modified", "modified", "updated", "created")

    def __init__(self, files: Any) -> None:
        self.files = files
        self.root: str = files.root_marker

    def path(self, key: str) -> str:
        return f"{self.root}{key.lstrip('/')}" if self.root else key

    def facts(self, key: str) -> Facts:
        path = self.path(key)
        # What a listing said earlier is no evidence.
        self.files.invalidate_cache(self.files._parent(path))
        return self._facts_of(path, self.files.info(path))

    def _facts_of(self, path: str, info: Any) -> Facts:
        if info["type"] != "file" or info["size"] is None:
            raise FileNotFoundError(2, "No such file with a size", path)
        version = next((info[name] for name in self.ETAGS if info.get(name)), None)
        version = version or _time(next((info[name] for name in self.TIMES if info.get(name)), None))
        if not version:
            try:
                version = _time(self.files.modified(path))
            except NotImplementedError:
                version = ""
        return info["size"], version

    def read(self, key: str, start: int, end: int, wanted: str | None) -> "tuple[int, str, ReadableBuffer]":
        before = self.facts(key) if wanted is None else None
        if before is not None and start >= before[0]:
            raise Empty
        data = self.files.cat_file(self.path(key), start=start, end=end if before is None else min(end, before[0]))
        after = self.facts(key)
        _compared(key, before or (after[0], wanted or ""), after)
        return (*after, data)

    def list(self, prefix: str) -> Iterator[tuple[str, int, str]]:
        path = self.path(prefix)
        self.files.invalidate_cache(path)
        for found, info in self.files.find(path, detail=True).items():
            key = found.lstrip("/") if self.root else found
            # Of a path that is a file, it finds that.
            if info["type"] == "file" and (not prefix or key.startswith(f"{prefix.strip('/')}/")):
                yield (key, *self._facts_of(found, info))

    def write(self, key: str, chunks: Iterable[bytes]) -> None:
        path = self.path(key)
        if not self.root:
            # An object of a store is there when it is committed.
            file = self.files.open(path, "wb", autocommit=False)
            try:
                for chunk in chunks:
                    file.write(chunk)
                file.close()
            except BaseException:
                file.discard()
                raise
            file.commit()
            return
        folder = self.files._parent(path)
        hidden = f"{folder.rstrip('/')}/.{path.rpartition('/')[2]}.{uuid4().hex}"
        self.files.makedirs(folder, exist_ok=True)
        try:
            with self.files.open(hidden, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
            self.files.mv(hidden, path)
        except BaseException:
            if self.files.exists(hidden):
                self.files.rm_file(hidden)
            raise


class _Arrow:
    """A file system of `pyarrow.fs`, whose versions are times: asked for before a first range and after each."""

    def __init__(self, files: Any) -> None:
        self.files = files
        self.root = "/" if files.type_name == "local" and os.name != "nt" else ""

    def path(self, key: str) -> str:
        return f"{self.root}{key.lstrip('/')}" if self.root else key

    @staticmethod
    def _facts_of(info: Any) -> Facts:
        # As `spec/plan.md` has it.
        nanoseconds = info.mtime_ns
        return info.size, "" if nanoseconds is None else f"mtime:{nanoseconds // 10**9}.{nanoseconds % 10**9:09}"

    def facts(self, key: str) -> Facts:
        info = self.files.get_file_info(self.path(key))
        if not info.is_file:
            raise FileNotFoundError(2, "No such file", self.path(key))
        return self._facts_of(info)

    def read(self, key: str, start: int, end: int, wanted: str | None) -> "tuple[int, str, ReadableBuffer]":
        before = self.facts(key) if wanted is None else None
        if before is not None and start >= before[0]:
            raise Empty
        with self.files.open_input_file(self.path(key)) as file:
            data = file.read_at(max(0, min(end, file.size()) - start), start)
        after = self.facts(key)
        _compared(key, before or (after[0], wanted or ""), after)
        return (*after, data)

    def list(self, prefix: str) -> Iterator[tuple[str, int, str]]:
        fs: Any = importlib.import_module("pyarrow.fs")
        selector = fs.FileSelector(self.path(prefix), recursive=True, allow_not_found=True)
        for info in self.files.get_file_info(selector):
            if info.is_file:
                yield (info.path.lstrip("/") if self.root else info.path, *self._facts_of(info))

    def write(self, key: str, chunks: Iterable[bytes]) -> None:
        path = self.path(key)
        folder, _, name = path.rpartition("/")
        if self.root:
            self.files.create_dir(folder, recursive=True)
        # A stream of Arrow's is a file when it is closed, also after an error.
        hidden = f"{folder}/.{name}.{uuid4().hex}" if folder else f".{name}.{uuid4().hex}"
        try:
            with self.files.open_output_stream(hidden) as file:
                for chunk in chunks:
                    file.write(chunk)
            self.files.move(hidden, path)
        except BaseException:
            if self.files.get_file_info(hidden).is_file:
                self.files.delete_file(hidden)
            raise


__all__ = ["Adapter", "Empty", "adapter_of", "use_store"]
