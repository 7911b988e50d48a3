"""What several tests share."""

import pathlib

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


def pattern(name: str, length: int) -> bytes:
    """The input of a row of vectors: see vectors/README.md."""
    if name == "mod251":
        return (bytes(range(251)) * (length // 251 + 1))[:length]
    if name == "pat":
        return bytes((i * 131 + i // 256 * 17) % 256 for i in range(length))
    if name == "noise":
        state, data = 0, bytearray()
        for _ in range(length):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            data.append(state >> 56)
        return bytes(data)
    raise ValueError(f"unknown input {name}")


def noise(length: int, seed: int = 0) -> bytes:
    """Bytes without a pattern, the same in every run."""
    import random

    return random.Random(seed).randbytes(length)


@pytest.fixture
def big(tmp_path: pathlib.Path) -> pathlib.Path:
    """A file of 5 MB and a few bytes."""
    path = tmp_path / "big"
    path.write_bytes(noise(5_000_017))
    return path
