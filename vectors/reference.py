"""The slow, obvious definition of every format: spec/ as code, to be read beside it.

It computes everything in memory, one digest at a time, with only the standard library. check.py tests it: it compares every
row of rows/*.tsv with the output of established programs.
"""
import base64
import functools
import hashlib
import operator
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


# ---- xxHash ----------------------------------------------------------------------------------------------------------

P32_1, P32_2, P32_3, P32_4, P32_5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1
P64_1, P64_2, P64_3, P64_4, P64_5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
MX1, MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
M32, M64 = 2**32 - 1, 2**64 - 1


def rotated_left(value, count, bits=64):
    return (value << count | value >> bits - count) & (1 << bits) - 1


def word(data, at, size=8):
    """Returns the little-endian word at an offset; a negative one counts from the end."""
    at %= len(data)
    return int.from_bytes(data[at : at + size], "little")


def swapped(value, size=8):
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def key(at, size=8):
    """Returns the difference of two neighbouring words of the secret."""
    return word(SECRET, at, size) ^ word(SECRET, at + size, size)


def xxh_rounds(data, bits, primes, rotations, start):
    """Returns the four accumulators after all whole stripes of four words, and the bytes behind these."""
    size, mask = bits // 8, (1 << bits) - 1
    stripes = len(data) // (4 * size)
    for index in range(4 * stripes):
        value = start[index % 4] + word(data, index * size, size) * primes[1]
        start[index % 4] = rotated_left(value & mask, rotations, bits) * primes[0] & mask
    return start, data[4 * size * stripes :]


def xxh32(data):
    state, rest = xxh_rounds(data, 32, (P32_1, P32_2), 13, [P32_1 + P32_2 & M32, P32_2, 0, -P32_1 & M32])
    total = sum(rotated_left(lane, turn, 32) for lane, turn in zip(state, (1, 7, 12, 18))) if len(data) >= 16 else P32_5
    total = total + len(data) & M32
    while len(rest) >= 4:
        total = rotated_left(total + word(rest, 0, 4) * P32_3 & M32, 17, 32) * P32_4 & M32
        rest = rest[4:]
    for byte in rest:
        total = rotated_left(total + byte * P32_5 & M32, 11, 32) * P32_1 & M32
    total = (total ^ total >> 15) * P32_2 & M32
    total = (total ^ total >> 13) * P32_3 & M32
    return (total ^ total >> 16).to_bytes(4, "big")


def xxh64_avalanche(value):
    value = (value ^ value >> 33) * P64_2 & M64
    value = (value ^ value >> 29) * P64_3 & M64
    return value ^ value >> 32


def xxh64(data):
    state, rest = xxh_rounds(data, 64, (P64_1, P64_2), 31, [P64_1 + P64_2 & M64, P64_2, 0, -P64_1 & M64])
    total = P64_5
    if len(data) >= 32:
        total = sum(rotated_left(lane, turn) for lane, turn in zip(state, (1, 7, 12, 18))) & M64
        for lane in state:
            total = ((total ^ rotated_left(lane * P64_2 & M64, 31) * P64_1 & M64) * P64_1 + P64_4) & M64
    total = total + len(data) & M64
    while len(rest) >= 8:
        mixed = rotated_left(word(rest, 0) * P64_2 & M64, 31) * P64_1 & M64
        total = rotated_left(total ^ mixed, 27) * P64_1 + P64_4 & M64
        rest = rest[8:]
    if len(rest) >= 4:
        total = rotated_left(total ^ word(rest, 0, 4) * P64_1 & M64, 23) * P64_2 + P64_3 & M64
        rest = rest[4:]
    for byte in rest:
        total = rotated_left(total ^ byte * P64_5 & M64, 11) * P64_1 & M64
    return xxh64_avalanche(total).to_bytes(8, "big")


def avalanche(value):
    value = (value ^ value >> 37) * MX1 & M64
    return value ^ value >> 32


def folded(left, right):
    product = left * right
    return product & M64 ^ product >> 64


def mixed(data, at, secret):
    """Returns the folded product of 16 bytes, each half changed by a word of the secret."""
    at %= len(data)
    return folded(word(data, at) ^ word(SECRET, secret), word(data, at + 8) ^ word(SECRET, secret + 8))


def few_bytes(data):
    """Returns one to three bytes and their number in a word."""
    return data[len(data) >> 1] << 24 | data[0] << 16 | len(data) << 8 | data[-1]


def xxh3_accumulated(data):
    """Returns the eight accumulators of more than 240 bytes: stripes of 64 bytes, scrambled after each 16, and the last 64."""
    state = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]

    def accumulate(at, secret):
        for lane in range(8):
            value = word(data, at + 8 * lane)
            changed = value ^ word(SECRET, secret + 8 * lane)
            state[lane ^ 1] = state[lane ^ 1] + value & M64
            state[lane] = state[lane] + (changed & M32) * (changed >> 32) & M64

    for stripe in range((len(data) - 1) // 64):
        accumulate(64 * stripe, 8 * (stripe % 16))
        if stripe % 16 == 15:
            for lane in range(8):
                state[lane] = (state[lane] ^ state[lane] >> 47 ^ word(SECRET, 128 + 8 * lane)) * P32_1 & M64
    accumulate(len(data) - 64, 121)
    return state


def merged(state, secret, start):
    pairs = range(0, 8, 2)
    products = (folded(state[i] ^ word(SECRET, secret + 8 * i), state[i + 1] ^ word(SECRET, secret + 8 * i + 8)) for i in pairs)
    return avalanche(start + sum(products) & M64)


def xxh3(data):
    return xxh3_value(data).to_bytes(8, "big")


def xxh3_value(data):
    length = len(data)
    if length == 0:
        return xxh64_avalanche(key(56))
    if length <= 3:
        return xxh64_avalanche(few_bytes(data) ^ key(0, 4))
    if length <= 8:
        value = word(data, -4, 4) + (word(data, 0, 4) << 32) ^ key(8)
        value = (value ^ rotated_left(value, 49) ^ rotated_left(value, 24)) * MX2 & M64
        value = (value ^ (value >> 35) + length) * MX2 & M64
        return value ^ value >> 28
    if length <= 16:
        low, high = word(data, 0) ^ key(24), word(data, -8) ^ key(40)
        return avalanche(length + swapped(low) + high + folded(low, high) & M64)
    if length <= 128:
        total = length * P64_1
        for step in range((length - 1) // 32 + 1):
            total += mixed(data, 16 * step, 32 * step) + mixed(data, -16 * step - 16, 32 * step + 16)
        return avalanche(total & M64)
    if length <= 240:
        total = avalanche(length * P64_1 + sum(mixed(data, 16 * step, 16 * step) for step in range(8)) & M64)
        total += sum(mixed(data, 16 * step, 16 * step - 125) for step in range(8, length // 16))
        return avalanche(total + mixed(data, -16, 119) & M64)
    return merged(xxh3_accumulated(data), 11, length * P64_1)


def xxh128(data):
    low, high = xxh128_halves(data)
    return high.to_bytes(8, "big") + low.to_bytes(8, "big")


def xxh128_halves(data):
    length = len(data)
    if length == 0:
        return xxh64_avalanche(key(64)), xxh64_avalanche(key(80))
    if length <= 3:
        value = few_bytes(data)
        other = rotated_left(swapped(value, 4), 13, 32)
        return xxh64_avalanche(value ^ key(0, 4)), xxh64_avalanche(other ^ key(8, 4))
    if length <= 8:
        product = (word(data, 0, 4) + (word(data, -4, 4) << 32) ^ key(16)) * (P64_1 + 4 * length)
        high = (product >> 64) + (product << 1) & M64
        low = product & M64 ^ high >> 3
        low = (low ^ low >> 35) * MX2 & M64
        return low ^ low >> 28, avalanche(high)
    if length <= 16:
        first, last = word(data, 0), word(data, -8)
        product = (first ^ last ^ key(32)) * P64_1
        last ^= key(48)
        high = (product >> 64) + last + (last & M32) * (P32_2 - 1) & M64
        product = ((product + (length - 1 << 54) & M64) ^ swapped(high)) * P64_2
        return avalanche(product & M64), avalanche((product >> 64) + high * P64_2 & M64)
    if length > 240:
        state = xxh3_accumulated(data)
        return merged(state, 11, length * P64_1), merged(state, 117, ~(length * P64_2))
    low, high = length * P64_1 & M64, 0

    def mix(first, second, secret):
        nonlocal low, high
        low = (low + mixed(data, first, secret) & M64) ^ (word(data, second) + word(data, second + 8) & M64)
        high = (high + mixed(data, second, secret + 16) & M64) ^ (word(data, first) + word(data, first + 8) & M64)

    if length <= 128:
        for step in reversed(range((length - 1) // 32 + 1)):
            mix(16 * step, length - 16 * step - 16, 32 * step)
    else:
        for step in range(4):
            mix(32 * step, 32 * step + 16, 32 * step)
        low, high = avalanche(low), avalanche(high)
        for step in range(4, length // 32):
            mix(32 * step, 32 * step + 16, 32 * step - 125)
        mix(length - 16, length - 32, 103)
    return avalanche(low + high & M64), -avalanche(low * P64_1 + high * P64_4 + length * P64_2 & M64) & M64


def quickxor(data):
    """The circle is a number: a turn past its 160 bits begins at the lowest again."""
    circle = 0
    for index, byte in enumerate(data):
        place = 11 * index % 160
        circle ^= byte << place
    circle = (circle ^ circle >> 160) % 2**160
    return (circle ^ len(data) << 96).to_bytes(20, "little")


CHECKSUMS = {
    **{name: functools.partial(crc, name) for name in CRCS},
    "xxh32": xxh32,
    "xxh64": xxh64,
    "xxh3": xxh3,
    "xxh128": xxh128,
    "quickxor": quickxor,
}

# ---- Hashes and trees ------------------------------------------------------------------------------------------------


def hasher(name):
    """Returns the function from bytes to their digest."""
    if name == "blake3":
        return blake3_hash
    if name in CHECKSUMS:
        return CHECKSUMS[name]
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


# ---- SHA-256's block cipher (FIPS 180-4, 6.2.2, without the sum at the end) ------------------------------------------

PRIMES = [n for n in range(2, 312) if all(n % divisor for divisor in range(2, n))]
ROUND_CONSTANTS = [int(2**32 * (prime ** (1 / 3) % 1)) for prime in PRIMES]
CIPHER_START = [int(2**32 * (prime**0.5 % 1)) for prime in PRIMES[8:16]]


def sha256_cipher(state, block):
    """Returns the words of the state after 64 rounds with the 64 bytes of a block."""

    def turned(x, *by):
        return functools.reduce(operator.xor, [(x >> n | x << 32 - n) & M32 for n in by])

    w = list(struct.unpack(">16I", block))
    for t in range(16, 64):
        small0, small1 = turned(w[t - 15], 7, 18) ^ w[t - 15] >> 3, turned(w[t - 2], 17, 19) ^ w[t - 2] >> 10
        w.append(w[t - 16] + small0 + w[t - 7] + small1 & M32)
    a, b, c, d, e, f, g, h = state
    for t in range(64):
        first = h + turned(e, 6, 11, 25) + (e & f ^ ~e & g) + ROUND_CONSTANTS[t] + w[t]
        second = turned(a, 2, 13, 22) + (a & b ^ a & c ^ b & c)
        a, b, c, d, e, f, g, h = first + second & M32, a, b, c, d + first & M32, e, f, g
    return a, b, c, d, e, f, g, h


def sha256tree_parent(left, right):
    return struct.pack(">8I", *sha256_cipher(CIPHER_START, left + right))


def sha256tree(data, hash_name, leaf, salt):
    H = hasher(hash_name)
    return promote([H(piece) for piece in pieces(data, leaf)], sha256tree_parent) if data else H(b"")


# ---- Xet -------------------------------------------------------------------------------------------------------------

GEAR = [int(word, 16) for word in (pathlib.Path(__file__).parent.parent / "crates/tree/src/layout/gear.txt").read_text().split()]
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
    leaves, start, state, least, most = [], 0, 0, 8 * KiB, 128 * KiB
    for end, byte in enumerate(data, 1):
        state = (state * 2 + GEAR[byte]) % 2**64  # 64 bytes later, a word is shifted out
        if (state < 2**48 and end - start >= least) or end - start == most:
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


def git(data, hash_name, leaf, salt):
    return hasher(hash_name)(b"blob %d\0" % len(data) + data)


def nar_string(data):
    return struct.pack("<Q", len(data)) + data + bytes(-len(data) % 8)


def nar(data, hash_name, leaf, salt):
    """Returns the hash of the archive of a file that is not executable, as Nix writes hashes."""
    words = b"nix-archive-1", b"(", b"type", b"regular", b"contents", data, b")"
    archive = b"".join(map(nar_string, words))
    return f"{hash_name}-{base64.b64encode(hasher(hash_name)(archive)).decode()}"


def quickxor_text(data, hash_name, leaf, salt):
    return base64.b64encode(quickxor(data)).decode()


C4_DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def c4_text(digest):
    number, digits = int.from_bytes(digest, "big"), ""
    for _ in range(88):
        number, digit = divmod(number, 58)
        digits = C4_DIGITS[digit] + digits
    return f"c4{digits}"


def c4(data, hash_name, leaf, salt):
    return c4_text(hasher(hash_name)(data))


def swhid(data, hash_name, leaf, salt):
    return f"swh:1:cnt:{git(data, hash_name, leaf, salt).hex()}"


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
    "git": (git, ["sha1", "sha256"], 1 << 63),
    "s3": (s3, ["sha256", "sha1", "md5", "sha512", "crc32", "crc32c", "xxh64", "xxh3", "xxh128"], 8 * MiB),
}
SUMS = "md5 sha1 sha224 sha256 sha384 sha512 sha512-256 sha3-224 sha3-256 sha3-384 sha3-512 blake2b blake2s sm3 ripemd160".split()
FIXED = {  # formats without choices: the hash and the leaf size in bytes
    "glacier": (plain, "sha256", MiB),
    "btv2": (btv2, "sha256", 16 * KiB),
    "dropbox": (dropbox, "sha256", 4 * MiB),
    "sha256tree": (sha256tree, "sha256", KiB),
    "blake3": (blake3, "blake3", KiB),
    "blake3-pairs": (blake3_pairs, "blake3", 32),
    "xet": (xet, "blake3", 1 << 63),
    "swhid": (swhid, "sha1", 1 << 63),
    "nar": (nar, "sha256", 1 << 63),
    "c4": (c4, "sha512", 1 << 63),
    **{name: (whole, name, 1 << 63) for name in [*SUMS, *CHECKSUMS]},
    "quickxor": (quickxor_text, "quickxor", 1 << 63),
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
    hash_name, salt = "sha1" if name == "git" else "sha256", b""
    if parts and parts[0] in hashes:
        hash_name = parts.pop(0)
    if parts and parts[0][:1].isdigit() and name != "git":
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
