"""DVC: a file system that hashes by itself.

Before DVC reads a file to hash it, it looks for a method of the file system that is named like the hash
(`dvc_data.hashfile.hash`), and takes what it returns.
"""

from typing import Any

import mksum
from dvc_objects.fs.local import LocalFileSystem


class MksumFileSystem(LocalFileSystem):
    """DVC's local files, hashed by mksum. BLAKE3 uses all cores; MD5 and SHA-256 one core each."""

    def md5(self, path: Any) -> str:
        """Returns the MD5 digest in hex: what DVC's caches are named by."""
        return mksum.file_root(path, "md5").text

    def sha256(self, path: Any) -> str:
        """Returns the SHA-256 digest in hex."""
        return mksum.file_root(path, "sha256").text

    def blake3(self, path: Any) -> str:
        """Returns the BLAKE3 digest in hex."""
        return mksum.file_root(path, "blake3").text
