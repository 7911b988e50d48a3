"""The awaitable twins."""

import asyncio
import os
import pathlib
import threading
import time

import mksum
import pytest
from conftest import noise
from mksum import aio
from tqdm import tqdm


def test_twins_give_what_their_twins_give(big: pathlib.Path) -> None:
    data = big.read_bytes()

    async def all_of_them() -> None:
        told: list[int] = []
        loop_thread = threading.get_ident()

        def tell(count: int) -> None:
            assert threading.get_ident() == loop_thread
            told.append(count)

        assert await aio.root(data, "blake3") == mksum.root(data, "blake3")
        assert await aio.file_root(big, ["blake3", "sha256"], on_progress=tell) == mksum.root(data, ["blake3", "sha256"])
        assert sum(told) == len(data)
        found = [pair async for pair in aio.hash_files([big] * 500, "blake3")]
        assert found == [(big, mksum.root(data, "blake3"))] * 500
        tree = await aio.keep(big, "blake3")
        await aio.verify(tree)
        copy = big.with_name("copy")
        copy.write_bytes(data)
        times = os.stat(big)
        with open(big, "r+b") as file:
            file.write(b"damage")
        os.utime(big, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert len(await aio.damaged(tree)) == 1
        with pytest.raises(mksum.DamagedError):
            await aio.verify(tree)
        assert (await aio.repair(tree, copy))["whole"]
        rows = mksum.plan(big, "blake3", part=1_000_000)
        assert mksum.join(await asyncio.gather(*map(aio.map_range, rows))) == tree.root
        with pytest.raises(mksum.NotFoundError):
            await aio.file_root(big.with_name("missing"))

    asyncio.run(all_of_them())


def test_the_loop_goes_on_and_cancelling_stops_the_work(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "long"
    with open(path, "wb") as file:
        file.truncate(40 << 30)

    async def all_files() -> None:
        async for _ in aio.hash_files([path] * 3, "sha3-512"):
            pass

    async def cancelled(work) -> None:
        task = asyncio.create_task(work)
        # However busy the machine is, the loop turns while the work goes on.
        for _ in range(30):
            await asyncio.sleep(0.001)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    def threads() -> int:
        return len(os.listdir("/proc/self/task"))

    for work in [lambda: aio.file_root(path, "sha3-512"), all_files]:
        before = threads()
        begin = time.monotonic()
        # asyncio.run waits for the threads of to_thread.
        asyncio.run(cancelled(work()))
        # The whole would take a minute.
        assert time.monotonic() - begin < 30
        end = time.monotonic() + 30
        while threads() > before and time.monotonic() < end:
            time.sleep(0.01)
        assert threads() <= before


def test_progress_is_tqdms(big: pathlib.Path) -> None:
    with open(os.devnull, "w") as null, tqdm(total=big.stat().st_size, unit="B", file=null) as bar:
        mksum.file_root(big, on_progress=bar.update)
        assert bar.n == bar.total
    assert mksum.root(noise(10)) == asyncio.run(aio.root(noise(10)))


def test_files_are_read_verified(big: pathlib.Path) -> None:
    data = big.read_bytes()
    tree = mksum.Outboard.keep(big, "rfc6962:sha256:64KiB", unit=65536)

    async def read() -> None:
        async with aio.open(big, root=tree.root) as file:
            assert (file.name, file.size, file.root, file.unit) == (str(big), len(data), tree.root, 65536)
            assert (await file.read(10), file.tell()) == (data[:10], 10)
            several = await asyncio.gather(*(file.read_at(at, 100_000) for at in range(0, len(data), 100_000)))
            assert b"".join(several) == data
            maps = await asyncio.gather(file.map(), file.map(7, 100_000))
            assert (maps[0] == data, maps[1] == data[7:100_007], maps[0].readonly) == (True, True, True)
            buffer = bytearray(1000)
            assert (await file.readinto(buffer), bytes(buffer)) == (1000, data[10:1010])
            assert file.seek(-7, os.SEEK_END) == len(data) - 7
            assert (await file.read(), await file.read(), await file.read(5)) == (data[-7:], b"", b"")
            file.seek(0)
            assert b"".join([chunk async for chunk in file]) == data
        assert file.closed
        with pytest.raises(ValueError, match="closed"):
            await file.read(1)
        with open(big, "r+b") as damaged:
            damaged.seek(100_000)
            damaged.write(b"damage")
        file = await aio.open(big, root=tree.root)
        file.seek(99_990)
        with pytest.raises(mksum.DamagedError):
            await file.read(100)
        assert (file.tell(), await file.read_at(0, 5)) == (99_990, data[:5])
        await file.close()
        with pytest.raises(mksum.NotFoundError):
            await aio.open(big.with_name("none"), root=tree.root)

    asyncio.run(read())
