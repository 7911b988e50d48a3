"""What several tests share."""

import itertools
import pathlib
from collections.abc import Iterator

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


def _noise() -> Iterator[int]:
    state = 0
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 56


# The inputs of rows of vectors (vectors/README.md): what comes next in each, and what was made of it so far.
_INPUTS: dict[str, tuple[Iterator[int], bytearray]] = {
    "mod251": (itertools.cycle(range(251)), bytearray()),
    "pat": (((i * 131 + i // 256 * 17) % 256 for i in itertools.count()), bytearray()),
    "noise": (_noise(), bytearray()),
}


def pattern(name: str, length: int) -> bytes:
    """The input of a row of vectors. Each byte is made once: shorter inputs of a name are the beginnings of longer ones."""
    more, made = _INPUTS[name]
    made += bytes(itertools.islice(more, max(0, length - len(made))))
    return bytes(made[:length])


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
