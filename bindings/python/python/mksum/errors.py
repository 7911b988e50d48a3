"""The errors of mksum: each is a `MksumError`, and a `ValueError` or an `OSError` as well."""


class MksumError(Exception):
    """Something that has no digest, or is not what it was said to be.

    A function that raises has no result: there is no digest after an error.

    Attributes:
        path: The file that it is about, or None.
        offset: The byte of the file or of the text at which it happened, or None.
        expected: What was expected there, or None.
        found: What was found there, or None.
    """

    path: str | None = None
    offset: int | None = None
    expected: object = None
    found: object = None


class FormatError(MksumError, ValueError):
    """A text names no format, or the format does not allow a hash, a leaf length or a salt."""


class LengthError(MksumError, ValueError):
    """The format has no root for an input of this length, or needs the length before the first byte.

    `found` is the length in bytes, `expected` says which lengths have a root.
    """


class RowError(MksumError, ValueError):
    """Rows of `plan`, `map_range` and `join` that are not one tree: missing, overlapping or wrong."""


class ProofError(MksumError, ValueError):
    """Bytes that are not a proof, a proof that is not valid, or a claim that cannot be proven."""


class OutboardError(MksumError, ValueError):
    """A file that is not an outboard, or an outboard that is damaged, unfinished or of another format."""


class CatalogueError(MksumError, ValueError):
    """A file that is not a catalogue, or a catalogue that is damaged, locked, or does not fit its directory."""


class LogError(MksumError, ValueError):
    """A file of a log is missing, or differs from the signed tree. `path` is its name within the log."""


class ContradictionError(LogError):
    """A log contradicts what it signed before: it shows an older tree (a rollback), or another one (a fork).

    `expected` is the number of entries that were seen before, and `found` the number that is shown now. Both signed checkpoints
    are in the folder `path`.
    """


class RefusedError(MksumError, ValueError):
    """Nothing was done, because it makes no sense for this file or would lose something."""


class FileError(MksumError, OSError):
    """The system could not open, read or write a file. `errno`, `strerror` and `filename` are set as in any `OSError`."""


class NotFoundError(FileError, FileNotFoundError):
    """There is no such file."""


class DeniedError(FileError, PermissionError):
    """The process may not open the file."""


class DirectoryError(FileError, IsADirectoryError):
    """The file is a directory, which has no bytes."""


class ChangedError(FileError):
    """The file was changed while it was read, so it has no root. Try again when nothing writes to it."""


class StoppedError(MksumError):
    """The work was ended early with a `Stop`, so there is no root."""


class FetchError(FileError):
    """A replica did not send the bytes that were asked for, from byte `offset` on."""


class DamagedError(FileError):
    """The file is damaged: it has the size, mtime and inode in its outboard, but other bytes.

    Attributes:
        ranges: The damaged ranges as pairs (start, end), in bytes; empty if they are not known.
    """

    ranges: list[tuple[int, int]]


__all__ = [
    "CatalogueError",
    "ChangedError",
    "ContradictionError",
    "DamagedError",
    "DeniedError",
    "DirectoryError",
    "FetchError",
    "FileError",
    "FormatError",
    "LengthError",
    "LogError",
    "MksumError",
    "NotFoundError",
    "OutboardError",
    "ProofError",
    "RefusedError",
    "RowError",
    "StoppedError",
]
