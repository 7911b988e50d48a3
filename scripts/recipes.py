#!/usr/bin/env python3
"""Runs the commands of docs/recipes.md with the released tools that they are about, and servers on this machine.

    recipes.py MKSUM DVC      DVC: a folder with the programs dvc and pip

docker-registry and jq are in PATH. Data is damaged at a server or here before commands are run, and must not come through.
"""
import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.request

import servers
from bits import flip

REGISTRY = """version: 0.1
storage: {{filesystem: {{rootdirectory: {root}}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
WHEELS = ("idna==3.11", "six==1.17.0")

flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
flags.add_argument("mksum", type=pathlib.Path)
flags.add_argument("dvc", type=pathlib.Path)


def blocks(section):
    """Returns the commands of a section of the page."""
    page = (pathlib.Path(__file__).resolve().parent.parent / "docs" / "recipes.md").read_text()
    text = next(part for part in page.split("\n## ")[1:] if part.startswith(section + "\n"))
    return re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)


def digest(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


class Recipes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.here = self.folder / "here"
        self.here.mkdir()
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "mksum").symlink_to(chosen.mksum.resolve())
        path = f"{programs}:{chosen.dvc.resolve()}:{os.environ['PATH']}"
        unset = {name: value for name, value in os.environ.items() if not re.match("PIP_|.*_PROXY$", name, re.I)}
        self.clean = unset | {"PATH": path, "HOME": str(self.folder), "DVC_NO_ANALYTICS": "1", "NETRC": os.devnull}

    def run_block(self, commands, **variables):
        """Runs commands as a script that ends at the first failure; its status, and what it printed."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], check=False, cwd=self.here, text=True,
                              env=self.clean | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def passes(self, commands, **variables):
        status, printed = self.run_block(commands, **variables)
        self.assertEqual(status, 0, printed)
        return printed

    @contextlib.contextmanager
    def served(self, folder):
        """Yields the URL at which mksum serves a folder."""
        port = servers.free_port()
        with servers.serving(chosen.mksum.resolve(), "serve", folder, "--listen", f"127.0.0.1:{port}", port=port):
            yield f"http://127.0.0.1:{port}"

    @contextlib.contextmanager
    def registry(self, name):
        """Yields the URL of a new registry, and the folder of its blobs."""
        port, root = servers.free_port(), self.folder / name
        configuration = self.folder / f"{name}.yml"
        configuration.write_text(REGISTRY.format(root=root, port=port))
        with servers.serving("docker-registry", "serve", configuration, port=port):
            yield f"http://127.0.0.1:{port}", root / "docker" / "registry" / "v2" / "blobs" / "sha256"

    def push(self, url, blobs, manifest):
        """Uploads an image as clients of registries do."""
        def ask(method, place, content=None, kind="application/octet-stream"):
            request = urllib.request.Request(place, data=content, method=method, headers={"Content-Type": kind})
            with urllib.request.urlopen(request) as answer:
                return answer.headers

        for blob in blobs:
            place = ask("POST", f"{url}/v2/app/blobs/uploads/", b"")["Location"]
            ask("PUT", f"{place}{'&' if '?' in place else '?'}digest={digest(blob)}", blob)
        ask("PUT", f"{url}/v2/app/manifests/{digest(manifest)}", manifest, MANIFEST)

    def test_layers(self):
        layers = [random.Random(seed).randbytes(3_000_000) for seed in range(2)]
        config = b"{}"

        def described(kind, blob):
            return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest(blob), "size": len(blob)}

        manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": described("config.v1+json", config),
                               "layers": [described("layer.v1.tar+gzip", layer) for layer in layers]}).encode()
        (commands,) = blocks("Layers of a container image")
        with self.registry("one") as (one, stored), self.registry("two") as (two, _):
            for url in (one, two):
                self.push(url, [*layers, config], manifest)
            name = digest(layers[0]).partition(":")[2]
            flip(stored / name[:2] / name / "data", 1_234_567)
            printed = self.passes(commands, ONE=one, TWO=two, IMAGE=digest(manifest))
            self.assertIn(f"{one}/v2/app/blobs/sha256:{name}", printed)
            self.assertEqual({digest(path.read_bytes()) for path in (self.here / "layers").iterdir()}, set(map(digest, layers)))
            # Another manifest than the trusted one ends the script.
            shutil.rmtree(self.here / "layers")
            name = digest(manifest).partition(":")[2]
            flip(stored / name[:2] / name / "data", 20)
            self.assertNotEqual(self.run_block(commands, ONE=one, TWO=two, IMAGE=digest(manifest))[0], 0)
            self.assertFalse((self.here / "layers").exists())

    def test_dvc(self):
        (commands,) = blocks("A file of a DVC remote")
        remote, content = self.folder / "remote", random.Random(1).randbytes(5_000_000)
        (self.here / "model.bin").write_bytes(content)
        for command in ("init --no-scm", "add model.bin", f"remote add -d store {remote}", "push"):
            self.passes(f"dvc {command} --quiet")
        (self.here / "model.bin").unlink()
        shutil.rmtree(self.here / ".dvc" / "cache")
        md5 = hashlib.md5(content).hexdigest()
        stored = remote / "files" / "md5" / md5[:2] / md5[2:]
        stored.chmod(0o644)
        with self.served(remote) as url:
            flip(stored, 4_000_000)
            status, printed = self.run_block(commands, REMOTE=url)
            self.assertEqual((status, (self.here / "model.bin").exists()), (1, False), printed)
            flip(stored, 4_000_000)
            self.assertIn("up to date", self.passes(commands, REMOTE=url))
        self.assertEqual((self.here / "model.bin").read_bytes(), content)

    def test_wheelhouse(self):
        first, later = blocks("A wheelhouse for pip")
        wheels = self.folder / "wheels"
        self.passes(f"pip download --quiet --disable-pip-version-check --no-deps -d {wheels} {' '.join(WHEELS)}")
        hashes = {path.name.partition("-")[0]: digest(path.read_bytes()) for path in wheels.iterdir()}
        lines = [f"{wheel} --hash={hashes[wheel.partition('==')[0]]}" for wheel in WHEELS]
        (self.here / "requirements.txt").write_text("\n".join(lines) + "\n")
        with self.served(wheels) as one, self.served(wheels) as two:
            self.passes(first, ONE=one, TWO=two)
            damaged, gone = sorted((self.here / "wheelhouse").iterdir())
            flip(damaged, 1000)
            gone.unlink()
            self.assertNotEqual(self.run_block(later.splitlines()[1], ONE=one, TWO=two)[0], 0)
            self.passes(later, ONE=one, TWO=two)
        for path in wheels.iterdir():
            self.assertEqual((self.here / "wheelhouse" / path.name).read_bytes(), path.read_bytes())
        self.assertTrue((self.here / "packages" / "six.py").exists())


if __name__ == "__main__":
    chosen = flags.parse_args()
    unittest.main(argv=["recipes.py"], verbosity=2)
