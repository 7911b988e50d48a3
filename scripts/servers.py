"""Servers on 127.0.0.1, of other programs and of tests, each until the end of a block."""
import contextlib
import http.client
import http.server
import pathlib
import random
import socket
import subprocess
import threading
import time

NOWHERE = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
# Systems lend ports from 32,768 on to clients, so one that was free a moment ago may be a connection's when the server starts.
PORTS = range(15_000, 32_768)


def free_port():
    """A port that no server has, and that no client is lent meanwhile."""
    for port in random.SystemRandom().sample(PORTS, 100):
        with contextlib.suppress(OSError), socket.socket() as free:
            free.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port is free")


@contextlib.contextmanager
def serving(*command, port, **more):
    """Runs a server, which listens at `port`, until the end of the block; its log goes nowhere."""
    process = subprocess.Popen(list(map(str, command)), **NOWHERE, **more)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        else:
            raise RuntimeError(f"{command[0]} does not answer")
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Silent:
    """The part of a handler that prints no log."""

    def log_message(self, *_):
        pass


class Forwarding(Silent, http.server.BaseHTTPRequestHandler):
    """The part of a handler that passes requests on to another server of this machine, at the port `server.store`."""

    protocol_version = "HTTP/1.1"

    def sent(self):
        """The body of the request."""
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def ask(self, sent, path=None):
        """Returns the other server's status, headers (in small letters) and body. `path` replaces the path of the request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.store)
        with contextlib.closing(connection):
            connection.request(self.command, path or self.path, sent, dict(self.headers))
            got = connection.getresponse()
            return got.status, {name.lower(): value for name, value in got.getheaders()}, got.read()

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            if name not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        length = headers.get("content-length", "0") if self.command == "HEAD" else str(len(body))
        self.send_header("Content-Length", length)
        self.end_headers()
        with contextlib.suppress(OSError):
            if self.command != "HEAD":
                self.wfile.write(body)


class Patient(http.server.ThreadingHTTPServer):
    """A server that prints nothing when a client closes its connection or is killed."""

    daemon_threads = True

    def handle_error(self, *_):
        pass


@contextlib.contextmanager
def answering(handler, kind=Patient, host="127.0.0.1", **more):
    """Answers requests by a handler until the end of the block. Yields the server, which has its `url` and `more`."""
    with kind((host, 0), handler) as server:
        vars(server).update(more, url=f"http://{host}:{server.server_port}")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


@contextlib.contextmanager
def versitygw(program, folder, keys):
    """Runs an S3 server over files in `folder`, an empty directory. Yields its address."""
    for name in ("root", "side"):
        pathlib.Path(folder, name).mkdir()
    port = free_port()
    own = ("--access", keys["AWS_ACCESS_KEY_ID"], "--secret", keys["AWS_SECRET_ACCESS_KEY"], "--port", f"127.0.0.1:{port}")
    place = ("--quiet", "--keep-alive", "posix", "--sidecar", f"{folder}/side", f"{folder}/root")
    with serving(program, *own, *place, port=port):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def moto(python, **more):
    """Runs an S3 server in memory with a Python that has it. Yields its address."""
    port = free_port()
    with serving(python, "-m", "moto.server", "-H", "127.0.0.1", "-p", port, port=port, **more):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def fake_gcs_server(program, port, host):
    """Runs a server of Google Cloud Storage in memory, which takes requests for `host` as those of its XML interface."""
    more = ("-scheme", "http", "-backend", "memory", "-host", "127.0.0.1", "-port", port, "-public-host", host)
    with serving(program, *more, port=port):
        yield


@contextlib.contextmanager
def azurite(program, port, folder):
    """Runs a server of Azure's blobs over files in `folder`. The newest clients may speak of versions that it does not know."""
    more = ("--silent", "--disableTelemetry", "--skipApiVersionCheck", "--location", folder)
    with serving(program, *more, "--blobHost", "127.0.0.1", "--blobPort", port, port=port):
        yield
