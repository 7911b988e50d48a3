"""Damage to files."""
import os


def flip(path, at, hidden=False):
    """Flips a bit of the byte at an offset, from the end if it is negative. `hidden`: the file's times stay as they were."""
    times = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(at, os.SEEK_END if at < 0 else os.SEEK_SET)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))
    if hidden:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
