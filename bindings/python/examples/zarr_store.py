"""Zarr: one root for a store of many small objects.

The root is that of a text: a line `ROOT  KEY` for each object, sorted by key. The text itself says which object changed, and the
same lines come from any store with the same objects, be it a folder, an archive or a bucket.
"""

import asyncio

import mksum.aio
import zarr.abc.store
from zarr.core.buffer import default_buffer_prototype


async def lines(store: zarr.abc.store.Store, fmt: str = "blake3") -> bytes:
    """Returns a line for each object, sorted by key."""
    keys = sorted([key async for key in store.list()])

    async def line(key: str) -> str:
        found = await store.get(key, default_buffer_prototype())
        if found is None:
            raise KeyError(key)
        root = await mksum.aio.root(found.to_bytes(), fmt)
        return f"{root}  {key}\n"

    return "".join(await asyncio.gather(*map(line, keys))).encode()


async def store_root(store: zarr.abc.store.Store, fmt: str = "blake3") -> mksum.Root:
    """Returns the root of the lines of a store."""
    return mksum.root(await lines(store, fmt), fmt)
