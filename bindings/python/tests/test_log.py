"""Logs: appended, proven, checked, mirrored; and the examples that C2SP, Go and spec/log.md have."""

import functools
import http.server
import os
import pathlib
import re
import shutil
import signal
import sys
import threading

import mksum
import pytest
from conftest import REPOSITORY
from mksum import log as logs

# C2SP signed-note, "Example".
C2SP_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
C2SP_NOTE = (
    "This is an example message.\n\n— example.com/foo "
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
)
# The example of golang.org/x/mod/sumdb/note (BSD licence).
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_NOTE = (
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n— PeterNeumann "
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)


def example() -> list[str]:
    """The blocks of the worked example in spec/log.md."""
    text = (REPOSITORY / "spec/log.md").read_text(encoding="utf-8").split("## A worked example")[1]
    return re.findall(r"```\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize(("key", "text"), [(C2SP_KEY, C2SP_NOTE), (GO_KEY, GO_NOTE)])
def test_published_notes(key: str, text: str) -> None:
    note = logs.Note(text)
    assert note == logs.Note(text.encode()) and str(note) == text and bytes(note) == text.encode()
    assert text.startswith(note.text + "\n") and note.verify(key) == 0
    assert note.signatures[0][1].hex() == key.split("+")[1]
    assert note.verify(GO_KEY if key == C2SP_KEY else C2SP_KEY) is None
    with pytest.raises(mksum.ProofError, match="not valid"):
        logs.Note("x" + text).verify(key)


def test_every_changed_byte_of_a_proof_is_refused() -> None:
    keys, _, checkpoint, proof, growth, witness = example()
    key, (witness_key, cosignature) = keys.splitlines()[1], witness.splitlines()
    trusted = logs.Policy(f"log {key}\nwitness w {witness_key}\nquorum w\n")
    assert trusted.logs == [key] and trusted.witnesses == [witness_key]
    with pytest.raises(mksum.ProofError, match="no quorum"):
        logs.Proof(proof).check(b"two", trusted)
    whole = (proof + cosignature + "\n").encode()
    checked = logs.Proof(whole).check(b"two", trusted)
    assert checked == logs.Checkpoint(checkpoint.split("\n\n")[0] + "\n") and hash(checked) == hash(checked)
    assert (checked.origin, checked.size, checked.extensions) == ("example.com/ledger", 3, [])
    assert logs.Note(checkpoint + cosignature + "\n").verify(witness_key) == 1_700_000_000
    assert logs.Proof(whole).check_hash(logs.entry_hash(b"two"), trusted) == checked
    assert logs.Policy(key).check(logs.Note(checkpoint)) == checked
    for at in range(len(whole)):
        for bit in range(8):
            changed = bytearray(whole)
            changed[at] ^= 1 << bit
            with pytest.raises(mksum.ProofError):
                logs.Proof(changed).check(b"two", trusted)
    for wrong in (b"", b"one", b"two "):
        with pytest.raises(mksum.ProofError):
            logs.Proof(whole).check(wrong, trusted)
    for text in ("", "nonsense", "log nonsense\nquorum none\n", f"log {key}\n", key[:-1]):
        with pytest.raises(mksum.ProofError):
            logs.Policy(text)
    assert logs.ConsistencyProof(growth).old_size == 2


def test_append_prove_and_check(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "log"
    entries = [f"entry {number}".encode() for number in range(600)]
    with logs.Log.create(folder, "example.com/python") as log:
        key = log.verifier
        assert log.path == str(folder) and log.append([]) == range(0)
        assert log.append(entry for entry in entries[:300]) == range(300)
        old = log.checkpoint()
        assert log.append([memoryview(entry) for entry in entries[300:]]) == range(300, 600) and log.size == 600
        assert log.checkpoint().size == 600 and log.note.verify(key) == 0
        with pytest.raises(mksum.RefusedError, match="another process"):
            logs.Log.open(folder)
        with pytest.raises(mksum.RefusedError, match=r"entry 2 has 65536 bytes.*Log its root instead, and"):
            log.append([b"", bytes(65536)])
        with pytest.raises(TypeError, match="encode"):
            log.append(["text"])  # type: ignore[list-item]
        assert log.size == 600 and log.append([b"lost"]) == range(600, 601)
    with pytest.raises(mksum.RefusedError, match="closed"):
        log.append([b"more"])
    public = logs.Published.open(folder, key)
    assert public.checkpoint.size == 600 and public.note == logs.Note((folder / "checkpoint").read_bytes())
    assert list(public.entries()) == entries and list(public.entries(255, 513)) == entries[255:513]
    assert list(public.entries(599)) == entries[599:] and list(public.entries(600)) == list(public.entries(5, 2)) == []
    for index in range(0, 600, 59):
        proof = public.inclusion(index)
        assert proof.index == index and public.entry(index) == entries[index]
        assert logs.Proof(str(proof)).check(entries[index], key) == public.checkpoint
        with pytest.raises(mksum.ProofError):
            proof.check(entries[index ^ 1], key)
    growth = public.consistency(300)
    assert growth.check(old, key) == public.checkpoint == logs.ConsistencyProof(bytes(growth)).check(old, key)
    with pytest.raises(mksum.ProofError):
        public.consistency(299).check(old, key)
    for refused in (lambda: public.inclusion(600), lambda: public.consistency(601), lambda: public.entry(600)):
        with pytest.raises(mksum.RefusedError):
            refused()
    with pytest.raises(mksum.ProofError, match="not signed"):
        logs.Published.open(folder, C2SP_KEY)
    with pytest.raises(mksum.LogError) as missing:
        logs.Published.open(tmp_path)
    assert missing.value.path == "checkpoint"


def test_the_root_is_that_of_rfc6962(tmp_path: pathlib.Path) -> None:
    """A tree of one-byte leaves over a file, computed by another part of the engine."""
    for size in (0, 1, 255, 256, 257):
        data = bytes(number % 251 for number in range(size))
        with logs.Log.create(tmp_path / str(size), "example.com/bytes") as log:
            log.append(data[at : at + 1] for at in range(size))
            assert log.checkpoint().root == mksum.root(data, "rfc6962:sha256:1").bytes


def test_fsck_finds_a_changed_byte(tmp_path: pathlib.Path) -> None:
    with logs.Log.create(tmp_path, "example.com/python") as log:
        key = log.verifier
        log.append(bytes([number % 256]) for number in range(300))
        log.checkpoint()
    report = logs.fsck(tmp_path, key)
    assert (report["entries"], report["problems"]) == (300, [])
    file = tmp_path / "tile/entries/000"
    data = bytearray(file.read_bytes())
    data[5] ^= 1
    file.write_bytes(data)
    problems = logs.fsck(tmp_path, key)["problems"]
    assert [type(problem) for problem in problems] == [mksum.LogError] and problems[0].path == "tile/entries/000"
    with pytest.raises(mksum.LogError, match="entry 1 has another hash"):
        list(logs.Published.open(tmp_path).entries())


def test_a_mirror_catches_a_fork(tmp_path: pathlib.Path) -> None:
    source, copy, mirror = tmp_path / "log", tmp_path / "copy", tmp_path / "mirror"
    with logs.Log.create(source, "example.com/python") as log:
        key = log.verifier
        log.append([b"one", b"two"])
        log.checkpoint()
    followed = logs.follow(source, mirror, key)
    assert (followed["before"], followed["checkpoint"].size) == (0, 2)
    shutil.copytree(source, copy)
    for folder, entry in ((source, b"three"), (copy, b"another")):
        with logs.Log.open(folder) as log:
            log.append([entry])
            log.checkpoint()
    assert logs.follow(source, mirror, key)["before"] == 2
    with pytest.raises(mksum.ContradictionError, match="fork") as fork:
        logs.follow(copy, mirror, key)
    assert isinstance(fork.value, mksum.LogError) and (fork.value.expected, fork.value.found) == (3, 3)
    assert fork.value.path and {"seen", "shown"} <= set(os.listdir(fork.value.path))
    assert logs.fsck(mirror, key)["entries"] == 3


def test_a_stop_ends_the_work(tmp_path: pathlib.Path) -> None:
    with logs.Log.create(tmp_path / "log", "example.com/python") as log:
        key = log.verifier
    stop = mksum.Stop()
    stop.stop()
    with pytest.raises(mksum.StoppedError):
        logs.follow(tmp_path / "log", tmp_path / "mirror", key, stop=stop)
    with pytest.raises(mksum.StoppedError):
        logs.fsck(tmp_path / "log", stop=stop)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
def test_an_interrupt_ends_a_read_that_waits(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "checkpoint")
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            logs.Published.open(tmp_path)
    finally:
        signal.signal(signal.SIGINT, handler)
    os.close(os.open(tmp_path / "checkpoint", os.O_RDWR | os.O_NONBLOCK))  # so that the reader ends


def test_a_log_on_a_web_server(tmp_path: pathlib.Path) -> None:
    with logs.Log.create(tmp_path / "log", "example.com/python") as log:
        key = log.verifier
        log.append(bytes([number % 256]) for number in range(300))
        log.checkpoint()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(tmp_path / "log"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        try:
            assert logs.Published.open(url, key).inclusion(299).check(bytes([43]), key).size == 300
            assert logs.follow(url, tmp_path / "mirror", key)["checkpoint"].size == 300
            with pytest.raises(mksum.LogError):
                logs.Published.open(url + "nothing/")
        finally:
            server.shutdown()
    assert logs.fsck(tmp_path / "mirror", key)["entries"] == 300
