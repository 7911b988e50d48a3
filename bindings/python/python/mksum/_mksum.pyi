"""The types of the extension module. Its docstrings have shapes, units, ranges and errors."""

import builtins
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar, final, overload

from _typeshed import ReadableBuffer

from mksum.errors import MksumError
from mksum.types import (
    AnyPath,
    CatalogueRow,
    DirectoryDownload,
    Download,
    Entry,
    EntryState,
    Format,
    FormatRow,
    Formats,
    HashedPart,
    ImportedList,
    Input,
    Part,
    Place,
    Progress,
    Readable,
    Repaired,
    Verified,
)

__all__ = [
    "Catalogue",
    "Contents",
    "DirectoryRoot",
    "Files",
    "Frontier",
    "Hasher",
    "Objects",
    "Outboard",
    "Ranges",
    "Records",
    "Root",
    "Spec",
    "Stop",
    "__version__",
    "blake2b",
    "blake2s",
    "blake3",
    "blake3_pairs",
    "btv2",
    "check_consistency",
    "check_entry",
    "check_proof",
    "directory_root",
    "dmverity",
    "dropbox",
    "file_root",
    "formats",
    "fsverity",
    "get",
    "get_directory",
    "get_objects",
    "glacier",
    "hash_files",
    "is_intact",
    "join",
    "list_objects",
    "map_range",
    "map_ranges",
    "md5",
    "new",
    "plain",
    "plan",
    "prove",
    "prove_consistency",
    "prove_entry",
    "put_object",
    "rfc6962",
    "ripemd160",
    "root",
    "s3",
    "sha1",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha512_256",
    "sm3",
    "xet",
]

__version__: str

_Path = TypeVar("_Path", bound=AnyPath)
_Result_co = TypeVar("_Result_co", covariant=True)

@final
class Spec:
    def __new__(cls, text: str) -> Spec: ...
    @property
    def name(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def leaf(self) -> int | None: ...
    @property
    def salt(self) -> bytes: ...
    @property
    def digest_size(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    @property
    def streams(self) -> bool: ...
    @property
    def tag(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Spec], tuple[str]]: ...

@final
class Root:
    def __new__(cls, format: Format, text: str, length: int) -> Root: ...
    @property
    def text(self) -> str: ...
    @property
    def bytes(self) -> builtins.bytes: ...
    @property
    def format(self) -> str: ...
    @property
    def length(self) -> int: ...
    def __bytes__(self) -> builtins.bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Root], tuple[str, str, int]]: ...

@final
class DirectoryRoot:
    def __new__(cls, format: str, text: str, entries: int | None = None) -> DirectoryRoot: ...
    @property
    def text(self) -> str: ...
    @property
    def bytes(self) -> builtins.bytes: ...
    @property
    def format(self) -> str: ...
    @property
    def entries(self) -> int | None: ...
    def __bytes__(self) -> builtins.bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[DirectoryRoot], tuple[str, str, int | None]]: ...

@final
class Hasher:
    @property
    def name(self) -> str: ...
    @property
    def digest_size(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    def update(self, data: ReadableBuffer, /) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...
    def copy(self) -> Hasher: ...
    def __copy__(self) -> Hasher: ...

@final
class Frontier:
    def __new__(cls, fmt: Format = "rfc6962") -> Frontier: ...
    @property
    def position(self) -> int: ...
    @property
    def format(self) -> str: ...
    def update(self, data: ReadableBuffer, /) -> None: ...
    def root(self) -> Root: ...
    def copy(self) -> Frontier: ...
    def __copy__(self) -> Frontier: ...

@final
class Stop:
    def __new__(cls) -> Stop: ...
    @property
    def stopped(self) -> bool: ...
    def stop(self) -> None: ...

@final
class Files(Iterator[_Result_co]):
    def __iter__(self) -> Files[_Result_co]: ...
    def __next__(self) -> _Result_co: ...

@final
class Contents(Iterator[bytes]):
    def __iter__(self) -> Contents: ...
    def __next__(self) -> bytes: ...

@final
class Objects(Iterator[Input]):
    def __iter__(self) -> Objects: ...
    def __next__(self) -> Input: ...

@final
class Ranges(Iterator[tuple[Part, HashedPart | MksumError]]):
    def __iter__(self) -> Ranges: ...
    def __next__(self) -> tuple[Part, HashedPart | MksumError]: ...

@final
class Records(Iterator[_Result_co]):
    def __iter__(self) -> Records[_Result_co]: ...
    def __next__(self) -> _Result_co: ...

@final
class Catalogue:
    @staticmethod
    def keep(
        directory: AnyPath,
        fmts: Format | Formats | None = None,
        *,
        catalogue: AnyPath | None = None,
        threads: int | None = None,
        on_progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> Catalogue: ...
    @staticmethod
    def create(directory: AnyPath, *, catalogue: AnyPath | None = None, stop: Stop | None = None) -> Catalogue: ...
    @staticmethod
    def open(path: AnyPath, *, catalogue: AnyPath | None = None) -> Catalogue: ...
    @property
    def directory(self) -> str | None: ...
    @property
    def path(self) -> str: ...
    @property
    def formats(self) -> list[str]: ...
    def status(self, *, stop: Stop | None = None) -> Records[EntryState]: ...
    def update(
        self, *, threads: int | None = None, on_progress: Progress | None = None, stop: Stop | None = None
    ) -> list[EntryState]: ...
    def verify(
        self,
        *,
        budget: float | None = None,
        sample: float | None = None,
        threads: int | None = None,
        on_progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> Verified: ...
    def repair(
        self,
        source: AnyPath,
        *,
        threads: int | None = None,
        on_progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> list[EntryState]: ...
    def import_list(self, source: AnyPath, fmt: Format | None = None, *, stop: Stop | None = None) -> ImportedList: ...
    def export(
        self,
        to: Literal["sums", "bagit"] = "sums",
        fmts: Format | Formats | None = None,
        *,
        stop: Stop | None = None,
    ) -> Records[bytes]: ...
    def diff(self, other: Catalogue | AnyPath, *, stop: Stop | None = None) -> Records[EntryState]: ...
    def rows(self, *, stop: Stop | None = None) -> Records[CatalogueRow]: ...
    def __iter__(self) -> Records[CatalogueRow]: ...

@final
class Outboard:
    @staticmethod
    def keep(
        path: AnyPath,
        fmt: Format = "rfc6962",
        *,
        outboard: AnyPath | None = None,
        unit: int | None = None,
        accept_changes: bool = False,
        threads: int | None = None,
        on_progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> Outboard: ...
    @staticmethod
    def open(path: AnyPath, *, outboard: AnyPath | None = None) -> Outboard: ...
    @property
    def path(self) -> str: ...
    @property
    def outboard(self) -> str: ...
    @property
    def root(self) -> Root: ...
    @property
    def format(self) -> str: ...
    @property
    def length(self) -> int: ...
    @property
    def unit(self) -> int: ...
    def is_unchanged(self) -> bool: ...
    def verify(
        self,
        start: int = 0,
        end: int | None = None,
        *,
        threads: int | None = None,
        on_progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> None: ...
    def damaged(
        self,
        start: int = 0,
        end: int | None = None,
        *,
        threads: int | None = None,
        on_progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> list[Place]: ...
    def repair(
        self,
        source: AnyPath,
        *,
        threads: int | None = None,
        on_progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> Repaired: ...
    def prove(self, start: int, end: int) -> bytes: ...
    def prove_consistency(self, old: int) -> bytes: ...
    def diff(self, other: Outboard) -> list[tuple[int, int]]: ...

def new(name: Format, data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def md5(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def sha1(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def sha224(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def sha256(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def sha384(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def sha512(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def sha512_256(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def sha3_224(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def sha3_256(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def sha3_384(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def sha3_512(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def blake2b(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def blake2s(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def sm3(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def ripemd160(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def rfc6962(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def plain(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def glacier(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def blake3(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def blake3_pairs(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def btv2(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def fsverity(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def dmverity(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def s3(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def dropbox(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
def xet(data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...
@overload
def root(data: ReadableBuffer, fmt: Format = "rfc6962") -> Root: ...
@overload
def root(data: ReadableBuffer, fmt: Formats) -> list[Root]: ...
@overload
def file_root(
    source: AnyPath | Readable,
    fmt: Format = "rfc6962",
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
    stop: Stop | None = None,
) -> Root: ...
@overload
def file_root(
    source: AnyPath | Readable,
    fmt: Formats,
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
    stop: Stop | None = None,
) -> list[Root]: ...
@overload
def directory_root(
    path: AnyPath,
    fmt: str = "dir",
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
    stop: Stop | None = None,
) -> DirectoryRoot: ...
@overload
def directory_root(
    path: AnyPath,
    fmt: list[str] | tuple[str, ...],
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
    stop: Stop | None = None,
) -> list[DirectoryRoot]: ...
@overload
def hash_files(
    paths: Iterable[_Path],
    fmts: Format = "rfc6962",
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
    stop: Stop | None = None,
) -> Files[tuple[_Path, Root | Exception]]: ...
@overload
def hash_files(
    paths: Iterable[_Path],
    fmts: Formats,
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
    stop: Stop | None = None,
) -> Files[tuple[_Path, list[Root] | Exception]]: ...
def formats() -> list[FormatRow]: ...
def list_objects(url: AnyPath) -> Objects: ...
def get(
    urls: AnyPath | Iterable[AnyPath],
    root: Root | str,
    path: AnyPath,
    *,
    fmt: str | None = None,
    outboards: AnyPath | Iterable[AnyPath] | None = None,
    seeds: Iterable[AnyPath] | None = None,
    length: int | None = None,
    connections: int = 8,
    on_progress: Progress | None = None,
    stop: Stop | None = None,
) -> Download: ...
def get_directory(
    urls: AnyPath | Iterable[AnyPath],
    root: DirectoryRoot | str,
    path: AnyPath,
    *,
    catalogues: AnyPath | Iterable[AnyPath] | None = None,
    connections: int = 8,
    on_progress: Progress | None = None,
    stop: Stop | None = None,
) -> DirectoryDownload: ...
def get_objects(urls: Iterable[AnyPath]) -> Contents: ...
def put_object(url: AnyPath, data: ReadableBuffer) -> None: ...
def plan(
    source: AnyPath | int,
    fmt: Format = "rfc6962",
    *,
    part: int = 67108864,
    size: int | None = None,
    version: str | None = None,
) -> list[Part]: ...
def map_range(
    row: Part,
    data: ReadableBuffer | None = None,
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
    stop: Stop | None = None,
) -> HashedPart: ...
def map_ranges(
    rows: Iterable[Part],
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
    stop: Stop | None = None,
) -> Ranges: ...
def join(rows: Iterable[HashedPart]) -> Root: ...
def is_intact(row: Mapping[str, Any]) -> bool: ...
def prove(data: ReadableBuffer, start: int, end: int, fmt: Format = "rfc6962") -> bytes: ...
def prove_consistency(data: ReadableBuffer, old: int, fmt: Format = "rfc6962") -> bytes: ...
def check_proof(proof: ReadableBuffer, root: Root, data: ReadableBuffer) -> tuple[int, int]: ...
def prove_entry(
    directory: AnyPath,
    path: AnyPath,
    fmt: str = "dir",
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
    stop: Stop | None = None,
) -> bytes: ...
def check_entry(proof: ReadableBuffer, root: DirectoryRoot) -> Entry: ...
def check_consistency(proof: ReadableBuffer, old: Root, new: Root) -> None: ...
