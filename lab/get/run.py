#!/usr/bin/env python3
"""Times `mksum get` beside aria2 and curl, from one and from two nginx on this machine.

    run.py MKSUM [--size BYTES] [--rounds N] [--folder DIR]

Cases: `one` is one server without a limit, `two` are two, `limited` are two of 40 MB/s a connection, with 8 connections in all.
aria2 has a metalink with a SHA-256 of the whole and SHA-1 sums of pieces of 1 MiB, which it needs to find a wrong one; curl
verifies nothing, and `curl, mksum -f blake3` hashes the file afterwards. All files are compared with the original. DIR is in
memory, so that no disk decides: mksum alone waits until the disk has the bytes.
"""

import argparse
import contextlib
import filecmp
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from timing import measure, output

PIECE = 1 << 20
CONFIGURATION = """
daemon off; master_process off; error_log /dev/null; pid {folder}/pid-{port};
events {{ worker_connections 256; }}
http {{
    access_log off; sendfile on; keepalive_requests 1000000;
    client_body_temp_path {folder}/tmp; proxy_temp_path {folder}/tmp; fastcgi_temp_path {folder}/tmp;
    uwsgi_temp_path {folder}/tmp; scgi_temp_path {folder}/tmp;
    server {{ listen 127.0.0.1:{port}; root {folder}/site; location /limited/ {{ alias {folder}/site/; limit_rate 40m; }} }}
}}
"""
METALINK = """<?xml version="1.0" encoding="UTF-8"?>
<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="file"><size>{size}</size><hash type="sha-256">{whole}</hash>
<pieces length="{piece}" type="sha-1">{pieces}</pieces>{urls}</file></metalink>
"""


@contextlib.contextmanager
def server(folder, port):
    configuration = folder / f"nginx-{port}.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder, port=port))
    command = ["nginx", "-e", "/dev/null", "-p", folder, "-c", configuration]
    with subprocess.Popen(command) as process:
        url = f"http://127.0.0.1:{port}"
        try:
            # Until it listens.
            probe = ["curl", "-s", "-o", os.devnull, "--retry", "20", "--retry-connrefused", "--retry-delay", "1", url]
            subprocess.run(probe, check=True)
            yield url
        finally:
            process.terminate()


def metalink(file, urls, to):
    whole, pieces = hashlib.sha256(), []
    with open(file, "rb") as content:
        while piece := content.read(PIECE):
            whole.update(piece)
            pieces.append(f"<hash>{hashlib.sha1(piece).hexdigest()}</hash>")
    urls = "".join(f"<url>{url}</url>" for url in urls)
    size = file.stat().st_size
    to.write_text(METALINK.format(size=size, whole=whole.hexdigest(), piece=PIECE, pieces="".join(pieces), urls=urls))
    return to


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("mksum", type=os.path.abspath)
    options.add_argument("--size", default=2 << 30, type=int)
    options.add_argument("--rounds", default=5, type=int)
    options.add_argument("--folder", default="/dev/shm")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as place, contextlib.ExitStack() as stack:
        folder = pathlib.Path(place).resolve()
        (folder / "site").mkdir()
        (folder / "tmp").mkdir()
        file, out = folder / "site" / "file", folder / "out"
        subprocess.run(f"head -c {chosen.size} /dev/urandom > {file}", shell=True, check=True)
        roots = {}
        for name in ("rfc6962:sha256:64KiB", "blake3"):
            root = output([chosen.mksum, "keep", "-f", name, "-o", f"{file}.{name[:3]}", file]).split()[-1]
            roots[name] = ["--root", f"{name}:{root}", "--outboard", f"{file}.{name[:3]}"]
        urls = [stack.enter_context(server(folder, port)) for port in (8711, 8712)]

        def before():
            if out.exists():
                assert filecmp.cmp(out / "file", file, shallow=False)
                shutil.rmtree(out)
            out.mkdir()

        def case(name, sources, connections):
            link = metalink(file, sources, folder / f"{name}.meta4")
            own = {f"mksum get, {format}": [chosen.mksum, "get", *sources, "-o", f"{out}/file", "--connections",
                                           str(connections), *more] for format, more in roots.items()}
            split = ["-x16", f"-s{connections}", "--file-allocation=none", "--console-log-level=error", "-q"]
            commands = {
                **own,
                "aria2c": ["aria2c", *split, "--check-integrity=true", "-d", str(out), str(link)],
                "curl": ["curl", "-s", "-o", f"{out}/file", sources[0]],
                "curl, mksum -f blake3": f"curl -s -o {out}/file {sources[0]} && {chosen.mksum} -f blake3 {out}/file",
            }
            if name == "limited":
                commands = {key: command for key, command in commands.items() if "curl" not in key}
            measure(name, commands, chosen.size / 1e9, "GB", chosen.rounds, before)

        case("one", [f"{urls[0]}/file"], 8)
        case("two", [f"{url}/file" for url in urls], 8)
        case("limited", [f"{url}/limited/file" for url in urls], 8)


if __name__ == "__main__":
    main()
