"""The recipes in examples/, against the released packages that they are for."""

import asyncio
import hashlib
import http.server
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import threading
import urllib.parse
import zipfile
from types import SimpleNamespace

import mksum
import pytest
from conftest import noise

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples"))


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "folder"
    for index, name in enumerate(["a", "b/c", "b/with space ü", "empty"]):
        path = folder / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(noise(index % 3 * 700_000, index))
    return folder


@pytest.mark.parametrize("algorithm", ["sha256", "blake3"])
def test_model_signing(folder: pathlib.Path, tmp_path: pathlib.Path, algorithm: str) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from model_signing import hashing, signing, verifying
    from model_signing_engine import Config

    theirs = hashing.Config().use_file_serialization(hashing_algorithm=algorithm)
    ours = Config().use_mksum(algorithm)
    assert ours.hash(folder) == theirs.hash(folder)
    key = ec.generate_private_key(ec.SECP256R1())
    private, public, signature = tmp_path / "private", tmp_path / "public", tmp_path / "signature"
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    public.write_bytes(key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    # Signed with one, verified with the other, both ways.
    for signer, verifier in [(ours, theirs), (theirs, ours)]:
        signing.Config().use_elliptic_key_signer(private_key=private).set_hashing_config(signer).sign(folder, signature)
        verifying.Config().use_elliptic_key_verifier(public_key=public).set_hashing_config(verifier).verify(folder, signature)
    (folder / "data" / "a").write_bytes(b"changed")
    with pytest.raises(ValueError):
        verifying.Config().use_elliptic_key_verifier(public_key=public).set_hashing_config(ours).verify(folder, signature)


def test_dvc(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dvc_data.hashfile import hash as hashing
    from dvc_filesystem import MksumFileSystem
    from dvc_objects.fs import localfs

    paths = [str(path) for path in folder.rglob("*") if path.is_file()]
    expected = {(path, name): hashing.hash_file(path, localfs, name)[1] for path in paths for name in ["md5", "sha256", "blake3"]}

    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("DVC hashed by itself")

    monkeypatch.setattr(hashing, "file_md5", refuse)
    fs = MksumFileSystem()
    for (path, name), info in expected.items():
        assert hashing.hash_file(path, fs, name)[1] == info


def test_huggingface_hub(folder: pathlib.Path) -> None:
    from huggingface_hub.utils import _verification
    from huggingface_verify import git_sha1, hashed_by_mksum

    local = _verification.collect_local_files(folder)
    remote = {}
    for index, (name, path) in enumerate(sorted(local.items())):
        content = path.read_bytes()
        lfs = SimpleNamespace(sha256=hashlib.sha256(content).hexdigest()) if index % 2 else None
        remote[name] = SimpleNamespace(lfs=lfs, blob_id=hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest())
        assert git_sha1(path) == remote[name].blob_id

    def verified() -> object:
        return _verification.verify_maps(remote_by_path=remote, local_by_path=local, revision="main", verified_path=folder)

    for wrong in [0, 2]:
        if wrong:
            for path in local.values():
                path.write_bytes(b"changed")
        alone = verified()
        with hashed_by_mksum(local.values()):
            assert verified() == alone
        assert (len(alone.mismatches) > 0) == bool(wrong)
        assert alone.checked_count == len(local)


class Hub(http.server.ThreadingHTTPServer):
    """A hub on this machine with one repository: the requests that huggingface_hub sends for a snapshot."""

    commit = "c0ffee" * 6 + "c0ff"

    def __init__(self, files: dict[str, bytes]) -> None:
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_HEAD(self) -> None:
                self.do_GET()

            def do_GET(self) -> None:
                path = urllib.parse.unquote(self.path.partition("?")[0])
                prefix = f"/me/repo/resolve/{hub.commit}/"
                if path.startswith("/api/models/me/repo"):
                    answer = hub.tree() if "/tree/" in path else {"id": "me/repo", "sha": hub.commit, "siblings": hub.siblings()}
                    return self.answer(json.dumps(answer).encode(), "application/json")
                content = files.get(path.removeprefix(prefix)) if path.startswith(prefix) else None
                return self.answer(content) if content is not None else self.send_error(404)

            def answer(self, content: bytes, kind: str = "application/octet-stream") -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.send_header("X-Repo-Commit", hub.commit)
                self.send_header("ETag", f'"{hub.digest(content)}"')
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(content)

        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.url = files, f"http://127.0.0.1:{self.server_port}"

    @staticmethod
    def digest(content: bytes) -> str:
        """The digest under which the cache has a file."""
        if len(content) > 100_000:
            return hashlib.sha256(content).hexdigest()
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

    def siblings(self) -> list[dict[str, object]]:
        """The files as the page of the repository has them."""
        rows = []
        for name, content in self.files.items():
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            lfs = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
            large = {"lfs": lfs} if len(content) > 100_000 else {}
            rows.append({"rfilename": name, "size": len(content), "blobId": blob, **large})
        return rows

    def tree(self) -> list[dict[str, object]]:
        """The same as the listing of a tree has them."""
        rows = [{"type": "file", "path": row["rfilename"], "oid": row["blobId"], **row} for row in self.siblings()]
        return [{**row, "lfs": {**row["lfs"], "oid": row["lfs"]["sha256"]}} if "lfs" in row else row for row in rows]


def test_huggingface_hub_snapshots(tmp_path: pathlib.Path) -> None:
    from huggingface_get import fetch
    from huggingface_hub import snapshot_download

    files = {"config.json": b"{}", "weights/model.bin": noise(3_000_000), "weights/other.bin": noise(200_000, 1)}
    with Hub(files) as hub:
        threading.Thread(target=hub.serve_forever).start()
        try:
            place = pathlib.Path(snapshot_download("me/repo", endpoint=hub.url, cache_dir=tmp_path / "cache"))
            assert list(fetch("me/repo", place, endpoint=hub.url)) == []
            # Damage that no length or date shows.
            damaged = bytearray(files["weights/model.bin"])
            damaged[1_000_000] ^= 1
            (place / "weights" / "model.bin").write_bytes(damaged)
            (place / "config.json").write_bytes(b"[]")
            assert list(fetch("me/repo", place, endpoint=hub.url)) == ["config.json", "weights/model.bin"]
            assert {name: (place / name).read_bytes() for name in files} == files
            assert (place / "weights" / "model.bin").is_symlink()
            # Into an empty folder, from a hub that sends something else for one file.
            hub.files = {**files, "weights/other.bin": noise(200_000, 2)}
            with pytest.raises(mksum.FetchError, match="root differs"):
                list(fetch("me/repo", tmp_path / "new", endpoint=hub.url))
            assert not (tmp_path / "new" / "weights" / "other.bin").exists()
            assert (tmp_path / "new" / "weights" / "model.bin").read_bytes() == files["weights/model.bin"]
        finally:
            hub.shutdown()


def test_models_in_the_cache_of_huggingface_hub(tmp_path: pathlib.Path) -> None:
    from huggingface_hub import scan_cache_dir, snapshot_download
    from mksum.recipes.huggingface import verify_model

    # A file of a repository may hold several: `large/` has one content twice.
    files = {"config.json": b"{}", "large/a.bin": noise(3_000_000), "large/b.bin": noise(3_000_000), "empty": b""}
    cache, local = tmp_path / "cache", tmp_path / "local"
    with Hub(files) as hub:
        threading.Thread(target=hub.serve_forever).start()
        try:
            snapshot = pathlib.Path(snapshot_download("me/repo", endpoint=hub.url, cache_dir=cache))
            snapshot_download("me/repo", endpoint=hub.url, local_dir=local)
        finally:
            hub.shutdown()
    [repository] = scan_cache_dir(cache).repos
    rows = verify_model(repository.repo_path)
    assert [(row["path"], row["size"]) for row in rows] == [(f"{hub.commit}/{name}", len(files[name])) for name in sorted(files)]
    assert {row["status"] for row in rows} == {"ok"}
    assert [row["algorithm"] for row in rows] == ["git-sha1", "git-sha1", "sha256", "sha256"]
    assert verify_model(snapshot) == rows
    assert [(row["path"], row["status"]) for row in verify_model(local)] == [(name, "ok") for name in sorted(files)]
    # Damage that no length or date shows, a blob that is gone, a file that is no link, and a link to somewhere else.
    for path in [snapshot / "large" / "a.bin", local / "config.json"]:
        blob, times = path.resolve(), path.stat()
        content = bytearray(blob.read_bytes())
        content[1] ^= 1
        blob.chmod(0o644)
        blob.write_bytes(content)
        os.utime(blob, ns=(times.st_atime_ns, times.st_mtime_ns))
    (snapshot / "config.json").resolve().unlink()
    (snapshot / "own.txt").write_bytes(b"abc")
    (snapshot / "elsewhere").symlink_to(tmp_path)
    found = {row["path"].removeprefix(f"{hub.commit}/"): row for row in verify_model(snapshot)}
    assert {name: row["status"] for name, row in found.items()} == {
        "config.json": "missing",
        "elsewhere": "unknown",
        "empty": "ok",
        "large/a.bin": "damaged",
        "large/b.bin": "damaged",
        "own.txt": "unknown",
    }
    error = str(found["large/a.bin"]["error"])
    assert f"expected the sha256 {hashlib.sha256(files['large/a.bin']).hexdigest()}, found" in error
    assert {row["path"]: row["status"] for row in verify_model(local)}["config.json"] == "damaged"
    (tmp_path / "none").mkdir()
    for wrong in [tmp_path / "none", cache, local.parent / "gone"]:
        with pytest.raises(mksum.RefusedError, match="the digest of no file is known"):
            verify_model(wrong)


def test_the_job_of_kubernetes_is_well_formed() -> None:
    import yaml

    folder = pathlib.Path(__file__).resolve().parents[1] / "examples" / "kubernetes"
    jobs = list(yaml.safe_load_all((folder / "job.yaml").read_text()))
    assert [(job["apiVersion"], job["kind"]) for job in jobs] == [("batch/v1", "Job")] * 3
    scripts = []
    for job in jobs:
        pod = job["spec"]["template"]["spec"]
        [container] = pod["containers"]
        assert (pod["restartPolicy"], container["command"]) == ("Never", ["sh", "-ec"])
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
        [script] = container["args"]
        subprocess.run(["sh", "-n", "-c", script], check=True, timeout=60)
        scripts.append(script)
    # The jobs agree on the number of tasks.
    count = jobs[1]["spec"]["completions"]
    assert jobs[1]["spec"]["completionMode"] == "Indexed"
    assert f"--tasks {count} " in scripts[0]
    assert '--task "$JOB_COMPLETION_INDEX" ' in scripts[1]
    assert f"= {count};" in scripts[2]
    assert f"0 {count - 1})" in scripts[2]
    lines = (folder / "Dockerfile").read_text().splitlines()
    assert len(lines) <= 20
    words = {line.split()[0] for line in lines if line and not line.startswith("#")}
    assert words <= {"FROM", "RUN", "COPY", "ARG", "USER", "WORKDIR", "CMD"}
    # The image has a user of its own, whose group the volume has.
    uid = next(line.split("--uid ")[1].split()[0] for line in lines if "--uid" in line)
    assert {str(job["spec"]["template"]["spec"]["securityContext"]["fsGroup"]) for job in jobs} == {uid}


def test_pip(tmp_path: pathlib.Path) -> None:
    from pip_wheelhouse import fetch, pinned

    name, info = "some_thing-1.0-py3-none-any.whl", "some_thing-1.0.dist-info"
    (served := tmp_path / "served").mkdir()
    with zipfile.ZipFile(served / name, "w") as wheel:
        wheel.writestr("some_thing.py", "answer = 42\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: some-thing\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", f"some_thing.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    content = (served / name).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    for mirror in ["good", "bad"]:
        (served / mirror / "some-thing").mkdir(parents=True)
        file = {"filename": name, "url": f"../../{mirror}-{name}", "hashes": {"sha256": digest}}
        (served / mirror / "some-thing" / "index.html").write_text(json.dumps({"meta": {"api-version": "1.0"}, "files": [file]}))
    (served / f"good-{name}").write_bytes(content)
    (served / f"bad-{name}").write_bytes(content[:-1] + b"x")
    requirements = f"Some_Thing==1.0 \\\n    --hash=sha256:{digest}\n# a comment\n"
    assert pinned(requirements) == {"some-thing": {digest}}
    handler = type("Handler", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: handler(*args, directory=served)) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            indexes = [f"http://127.0.0.1:{server.server_port}/{mirror}" for mirror in ["bad", "good"]]
            with pytest.raises(mksum.FetchError):
                list(fetch(requirements, tmp_path / "wheels", indexes[:1]))
            assert not (tmp_path / "wheels" / name).exists()
            assert list(fetch(requirements, tmp_path / "wheels", indexes)) == [name]
        finally:
            server.shutdown()
    (tmp_path / "requirements.txt").write_text(requirements)
    pip = [sys.executable, "-m", "pip", "install"]
    if importlib.util.find_spec("pip") is None:
        pip = ["uv", "pip", "install", "--python", sys.executable]
    offline = ["--quiet", "--no-index", "--find-links", "wheels", "--require-hashes", "--target", "installed"]
    subprocess.run([*pip, *offline, "-r", "requirements.txt"], cwd=tmp_path, check=True)
    assert (tmp_path / "installed" / "some_thing.py").read_text() == "answer = 42\n"


def test_pooch(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    from pooch_downloader import fetch, register

    handler = type("Handler", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: handler(*args, directory=folder)) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            register("rfc6962-64k", "rfc6962:sha256:64KiB")
            root, url = mksum.file_root(folder / "data" / "b" / "c"), f"http://127.0.0.1:{server.server_port}/data/b/c"
            path = fetch(url, root, "rfc6962-64k", tmp_path / "fetched")
            assert mksum.file_root(path) == root
            with pytest.raises(ValueError):
                fetch(url, mksum.root(b"other"), "rfc6962-64k", tmp_path / "again")
        finally:
            server.shutdown()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_bagit(folder: pathlib.Path) -> None:
    import bagit
    from bagit_manifest import make_bag

    make_bag(folder)
    bag = bagit.Bag(str(folder))
    assert bag.validate()
    assert sorted(bag.payload_files()) == ["data/a", "data/b/c", "data/b/with space ü", "data/empty"]
    (folder / "data" / "a").write_bytes(b"changed")
    with pytest.raises(bagit.BagValidationError):
        bagit.Bag(str(folder)).validate()


def test_fsspec(folder: pathlib.Path) -> None:
    import fsspec
    from fsspec_files import range_digest, tree_roots, url_root

    data = (folder / "data" / "b" / "c").read_bytes()
    memory = fsspec.filesystem("memory")
    memory.pipe("/top/one", data)
    memory.pipe("/top/below/two", b"two")
    for url in [f"file://{folder}/data/b/c", "memory://top/one"]:
        assert url_root(url) == mksum.root(data)
        rows = mksum.plan(len(data), "blake3", part=100_000)
        assert mksum.join(range_digest(url, row) for row in rows) == mksum.root(data, "blake3")
    assert list(tree_roots("memory://top")) == [
        ("/top/below/two", mksum.root(b"two", "blake3")),
        ("/top/one", mksum.root(data, "blake3")),
    ]


def test_obstore() -> None:
    import obstore
    from obstore.store import MemoryStore

    store, data = MemoryStore(), noise(3_000_000)
    obstore.put(store, "object", data)
    assert mksum.file_root(obstore.open_reader(store, "object"), ["blake3", "sha256"]) == mksum.root(data, ["blake3", "sha256"])
    rows = mksum.plan(len(data), "blake3", part=500_000)
    parts = [obstore.get_range(store, "object", start=row["offset"], length=row["length"]) for row in rows]
    assert mksum.join(map(mksum.map_range, rows, parts)) == mksum.root(data, "blake3")


def test_zarr(tmp_path: pathlib.Path) -> None:
    import numpy
    import zarr
    import zarr.storage
    from zarr_store import lines, store_root

    roots = []
    for store in [zarr.storage.MemoryStore(), zarr.storage.LocalStore(tmp_path / "store")]:
        group = zarr.create_group(store)
        array = group.create_array("numbers", shape=(1000, 1000), chunks=(100, 100), dtype="i4")
        array[:] = numpy.arange(1_000_000).reshape(1000, 1000)
        roots.append(asyncio.run(store_root(store)))
        assert asyncio.run(lines(store)).count(b"\n") > 100
    assert roots[0] == roots[1]
    array[5, 5] = 7
    assert asyncio.run(store_root(store)) != roots[0]
    assert os.path.exists(tmp_path / "store")
