"""File objects whose bytes are verified when they are read."""

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mksum._mksum import Root, VerifiedBytes

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from mksum.types import AnyPath, Format

__all__ = ["VerifiedFile", "open"]

_PEEK = 8192


class VerifiedFile(io.BufferedIOBase):
    """A binary file that is read and sought in, and yields no byte that was not verified against its root. Made by `mksum.open`.

    A read hashes each unit of the file that it has a byte of. Verified units are kept in up to 32 MiB of memory, so small reads
    in one unit hash it once. Reads in order have the units after them verified ahead, on all cores.

    One position is for one thread; `read_at` has none, and is for any number of threads at once.

    Reads raise, and then yield nothing, and the position stays:
        DamagedError: A unit is damaged, and no replica has it: `offset` and `ranges` say where, `expected` and `found` are its
            digests in hex.
        OutboardError: The digests above a unit do not lead up to the root.
        ChangedError, FetchError, FileError: The file changed, or cannot be read.
    """

    def __init__(self, verified: VerifiedBytes) -> None:
        self._verified: VerifiedBytes | None = verified

    def _open(self) -> VerifiedBytes:
        if self._verified is None:
            raise ValueError("I/O operation on closed file")
        return self._verified

    @property
    def name(self) -> str:
        """The path or URL of the file."""
        return self._open().name

    @property
    def mode(self) -> str:
        """`rb`, as of files that `open` opens."""
        return "rb"

    @property
    def size(self) -> int:
        """The length of the file in bytes."""
        return self._open().size

    @property
    def root(self) -> Root:
        """The root that every byte is verified against."""
        return self._open().root

    @property
    def unit(self) -> int:
        """The length of the units that are verified at once, in bytes: a read of one byte reads and hashes so many."""
        return self._open().unit

    @property
    def replaced(self) -> int:
        """The bytes that came from replicas so far, because the file's own were damaged or could not be read."""
        return self._open().replaced

    def __len__(self) -> int:
        """Returns `size`."""
        return self.size

    def __bool__(self) -> bool:
        """Returns True, also of an empty file."""
        return True

    def readable(self) -> bool:
        """Returns True, of an open file."""
        self._open()
        return True

    def seekable(self) -> bool:
        """Returns True, of an open file."""
        self._open()
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Returns the next `size` bytes, fewer only at the end of the file; all that are left, if it is negative or None."""
        return self._open().read(None if size is None or size < 0 else size)

    def read1(self, size: int = -1, /) -> bytes:
        """Returns at most `size` bytes; up to one unit, if it is negative."""
        return self._open().read(self.unit if size < 0 else size)

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fills a contiguous buffer of any item type with the next bytes.

        The bytes are verified where they lie: no other thread may use a buffer of 1 MiB or more before the call returns. An error
        leaves a shorter buffer as it was; a longer one may have verified bytes, or zeros, in the place of what it had.

        Returns:
            The number of bytes: fewer than the buffer has only at the end of the file.
        """
        return self._open().readinto(buffer)

    def readinto1(self, buffer: "WriteableBuffer", /) -> int:
        """As `readinto`."""
        return self.readinto(buffer)

    def read_at(self, offset: int, size: int) -> bytes:
        """Returns `size` bytes from `offset` on, fewer only at the end of the file. The position stays as it is.

        Any number of threads may call it at once.
        """
        return self._open().read_at(offset, size)

    def map(self, offset: int = 0, length: int | None = None) -> memoryview:
        """Returns a range of the file as read-only memory: a buffer for `numpy.frombuffer`, `pyarrow.py_buffer` and the like.

        All units of the range are read and verified now, on all cores. The memory is this verified copy, and no page of the file:
        a later change of the file is not seen in it, and it is there until nothing uses it any more, even after `close`.
        It begins as far from the start of a page as `offset` does, as in a mapped file. The position stays as it is.

        Any number of threads may call it at once.

        Args:
            offset: The first byte of the range.
            length: The bytes of the range: all up to the end of the file, if None.

        Raises:
            ValueError: The range is not within the file.
            MemoryError: The range does not fit into memory.
            DamagedError, OutboardError, ChangedError, FetchError, FileError: As for reads; there is no memory then.
        """
        return self._open().map(offset, length)

    def peek(self, size: int = 0, /) -> bytes:
        """Returns some of the next bytes without advancing the position: empty only at the end of the file."""
        return self._open().peek(max(size, _PEEK))

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Moves the position to `offset` bytes from the start (0), the position (1) or the end (2). Returns the new one."""
        return self._open().seek(offset, whence)

    def tell(self) -> int:
        """Returns the position in bytes."""
        return self._open().tell()

    def close(self) -> None:
        """Closes the file. Closing it again does nothing."""
        self._verified = None
        super().close()


def open(
    path: "AnyPath",
    *,
    root: Root | str | None,
    fmt: str | None = None,
    length: int | None = None,
    outboard: "AnyPath | None" = None,
    foreign: "Format | None" = None,
    replicas: "AnyPath | Iterable[AnyPath]" = (),
    repair: bool = False,
    threads: int | None = None,
) -> VerifiedFile:
    """Opens a file or object that yields only bytes that were verified against a trusted root.

    It opens the file and its tree (`Outboard.keep` writes one), and reads the header of the tree. Each read then costs the units
    that it has a byte of, and the O(log n) digests of the tree that lead from them up to the root. The tree need not be trusted.

    A file that gets another length, or another file in its place, while it is open is an error: `ChangedError`.

    Args:
        path: The file, or the URL of an object.
        root: The trusted root, as for `get`. None trusts the root that the tree has: that shows damage, but not a tree that was
            replaced.
        fmt: The format of a text that names none. If None, its length decides.
        length: The file's length in bytes, if it is trusted, too. A `Root` has it.
        outboard: The path or URL of the tree: as for `Outboard.keep`, if None.
        foreign: The format of the tree, if another program keeps it: `blake3` (Bao), `fsverity`, `dmverity:…`; or `obao4` (iroh).
        replicas: The path or URL of a copy, or several, which are asked in this order for units that are damaged or cannot be
            read. They need not be trusted.
        repair: Whether what came from a replica is also written into the file, which must be one of this machine.
        threads: The most threads that read and hash: as many as the process may use, if None.

    Raises:
        NotFoundError: There is no file, or no tree.
        FormatError: `root` is not a root.
        RefusedError: The tree has another root, or the file another length.
        OutboardError: It is not a tree, or a damaged one.
        FileError: The file cannot be opened.
    """
    return VerifiedFile(VerifiedBytes.open(path, root, fmt, length, outboard, foreign, replicas, repair, threads))
