"""model-signing: a hash engine of mksum, with the same manifests and so the same signatures.

Whoever verifies needs neither mksum nor this engine: the digests are the SHA-256 or BLAKE3 that model-signing computes itself.
"""

import pathlib

import mksum
from model_signing import hashing
from model_signing._hashing import hashing as engines
from model_signing._hashing import io
from model_signing._serialization import file


class Engine(io.FileHasher):
    """Hashes a file on all cores: `sha256` or `blake3`."""

    def __init__(self, path: pathlib.Path, algorithm: str) -> None:
        self._path, self._algorithm = path, algorithm

    def compute(self) -> engines.Digest:
        """Returns the digest of the file; raises an `OSError` if it cannot be read or changes meanwhile."""
        return engines.Digest(self._algorithm, mksum.file_root(self._path, self._algorithm).bytes)

    @property
    def digest_name(self) -> str:
        """The name that goes into the manifest."""
        return self._algorithm

    @property
    def digest_size(self) -> int:
        """The size of a digest in bytes."""
        return mksum.Spec(self._algorithm).digest_size


class Config(hashing.Config):
    """A configuration for `signing.Config.set_hashing_config` and its twin in `verifying`."""

    def use_mksum(self, algorithm: str = "sha256") -> "Config":
        """Hashes each file with mksum, one after the other: each has all cores."""
        self._serializer = file.Serializer(lambda path: Engine(path, algorithm), max_workers=1)
        return self
