"""The slow, obvious definition of every format: spec/ as code, to be read beside it.

It computes everything in memory, one digest at a time, with only the standard library. check.py tests it: it compares every
row of rows/*.tsv with the output of established programs.
"""
import base64
import functools
import hashlib
import pathlib
import struct

KiB, MiB = 1 << 10, 1 << 20

# ---- Input -----------------------------------------------------------------------------------------------------------

PATTERNS = {"mod251": bytes(range(251)), "pat": bytes((i * 131 + (i >> 8) * 17) % 256 for i in range(64 * KiB)), "noise": None}


@functools.cache
def noise(length):
    """Returns the first bytes without a period: the highest of each state of Knuth's MMIX generator, which begins with 0."""
    state, data = 0, bytearray()
    for _ in range(length):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        data.append(state >> 56)
    return bytes(data)


def input_bytes(pattern, length):
    if pattern == "noise":
        return noise(MiB)[:length] if length <= MiB else noise(length)
    period = PATTERNS[pattern]
    return (period * (length // len(period) + 1))[:length]


def pieces(data, size):
    """Splits `data` into pieces of `size` bytes; the last may be shorter. Empty `data` has no pieces."""
    return [data[at : at + size] for at in range(0, len(data), size)]


# ---- BLAKE3 ----------------------------------------------------------------------------------------------------------

IV = tuple(int(2**32 * (prime**0.5 % 1)) for prime in (2, 3, 5, 7, 11, 13, 17, 19))
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED_HASH = 1, 2, 4, 8, 16
QUARTERS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),  # the columns, then the diagonals
            (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)


def rotated(word, bits):
    return (word >> bits | word << 32 - bits) & 0xFFFFFFFF


def compress(chaining, block, counter, flags):
    """Returns the next 8-word chaining value after a block of at most 64 bytes."""
    words = struct.unpack("<16I", block.ljust(64, b"\0"))
    v = [*chaining, *IV[:4], counter & 0xFFFFFFFF, counter >> 32, len(block), flags]
    for _ in range(7):
        for quarter, (a, b, c, d) in enumerate(QUARTERS):
            for word, right_d, right_b in (words[2 * quarter], 16, 12), (words[2 * quarter + 1], 8, 7):
                v[a] = (v[a] + v[b] + word) & 0xFFFFFFFF
                v[d] = rotated(v[d] ^ v[a], right_d)
                v[c] = (v[c] + v[d]) & 0xFFFFFFFF
                v[b] = rotated(v[b] ^ v[c], right_b)
        words = [words[i] for i in PERMUTATION]
    return tuple(v[i] ^ v[i + 8] for i in range(8))


def mode(key):
    return 0 if key is IV else KEYED_HASH


@functools.lru_cache(1 << 16)
def blake3_chunk(data, index, root, key=IV):
    """Returns the 32-byte chaining value of the chunk of at most 1024 bytes at byte 1024·index."""
    chaining, blocks = key, pieces(data, 64) or [b""]
    for i, block in enumerate(blocks):
        first, last = i == 0, i == len(blocks) - 1
        flags = CHUNK_START * first | (CHUNK_END | root) * last | mode(key)
        chaining = compress(chaining, block, index, flags)
    return struct.pack("<8I", *chaining)


def blake3_parent(left, right, root, key=IV):
    return struct.pack("<8I", *compress(key, left + right, 0, PARENT | root | mode(key)))


@functools.lru_cache(1 << 12)
def blake3_hash(data, key=IV):
    """Returns the digest; the eight words of a key take the place of the initial ones."""
    chunks = pieces(data, 1024) or [b""]
    if len(chunks) == 1:
        return blake3_chunk(data, 0, ROOT, key)
    values = [blake3_chunk(chunk, i, 0, key) for i, chunk in enumerate(chunks)]
    half = power_of_two_below(len(values))

    def inner(left, right):
        return blake3_parent(left, right, 0, key)

    return blake3_parent(promote(values[:half], inner), promote(values[half:], inner), ROOT, key)


# ---- CRCs ------------------------------------------------------------------------------------------------------------

CRCS = {"crc32": (32, 0xEDB88320), "crc32c": (32, 0x82F63B78), "crc64nvme": (64, 0x9A6C9329AC4BC9B5)}  # reflected


@functools.cache
def crc_table(polynomial):
    """Returns what each value of the lowest byte adds to a state of which it is shifted out."""
    table = []
    for lowest in range(256):
        state = lowest
        for _ in range(8):
            state = state >> 1 ^ polynomial * (state & 1)
        table.append(state)
    return table


def crc(name, data):
    """Returns the CRC, the most significant byte first."""
    width, polynomial = CRCS[name]
    table, state = crc_table(polynomial), (1 << width) - 1
    for byte in data:
        state = state >> 8 ^ table[(state ^ byte) & 255]
    return (state ^ (1 << width) - 1).to_bytes(width // 8, "big")


# ---- Hashes and trees ------------------------------------------------------------------------------------------------


def hasher(name):
    """Returns the function from bytes to their digest."""
    if name == "blake3":
        return blake3_hash
    if name in CRCS:
        return lambda data: crc(name, data)
    return lambda data: hashlib.new(name.replace("-", "_"), data).digest()


def power_of_two_below(n):
    """Returns the largest power of two below n, for n ≥ 2."""
    return 1 << (n - 1).bit_length() - 1


def power_of_two_from(n):
    """Returns the smallest power of two that is at least n."""
    return 1 << (n - 1).bit_length()


def promote(digests, node):
    """Joins digests as in RFC 6962, 2.1: the left subtree is the largest perfect one that leaves the right one not empty."""
    if len(digests) == 1:
        return digests[0]
    half = power_of_two_below(len(digests))
    return node(promote(digests[:half], node), promote(digests[half:], node))


def halve(data, leaf_size, leaf, node):
    if len(data) <= leaf_size:
        return leaf(data)
    half = len(data) // 2
    return node(halve(data[:half], leaf_size, leaf, node), halve(data[half:], leaf_size, leaf, node))


def verity(data, H, block, salt):
    """Returns the top digest over zero-padded blocks; a hash block holds its children's digests in slots of 2^n bytes."""
    level = [H(salt + piece.ljust(block, b"\0")) for piece in pieces(data, block)]
    slot = power_of_two_from(len(level[0]))
    while len(level) > 1:
        blocks = pieces(b"".join(digest.ljust(slot, b"\0") for digest in level), block)
        level = [H(salt + piece.ljust(block, b"\0")) for piece in blocks]
    return level[0]


# ---- Formats: each maps (data, hash name, leaf size, salt) to the root, or to None if it defines none ----------------


def rfc6962(data, hash_name, leaf, salt):
    H = hasher(hash_name)
    leaves = [H(b"\0" + piece) for piece in pieces(data, leaf)]
    return promote(leaves, lambda left, right: H(b"\1" + left + right)) if data else H(b"")


def plain(data, hash_name, leaf, salt):
    H = hasher(hash_name)
    leaves = [H(piece) for piece in pieces(data, leaf)]
    return promote(leaves, lambda left, right: H(left + right)) if data else H(b"")


def mtsum(data, hash_name, leaf, salt):
    H, half = hasher(hash_name), len(data) // 2

    def side(part):
        return halve(part, leaf, lambda piece: H(b"\0" + piece), lambda left, right: H(b"\1" + left + right))

    return H(b"\2" + side(data[:half]) + side(data[half:]))


def blake3(data, hash_name, leaf, salt):
    return blake3_hash(data)


def blake3_pairs(data, hash_name, leaf, salt):
    leaves = len(data) // leaf
    if leaves * leaf != len(data) or leaves < 2 or leaves & leaves - 1:
        return None
    return promote(pieces(data, leaf), lambda left, right: blake3_hash(left + right))


def btv2(data, hash_name, leaf, salt):
    H = hasher(hash_name)
    leaves = [H(piece) for piece in pieces(data, leaf)]
    padding = [bytes(32)] * (power_of_two_from(len(leaves)) - len(leaves))
    return promote(leaves + padding, lambda left, right: H(left + right)) if data else None


def fsverity(data, hash_name, leaf, salt):
    H, hash_block = hasher(hash_name), hashlib.new(hash_name).block_size
    prefix = salt.ljust(-(-len(salt) // hash_block) * hash_block, b"\0")
    top = verity(data, H, leaf, prefix) if data else b""
    algorithm = {"sha256": 1, "sha512": 2}[hash_name]
    header = struct.pack("<BBBBIQ", 1, algorithm, leaf.bit_length() - 1, len(salt), 0, len(data))
    return H(header + top.ljust(64, b"\0") + salt.ljust(32, b"\0") + bytes(144))


def dmverity(data, hash_name, leaf, salt):
    return verity(data, hasher(hash_name), leaf, salt) if data and len(data) % leaf == 0 else None


def s3(data, hash_name, leaf, salt):
    H, parts = hasher(hash_name), pieces(data, leaf) or [b""]
    digest = H(b"".join(H(part) for part in parts))
    text = digest.hex() if hash_name == "md5" else base64.b64encode(digest).decode()
    return f"{text}-{len(parts)}"


def dropbox(data, hash_name, leaf, salt):
    H = hasher(hash_name)
    return H(b"".join(H(piece) for piece in pieces(data, leaf)))


# ---- Xet -------------------------------------------------------------------------------------------------------------

GEAR = [int(word, 16) for word in (pathlib.Path(__file__).parent / "gear.txt").read_text().split()]
XET_KEYS = {  # DATA_KEY, INTERNAL_NODE_KEY, and the salt of files
    "leaf": "6697f5775b9550de3135cbaca597181c9de421109beb2b58b4d0b04b93adf229",
    "node": "017ec5c7a5472996fd946666b48a02e65ddd536f37c76dd2f86352e64a53713f",
    "root": "00" * 32,
}


def xet_hash(kind, data):
    return blake3_hash(data, struct.unpack("<8I", bytes.fromhex(XET_KEYS[kind])))


def xet_written(digest):
    """Returns the bytes of a digest in the order in which they are written: each word of eight from its highest byte on."""
    return struct.pack(">4Q", *struct.unpack("<4Q", digest))


def xet_leaves(data):
    """Splits data after each byte at which the gear hash of the last 64 bytes is below 2^48, or a leaf is full."""
    leaves, start, state = [], 0, 0
    for end, byte in enumerate(data, 1):
        state = (state * 2 + GEAR[byte]) % 2**64  # 64 bytes later, a word is shifted out
        if end - start == 128 * KiB or (end - start >= 8 * KiB and state < 2**48):
            leaves.append(data[start:end])
            start = end
    return leaves + [data[start:]] * (start < len(data))


def xet_groups(level):
    """Splits a level: a group ends, from its third node on, after a last word that is a multiple of 4, or has nine."""
    groups = [[]]
    for digest, length in level:
        if groups[-1] and (len(groups[-1]) == 9 or (len(groups[-1]) > 2 and groups[-1][-1][0][24] % 4 == 0)):
            groups.append([])
        groups[-1].append((digest, length))
    return groups


def xet(data, hash_name, leaf, salt):
    level = [(xet_hash("leaf", leaf), len(leaf)) for leaf in xet_leaves(data)]
    while len(level) > 1:
        groups = xet_groups(level)
        lines = ["".join(f"{xet_written(digest).hex()} : {length}\n" for digest, length in group) for group in groups]
        level = [(xet_hash("node", text.encode()), sum(length for _, length in group)) for text, group in zip(lines, groups)]
    return xet_written(xet_hash("root", level[0][0])) if level else bytes(32)


def whole(data, hash_name, leaf, salt):
    return hasher(hash_name)(data)


# ---- Format strings: NAME[:HASH][:LEAF][:salt=HEX] -----------------------------------------------------------------

ANY_HASH = "md5 sha1 sha224 sha256 sha384 sha512 sha512-256 blake2s blake2b blake3 sm3 ripemd160".split()
CHOICES = {  # formats with choices: the allowed hashes and the default leaf size in bytes
    "rfc6962": (rfc6962, ANY_HASH, 64 * KiB),
    "plain": (plain, ANY_HASH, 64 * KiB),
    "mtsum": (mtsum, ["md5", "sha1", "sha256", "sha384", "sha512"], 128 * MiB),
    "fsverity": (fsverity, ["sha256", "sha512"], 4 * KiB),
    "dmverity": (dmverity, ["sha1", "sha224", "sha256", "sha384", "sha512"], 4 * KiB),
    "s3": (s3, ["sha256", "sha1", "md5", "sha512", "crc32", "crc32c"], 8 * MiB),
}
SUMS = "md5 sha1 sha224 sha256 sha384 sha512 sha512-256 sha3-224 sha3-256 sha3-384 sha3-512 blake2b blake2s sm3 ripemd160".split()
FIXED = {  # formats without choices: the hash and the leaf size in bytes
    "glacier": (plain, "sha256", MiB),
    "btv2": (btv2, "sha256", 16 * KiB),
    "dropbox": (dropbox, "sha256", 4 * MiB),
    "blake3": (blake3, "blake3", KiB),
    "blake3-pairs": (blake3_pairs, "blake3", 32),
    "xet": (xet, "blake3", 1 << 63),
    **{name: (whole, name, 1 << 63) for name in [*SUMS, *CRCS]},
}


def size(text):
    """Parses a size in bytes: `4KiB`, `5MiB`, `1000`."""
    for power, unit in enumerate(("KiB", "MiB", "GiB", "TiB"), 1):
        if text.endswith(unit):
            return int(text.removesuffix(unit)) << 10 * power
    return int(text)


def parse(text):
    """Returns the name, hash name, leaf size in bytes and salt of a format string. Raises ValueError if it is invalid."""
    name, *parts = text.split(":")
    if name in FIXED and not parts:
        return name, *FIXED[name][1:], b""
    if name not in CHOICES:
        raise ValueError(f"unknown format: {text}")
    _, hashes, leaf = CHOICES[name]
    hash_name, salt = "sha256", b""
    if parts and parts[0] in hashes:
        hash_name = parts.pop(0)
    if parts and parts[0][:1].isdigit():
        leaf = size(parts.pop(0))
    if parts and parts[0].startswith("salt=") and name in ("fsverity", "dmverity"):
        salt = bytes.fromhex(parts.pop(0).removeprefix("salt="))
    if parts:
        raise ValueError(f"{text}: cannot parse {parts[0]}")
    return name, hash_name, leaf, salt


def root(format, data):
    """Returns the root as the tool prints it, or `-` if the format defines none for this length."""
    name, hash_name, leaf, salt = parse(format)
    function = (CHOICES.get(name) or FIXED[name])[0]
    answer = function(data, hash_name, leaf, salt)
    return "-" if answer is None else answer if isinstance(answer, str) else answer.hex()
