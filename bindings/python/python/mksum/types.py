"""The types of arguments; and of rows: dicts of plain values, which can be pickled, written as JSON and sent anywhere."""

import os
from typing import TYPE_CHECKING, NotRequired, Protocol, TypeAlias, TypedDict

from mksum._mksum import Spec

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Format: TypeAlias = str | Spec
"""A format: its text or a `Spec`."""
Formats: TypeAlias = list[str] | list[Spec] | list[str | Spec] | tuple[str | Spec, ...]
"""Several formats: any iterable at run time, but not one `str`, which would be an iterable too."""
AnyPath: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
"""A path as the functions of `os` take it."""


class Readable(Protocol):
    """A file object: at its end, `read` returns no bytes."""

    def read(self, size: int, /) -> "ReadableBuffer":
        """Returns at most `size` bytes, and none only at the end."""
        ...


class Progress(Protocol):
    """Whatever can be called with a number of bytes since the last call, as `tqdm.update`."""

    def __call__(self, count: int, /) -> object: ...


class Input(TypedDict):
    """An input that is to be hashed: a row of a listing."""

    path: str
    """The path of the file or the URL of the object."""
    size: int
    """Its length in bytes."""
    version: str
    """Of an object the ETag without quotes; see `spec/plan.md`."""


class Part(TypedDict):
    """A part of a tree, from `plan`: a row of a plan (`spec/plan.md`). Offsets and lengths are in bytes."""

    kind: str
    """`range`."""
    schema: int
    """1."""
    path: str
    """The path of the file or the URL of the object; empty if only the length was planned."""
    path_base64: NotRequired[str]
    """The path's bytes in base64, if they are not UTF-8."""
    version: str
    """The version of the input."""
    size: int
    """The length of the whole input."""
    format: str
    """The canonical text of the format."""
    offset: int
    """The first byte of the part."""
    length: int
    """The number of its bytes."""
    level: int
    """The levels above its leaves; 0 for a leaf."""


class HashedPart(Part):
    """A part with its digest, from `map_range`: a row of a ledger. Its `kind` is `digest`."""

    digest: str
    """The digest in lower-case hex."""
    crc32: str
    """The check of the row: the CRC-32 of its other fields in lower-case hex (`spec/plan.md`)."""
    unit: NotRequired[int]
    """If it was planned for an outboard: the longest that a kept subtree is."""
    units: NotRequired[str]
    """The digests of the kept subtrees in the part, in base64."""


class Entry(TypedDict):
    """An entry that is proven to be in a directory, from `check_entry`."""

    path: str
    """Its path below the directory, with slashes between names, as `os.fsdecode` has it."""
    type: str
    """`file`, `directory` or `link`."""
    index: int
    """Its place among all entries, from 0."""
    entries: int
    """The number of entries."""
    length: NotRequired[int]
    """Of a file: its length in bytes."""
    file_root: NotRequired[str]
    """Of a file: its root, as text."""
    link: NotRequired[str]
    """Of a link: its text."""
    mode: NotRequired[int]
    """The lower 12 bits of the mode, if the format has them."""
    mtime_ns: NotRequired[int]
    """The time of the last change in nanoseconds since 1970, if the format has it."""


class CatalogueRow(TypedDict):
    """An entry of a catalogue, from `Catalogue.rows`: the fields of `mksum export --to json` (`spec/json.md`), and three more."""

    path: str
    """Its path below the directory, with slashes between names, as `os.fsdecode` has it."""
    kind: str
    """`entry`."""
    type: str
    """`file`, `directory` or `link`."""
    mtime_ns: int
    """The time of the last change, in nanoseconds since 1970."""
    length: NotRequired[int]
    """Of a file: its length in bytes."""
    roots: NotRequired[dict[str, str]]
    """Of a file: its roots as texts, by their formats."""
    verified: NotRequired[int | None]
    """Of a file: the time at which its content was last found to have these roots, in seconds since 1970; None without roots."""
    link: NotRequired[str]
    """Of a link: its text."""


_From = TypedDict("_From", {"from": str}, total=False)


class EntryState(_From):
    """How an entry differs from its row in a catalogue, or what was done with it: the fields of `spec/json.md`, and `error`.

    Of a moved entry `from` is its path before.
    """

    path: str
    """Its path below the directory, with slashes between names, as `os.fsdecode` has it. That of a directory which cannot be
    listed ends in a slash."""
    kind: str
    """`entry`."""
    state: str
    """What `Catalogue.status`, `update`, `verify`, `repair`, `import_list` and `diff` say."""
    length: NotRequired[int]
    """Of a damaged file: its length in bytes."""
    ranges: NotRequired[list[tuple[int, int]]]
    """The damaged or repaired ranges `(start, end)` in bytes, half-open; empty if it is not known where the damage is."""
    fetched: NotRequired[int]
    """Of a repaired file: the number of bytes that were fetched."""
    error: NotRequired[str]
    """The reason, where there is one."""


class Verified(TypedDict):
    """The result of `Catalogue.verify`."""

    intact: int
    """The number of files that are intact, as far as they were verified."""
    verified: int
    """The number of their bytes that were read."""
    found: list[EntryState]
    """All others."""


class ImportedList(TypedDict):
    """The result of `Catalogue.import_list`."""

    imported: int
    """The number of files with new roots."""
    known: int
    """The number of files of which the catalogue had all roots."""
    unused: int
    """The number of lines that are malformed or not about a whole file."""
    found: list[EntryState]
    """All other files of the list: nothing was taken of them, and `error` has the reason."""


class Mirror(TypedDict):
    """What became of a mirror, from `get`."""

    mirror: str
    """Its path or URL, without secrets."""
    bytes: int
    """The number of bytes that came from it."""
    bad: list[tuple[int, int]]
    """The ranges `(start, end)` of it that were wrong, in bytes, half-open."""
    error: NotRequired[str]
    """Why it was given up, or its last error."""


class Download(TypedDict):
    """The result of `get`: the fields of `mksum get --json` (`spec/json.md`)."""

    path: str
    """The file."""
    state: str
    """`fetched`, or `present`: the file was right already."""
    format: str
    """The canonical text of the root's format."""
    length: int
    """The length of the file in bytes."""
    root: str
    """The root as text."""
    outboard: NotRequired[str]
    """The place of the outboard that was used."""
    fetched: int
    """The number of bytes of the file that came from mirrors, right and wrong ones."""
    resumed: int
    """The number of bytes that an interrupted call had left."""
    seeded: int
    """The number of bytes from the file that was there, and from `seeds`."""
    mirrors: list[Mirror]
    """What became of each mirror."""


class DirectoryDownload(TypedDict):
    """The result of `get_directory`."""

    path: str
    """The directory."""
    format: str
    """The canonical text of the root's format."""
    root: str
    """The root as text."""
    entries: int
    """The number of entries that the root covers."""
    files: list[Download]
    """Each file, by path."""
    extra: list[str]
    """The paths below the directory of what is only here, and was left alone."""


class LeafRule(TypedDict):
    """The leaf lengths that a format allows, in bytes."""

    default: int
    min: int
    max: int
    power_of_two: bool


class FormatRow(TypedDict):
    """A row of `formats`: the fields of `mksum formats --json` (`spec/json.md`)."""

    name: str
    about: str
    same_as: str
    met_in: str
    default: str
    hashes: list[str]
    leaf: LeafRule
    salt_bytes_max: int
    streams: bool


class Place(TypedDict):
    """A difference between a file and its tree, in bytes `start..end` of the file."""

    kind: str
    """`damaged`, `missing`, `grown`, `unreadable`, or `outboard` for a damaged digest of the tree."""
    start: int
    end: int


class Repaired(TypedDict):
    """The result of `Outboard.repair`."""

    whole: bool
    """Whether the file has the root of its tree now."""
    repaired: list[tuple[int, int]]
    failed: list[tuple[int, int]]
    written: int
    fetched: int
    resumed: bool


__all__ = [
    "AnyPath",
    "CatalogueRow",
    "Entry",
    "EntryState",
    "Format",
    "FormatRow",
    "Formats",
    "HashedPart",
    "ImportedList",
    "Input",
    "LeafRule",
    "Part",
    "Place",
    "Progress",
    "Readable",
    "Repaired",
    "Verified",
]
