"""Paths and URLs as `pathlib`, Hadoop, Spark and Databricks write them: the engine passes each with a scheme to `located`."""

import os
import re
from urllib.request import url2pathname

from mksum.errors import RefusedError

STORES = ("s3", "gs", "az", "abfss", "hdfs")
"""The schemes of stores that are read, listed and written with the credentials of the environment."""
USED = "store"
"""The scheme of stores in `mksum.use_store`."""
SAME = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss"}
"""Other schemes of these stores."""
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/.*)", re.DOTALL)
"""A path with a scheme. A single letter is a drive."""


def located(path: str) -> str:
    """Returns the path or URL that mksum reads for one that others write.

    Raises:
        RefusedError: The scheme is unknown, or the URL is about another machine's file.
    """
    found = SCHEME.fullmatch(path)
    if found is None:
        return path
    scheme, rest = found[1].lower(), found[2]
    if scheme == "file":
        host, slash, below = rest.removeprefix("//").partition("/") if rest.startswith("//") else ("", "/", rest[1:])
        if host not in ("", "localhost"):
            raise RefusedError(f"{path}: a file of '{host}': mksum reads those of this machine (file:///PATH)")
        return url2pathname(f"{slash}{below}")
    if scheme == "dbfs":
        # Volumes are mounted under their own name, all else below /dbfs.
        below = rest.lstrip("/")
        return f"/{below}" if below.startswith("Volumes/") else f"/dbfs/{below}"
    scheme = SAME.get(scheme, scheme)
    is_known = scheme in (*STORES, USED, "http", "https")
    if rest.startswith("//"):
        if not is_known:
            raise RefusedError(f"{path}: {_unknown(scheme)}")
        return f"{scheme}:{rest}"
    if is_known and not os.path.lexists(path):
        raise RefusedError(f"{path}: a URL with one slash, as pathlib writes it: pass the str '{scheme}:/{rest}'")
    return path


def _unknown(scheme: str) -> str:
    known = ", ".join((*STORES, *SAME, "http", "https", "file", "dbfs"))
    words = f"mksum does not read '{scheme}': it reads {known}; "
    if scheme in ("wasb", "wasbs"):
        return f"{words}the same object is abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/KEY"
    return f"{words}pass a file system of fsspec, pyarrow or obstore to mksum.use_store, or in a cluster as files="
