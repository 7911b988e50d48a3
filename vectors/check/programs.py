"""The independent programs. `roots` takes rows and yields, in their order, the roots that the program prints."""
import base64
import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import generate
import install
import reference
import servers
from install import run


class Program:
    """One program, with the directory of the tools and the files with the rows' inputs."""

    source = None  # the name in the rows' source column
    also = ()  # other sources whose rows it also confirms

    def __init__(self, tools, file_of):
        self.tools, self.file_of = tools, file_of

    def version(self):
        raise NotImplementedError

    def roots(self, rows):
        raise NotImplementedError


class Tlog(Program):
    source, library, module = generate.TLOG, "tlog", "golang.org/x/mod"

    def version(self):
        return install.go_version(self.module)

    def roots(self, rows):
        lines = "".join("\t".join(row) + "\n" for row in rows)
        printed = run(install.go(self.tools), self.library, input=lines).splitlines()
        return [line.split("\t")[3] for line in printed]


class Merkle(Tlog):
    source, library, module, also = generate.MERKLE, "merkle", "github.com/transparency-dev/merkle", (generate.TLOG,)


class Botocore(Program):
    source = generate.BOTOCORE

    def version(self):
        return importlib.metadata.version("botocore")

    def roots(self, rows):
        from botocore.utils import calculate_tree_hash

        for row in rows:
            with open(self.file_of(row), "rb") as body:
                yield calculate_tree_hash(body)


class Libtorrent(Program):
    source = generate.LIBTORRENT

    def version(self):
        return importlib.metadata.version("libtorrent")

    def roots(self, rows):
        import libtorrent

        paths = [self.file_of(row) for row in rows]
        files = libtorrent.file_storage()  # one torrent with all inputs
        for path in paths:
            files.add_file(f"{path.parent.name}/{path.name}", path.stat().st_size)
        torrent = libtorrent.create_torrent(files, 64 << 10, libtorrent.create_torrent.v2_only)
        libtorrent.set_piece_hashes(torrent, str(paths[0].parent.parent))
        entries = torrent.generate()[b"info"][b"file tree"]
        for path in paths:
            entry = entries[path.name.encode()][b""]
            yield entry[b"pieces root"].hex() if b"pieces root" in entry else "-"


class Fsverity(Program):
    source = generate.FSVERITY

    def version(self):
        install.debian("fsverity", "fsverity")
        return run("fsverity", "--version").strip()

    def roots(self, rows):
        for row in rows:
            _, hash_name, block, salt = reference.parse(row.format)
            options = [f"--hash-alg={hash_name}", f"--block-size={block}"] + [f"--salt={salt.hex()}"] * bool(salt)
            yield run("fsverity", "digest", "--compact", *options, self.file_of(row)).strip()


class Veritysetup(Program):
    source = generate.VERITYSETUP

    def version(self):
        install.debian("veritysetup", "cryptsetup-bin")
        return run("veritysetup", "--version").split()[1]

    def roots(self, rows):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder, "tree")
            for row in rows:
                tree.unlink(missing_ok=True)
                _, hash_name, block, salt = reference.parse(row.format)
                options = [f"--hash={hash_name}", f"--salt={salt.hex() or '-'}"]
                options += [f"--data-block-size={block}", f"--hash-block-size={block}"]
                printed = run("veritysetup", "format", *options, self.file_of(row), tree)
                yield re.search(r"^Root hash:\s+(\w+)$", printed, re.MULTILINE)[1]


class Rclone(Program):
    source = generate.RCLONE

    def version(self):
        install.debian("rclone", "rclone")
        return run("rclone", "version").split()[1]

    def roots(self, rows):
        for row in rows:
            yield run("rclone", "--config=", "hashsum", "dropbox", self.file_of(row)).split()[0]


class Openssl(Program):
    source = generate.OPENSSL

    def version(self):
        install.debian("openssl", "openssl")
        return run("openssl", "version").split()[1]

    def roots(self, rows):
        names = {"blake2b": "blake2b512", "blake2s": "blake2s256"}
        for row in rows:
            if row.format.startswith("s3:"):
                yield self.composite(row)
                continue
            name = reference.parse(row.format)[1]  # `sha256tree` up to a leaf is SHA-256
            digest = run("openssl", "dgst", "-r", f"-{names.get(name, name)}", self.file_of(row)).split()[0]
            yield reference.c4_text(bytes.fromhex(digest)) if row.format == "c4" else digest


    def composite(self, row):
        """Returns the hash of the hashes of all parts, as S3 writes it."""
        _, name, part_size, _ = reference.parse(row.format)

        def digest(data):
            command = ["openssl", "dgst", f"-{name}", "-binary"]
            return subprocess.run(command, check=True, input=data, stdout=subprocess.PIPE).stdout

        parts = reference.pieces(self.file_of(row).read_bytes(), part_size) or [b""]
        return f"{base64.b64encode(digest(b''.join(map(digest, parts)))).decode()}-{len(parts)}"


class Awscrt(Program):
    """The checksums of the AWS SDKs: of the whole input, and combined of two parts of it."""

    source = generate.AWSCRT

    def version(self):
        return importlib.metadata.version("awscrt")

    def roots(self, rows):
        from awscrt import checksums

        for row in rows:
            data = self.file_of(row).read_bytes()
            _, name, part_size, _ = reference.parse(row.format)
            crc, size = getattr(checksums, name), reference.CRCS[name][0] // 8
            if row.format.startswith("s3:"):
                parts = reference.pieces(data, part_size) or [b""]
                composite = crc(b"".join(crc(part).to_bytes(size, "big") for part in parts))
                yield f"{base64.b64encode(composite.to_bytes(size, 'big')).decode()}-{len(parts)}"
                continue
            middle = len(data) * 3 // 7
            whole = crc(data)
            joined = getattr(checksums, f"combine_{name}")(crc(data[:middle]), crc(data[middle:]), len(data) - middle)
            yield whole.to_bytes(size, "big").hex() if whole == joined else f"{whole:x} in one and {joined:x} in two parts"


class GoogleCrc32c(Program):
    source = generate.GOOGLE

    def version(self):
        return importlib.metadata.version("google-crc32c")

    def roots(self, rows):
        import google_crc32c

        for row in rows:
            yield f"{google_crc32c.value(self.file_of(row).read_bytes()):08x}"


class Xxhash(Program):
    """The bindings of the reference implementation in C."""

    source = generate.XXHASH

    def version(self):
        return importlib.metadata.version("xxhash")

    def roots(self, rows):
        import xxhash

        functions = {"xxh32": xxhash.xxh32, "xxh64": xxhash.xxh64, "xxh3": xxhash.xxh3_64, "xxh128": xxhash.xxh3_128}
        for row in rows:
            _, name, part_size, _ = reference.parse(row.format)
            sum, data = functions[name], self.file_of(row).read_bytes()
            if row.format.startswith("s3:"):
                parts = reference.pieces(data, part_size) or [b""]
                composite = sum(b"".join(sum(part).digest() for part in parts)).digest()
                yield f"{base64.b64encode(composite).decode()}-{len(parts)}"
            else:
                yield sum(data).hexdigest()


class Quickxorhash(Program):
    """The bindings of libqxh."""

    source = generate.QUICKXORHASH

    def version(self):
        return importlib.metadata.version("quickxorhash")

    def roots(self, rows):
        import quickxorhash

        for row in rows:
            sum = quickxorhash.quickxorhash()
            sum.update(self.file_of(row).read_bytes())
            yield base64.b64encode(sum.digest()).decode()


class HfXet(Program):
    source = generate.HF_XET

    def version(self):
        return importlib.metadata.version("hf_xet")

    def roots(self, rows):
        import hf_xet

        return [info.hash for info in hf_xet.hash_files([str(self.file_of(row)) for row in rows])]


class Git(Program):
    """The ids of blobs, with one process for each kind of repository."""

    source = generate.GIT

    def version(self):
        install.debian("git", "git")
        return run("git", "--version").split()[2]

    def roots(self, rows):
        rows, found = list(rows), {}
        for hash_name in {reference.parse(row.format)[1] for row in rows}:
            own = [row for row in rows if reference.parse(row.format)[1] == hash_name]
            with tempfile.TemporaryDirectory() as folder:
                run("git", "init", "--quiet", f"--object-format={hash_name}", folder)
                paths = "".join(f"{self.file_of(row)}\n" for row in own)
                printed = run("git", "-C", folder, "hash-object", "--no-filters", "--stdin-paths", input=paths)
            found |= zip(map(id, own), printed.split(), strict=True)
        return [found[id(row)] for row in rows]


class SwhModel(Program):
    source = generate.SWH_MODEL

    def version(self):
        return importlib.metadata.version("swh.model")

    def roots(self, rows):
        from swh.model.from_disk import Content

        for row in rows:
            yield str(Content.from_file(path=os.fsencode(self.file_of(row)), max_content_length=None).swhid())


class NixHash(Program):
    source = generate.NIX

    def version(self):
        install.debian("nix-hash", "nix-bin")
        return run("nix-hash", "--version").split()[2]

    def roots(self, rows):
        printed = run("nix-hash", "--type", "sha256", *map(self.file_of, rows)).split()
        return [f"sha256-{base64.b64encode(bytes.fromhex(digest)).decode()}" for digest in printed]


class B3sum(Program):
    source = generate.B3SUM

    def program(self):
        return install.cargo(self.tools, *self.source.split())

    def version(self):
        return run(self.program(), "--version").split()[1]

    def roots(self, rows):
        return run(self.program(), "--no-names", *map(self.file_of, rows)).split()


class Moto(Program):
    """Multipart uploads with boto3 to an S3 server on this machine, which returns the ETag and the composite checksum."""

    source = generate.MOTO

    def version(self):
        return importlib.metadata.version("moto")

    def roots(self, rows):
        import boto3

        keys = {"aws_access_key_id": "-", "aws_secret_access_key": "-", "region_name": "us-east-1"}
        small_parts = {**install.ENVIRONMENT, "S3_UPLOAD_PART_MIN_SIZE": "1"}
        with servers.moto(self.tools / "venv/bin/python", env=small_parts) as address:
            self.client = boto3.client("s3", endpoint_url=address, **keys)
            self.client.create_bucket(Bucket="vectors")
            for row in rows:
                _, hash_name, part_size, _ = reference.parse(row.format)
                yield self.upload(self.file_of(row).read_bytes(), hash_name, part_size)

    def upload(self, data, hash_name, part_size):
        target, algorithm = {"Bucket": "vectors", "Key": "input"}, "SHA1" if hash_name == "sha1" else "SHA256"
        begun = self.client.create_multipart_upload(**target, ChecksumAlgorithm=algorithm, ChecksumType="COMPOSITE")
        target["UploadId"], parts = begun["UploadId"], []
        for number, part in enumerate(reference.pieces(data, part_size) or [b""], 1):
            sent = self.client.upload_part(**target, PartNumber=number, Body=part, ChecksumAlgorithm=algorithm)
            parts.append({"PartNumber": number, **{name: sent[name] for name in ("ETag", f"Checksum{algorithm}")}})
        self.client.complete_multipart_upload(**target, MultipartUpload={"Parts": parts})
        stored = self.client.head_object(Bucket="vectors", Key="input", ChecksumMode="ENABLED")
        etag, checksum = stored["ETag"].strip('"'), stored[f"Checksum{algorithm}"]
        if "-" not in checksum:  # S3 appends the number of parts to both, moto only to the ETag
            checksum += "-" + etag.split("-")[1]
        return etag if hash_name == "md5" else checksum

class Mtsum(Program):
    """No package contains mtsum: its rows were recorded, and are checked again only if the program is in PATH."""

    source = generate.MTSUM

    def version(self):
        return run("mtsum", "--version").strip()

    def roots(self, rows):
        for row in rows:
            yield run("mtsum", "-p", "1", "-a", reference.parse(row.format)[1], self.file_of(row)).split()[-1]


PROGRAMS = [Tlog, Merkle, Botocore, Libtorrent, Fsverity, Veritysetup, Moto, Rclone, Openssl, Awscrt, GoogleCrc32c, Xxhash,
            Quickxorhash, HfXet, Git, SwhModel, NixHash, B3sum]
if shutil.which("mtsum"):
    PROGRAMS.append(Mtsum)
# The formats that peers.py compares on inputs of random lengths, and the program of each.
AT_RANDOM = {"xet": HfXet, "crc32": Awscrt, "crc32c": GoogleCrc32c, "crc64nvme": Awscrt,
             "xxh32": Xxhash, "xxh64": Xxhash, "xxh3": Xxhash, "xxh128": Xxhash,
             "quickxor": Quickxorhash,
             "git:sha1": Git, "git:sha256": Git, "swhid": SwhModel, "nar": NixHash}
