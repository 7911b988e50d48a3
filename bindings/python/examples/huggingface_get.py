"""huggingface_hub: the files of a repository fetched, resumed and repaired by the digests that the Hub has of them.

The Hub has SHA-256 for large files and git's SHA-1 for small ones. A file that is there is read, and fetched again only if it is
another one. `folder` may be a snapshot in huggingface_hub's cache: what its links lead to is repaired.
"""

import pathlib
from collections.abc import Iterator

import mksum
from huggingface_hub import HfApi, hf_hub_url


def git_sha1(content: bytes) -> str:
    """Returns the SHA-1 of a git blob: of `blob LENGTH`, a zero byte and the content."""
    return mksum.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def fetch(repo_id: str, folder: pathlib.Path, revision: str = "main", endpoint: str | None = None) -> Iterator[str]:
    """Fetches all files of a model into a folder. Yields the names of those that were not right already."""
    info = HfApi(endpoint=endpoint).model_info(repo_id, revision=revision, files_metadata=True)
    for file in info.siblings or []:
        name, target = file.rfilename, folder / file.rfilename
        if pathlib.PurePosixPath(name).is_absolute() or ".." in pathlib.PurePosixPath(name).parts:
            raise ValueError(f"{name}: leads out of the folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        url = hf_hub_url(repo_id, name, revision=info.sha, endpoint=endpoint)
        if file.lfs:
            if mksum.get(url, f"sha256:{file.lfs.sha256}", target, outboards=[], length=file.size)["state"] == "fetched":
                yield name
        elif not target.exists() or git_sha1(target.read_bytes()) != file.blob_id:
            [content] = mksum.get_objects([url])
            if git_sha1(content) != file.blob_id:
                raise ValueError(f"{name}: expected git's SHA-1 {file.blob_id}, found {git_sha1(content)}")
            target.write_bytes(content)
            yield name
