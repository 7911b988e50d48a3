/// The tree over the bytes so far.
module merkle.tree;

import merkle.sha256 : SHA256;
import std.digest : DigestType, isDigest;
import std.range.primitives : isOutputRange;

/// What is hashed for a leaf and for a node.
enum Format
{
    /++
    H(bytes) and H(left, right). A node can be passed off as a leaf of a shorter stream, so roots and proofs distinguish streams
    only if the length is known and trusted.
    +/
    plain,
    /// H(0, bytes) and H(1, left, right), as in Certificate Transparency (RFC 6962, section 2.1).
    rfc6962,
}

/// The size of the largest segment in bytes.
enum ulong maxSegment = 1UL << 40;

/++
The Merkle tree over the bytes that are put into it: an output range of `ubyte`, and a digest in the sense of `std.digest`.

It holds the digests of at most 255 leaves, and one digest for each larger perfect subtree, so its size is fixed, some twelve
kilobytes, and it allocates nothing. It is a value: a copy has a life of its own.

Params:
    Hash = any digest of `std.digest`, or `merkle.sha256.SHA256`
+/
struct MerkleTree(Hash = SHA256) if (isDigest!Hash)
{
    /// What $(LREF root) returns: `ubyte[32]` for SHA-256.
    alias Digest = DigestType!Hash;

    private enum size = Digest.sizeof;
    private enum batchLevel = 8;
    private enum batchSize = 1 << batchLevel; // the digests of so many leaves are joined together
    private enum levels = 64; // leaves are counted in 64 bits

    private Format format_;
    private ulong segment_ = 64;
    private ulong joined; // leaves under the frontier: a multiple of batchSize
    private ubyte[levels * size] frontier; // the k-th is set where bit k of joined is: the digest of 2^k leaves
    private ubyte[batchSize * size] batch; // digests of the leaves after the first `joined`
    private size_t waiting; // how many: below batchSize
    private ulong started; // the bytes of the incomplete leaf
    private Hash leaf; // and their hash, with the prefix
    // For InclusionProver:
    package bool proving; // whether siblings are kept
    package ulong index; // of the leaf to prove
    package ulong seen; // bit k: siblings[k] is set
    package Digest[levels] siblings; // [k]: the sibling of the node of 2^k leaves over the leaf

    /// A tree in this format with segments of so many bytes. `MerkleTree.init` is plain with 64.
    ///
    /// Throws: an `Exception`, in every build mode, unless the segment is 1 to $(LREF maxSegment).
    this(Format format, ulong segment) @safe pure @nogc
    {
        static immutable exception = new Exception("a segment has 1 to 2^40 bytes");
        if (segment < 1 || segment > maxSegment)
            throw (() @trusted => cast(Exception) exception)();
        format_ = format;
        segment_ = segment;
    }

    /// Removes all bytes; format and segment stay.
    void start()
    {
        joined = 0;
        waiting = 0;
        started = 0;
        seen = 0;
    }

    /// Appends bytes, one or many.
    void put(scope const(ubyte)[] data...)
    {
        while (data.length > 0)
            data = data[(started == 0 && data.length >= segment_ ? putLeaves(data) : putPart(data)) .. $];
    }

    // Hashes whole leaves where they lie, as many as the batch has room for; returns their bytes.
    private size_t putLeaves(scope const(ubyte)[] data)
    {
        const segment = cast(size_t) segment_;
        size_t count = data.length / segment;
        if (count > batchSize - waiting)
            count = batchSize - waiting;
        hashMany(leafPrefix, data[0 .. count * segment], segment, batch[waiting * size .. (waiting + count) * size]);
        pushed(count);
        return count * segment;
    }

    // Hashes a part of a leaf, up to its end; returns the bytes of that part.
    private size_t putPart(scope const(ubyte)[] data)
    {
        if (started == 0)
            startLeaf(leaf, format_);
        const missing = segment_ - started;
        const now = data.length < missing ? data.length : cast(size_t) missing;
        leaf.put(data[0 .. now]);
        started += now;
        if (started == segment_)
        {
            batch[waiting * size .. (waiting + 1) * size] = leaf.finish();
            started = 0;
            pushed(1);
        }
        return now;
    }

    /++
    Appends so many bytes of a source that can be read at any offset: `read(offset, buffer)` fills the buffer or throws, after
    which the tree is to be started anew. Throws if the buffer has less than 128 bytes, before anything is read.

    Where two leaves do not fit into the buffer and the hash has `putTwo`, two leaves are read and hashed
    side by side, which takes less time than $(LREF put).
    +/
    void putFrom(Read)(scope Read read, ulong offset, ulong count, scope ubyte[] buffer)
    {
        if (buffer.length < 128)
            throw new Exception("the buffer has less than 128 bytes");
        const half = buffer.length / 2 / 64 * 64;
        while (count > 0)
        {
            static if (__traits(hasMember, Hash, "putTwo"))
                if (started == 0 && segment_ > half && count / 2 >= segment_)
                {
                    Hash[2] two;
                    foreach (ref hash; two)
                        startLeaf(hash, format_);
                    for (ulong at = 0; at < segment_;)
                    {
                        const piece = segment_ - at < half ? cast(size_t)(segment_ - at) : half;
                        read(offset + at, buffer[0 .. piece]);
                        read(offset + segment_ + at, buffer[half .. half + piece]);
                        Hash.putTwo(two, buffer[0 .. piece], buffer[half .. half + piece]);
                        at += piece;
                    }
                    foreach (ref hash; two)
                    {
                        batch[waiting * size .. (waiting + 1) * size] = hash.finish();
                        pushed(1);
                    }
                    offset += 2 * segment_;
                    count -= 2 * segment_;
                    continue;
                }
            // Up to the end of a leaf that has begun; else whole leaves, so that none is put together from two reads.
            ulong now = buffer.length;
            if (started > 0 && segment_ - started < now)
                now = segment_ - started;
            else if (started == 0 && segment_ < now)
                now -= now % segment_;
            if (count < now)
                now = count;
            auto piece = buffer[0 .. cast(size_t) now];
            read(offset, piece);
            put(piece);
            offset += now;
            count -= now;
        }
    }

    /// The root of the bytes so far. The tree does not change and takes further bytes.
    Digest root() const
    {
        MerkleTree copy = this;
        copy.proving = false;
        return copy.close();
    }

    /// The root, after which the tree is as new: the `finish` of `std.digest`.
    Digest finish()
    {
        const digest = close();
        start();
        return digest;
    }

    /// The format.
    Format format() const @safe pure nothrow @nogc
    {
        return format_;
    }

    /// The size of a segment in bytes.
    ulong segment() const @safe pure nothrow @nogc
    {
        return segment_;
    }

    /// The number of leaves, including a short last one.
    ulong leaves() const @safe pure nothrow @nogc
    {
        return joined + waiting + (started > 0);
    }

    /// The number of bytes.
    ulong length() const @safe pure nothrow @nogc
    {
        return (joined + waiting) * segment_ + started;
    }

    // Counts digests that were added to the batch.
    private void pushed(size_t count)
    {
        waiting += count;
        if (waiting == batchSize)
            joinBatch();
    }

    // Makes one digest of those of `count` leaves in the batch, level by level, and leaves it in front. A last node without a
    // neighbour moves up as it is.
    private void join(size_t count)
    {
        for (uint level = 0; count > 1; level++)
        {
            keepSibling(level, joined >> level, batch[0 .. count * size]);
            const pairs = count / 2;
            hashMany(nodePrefix, batch[0 .. 2 * pairs * size], 2 * size, batch[0 .. pairs * size]);
            if (count % 2 == 1)
            {
                const Digest last = batch[(count - 1) * size .. count * size][0 .. size];
                batch[pairs * size .. (pairs + 1) * size] = last;
            }
            count = pairs + count % 2;
        }
    }

    // Makes one digest of a full batch and adds it to the frontier, as one is added to a binary number: each carry is a node.
    private void joinBatch()
    {
        join(batchSize);
        Digest digest = batch[0 .. size];
        uint level = batchLevel;
        for (; joined >> level & 1; level++)
        {
            const Digest left = frontier[level * size .. (level + 1) * size][0 .. size];
            keepSibling(level, (joined >> level) - 1, left);
            keepSibling(level, joined >> level, digest);
            digest = hashNode(format_, left, digest);
        }
        frontier[level * size .. (level + 1) * size] = digest;
        joined += batchSize;
        waiting = 0;
    }

    // The root. Of the tree, only the siblings can be used afterwards.
    package Digest close()
    {
        if (started > 0)
            batch[waiting * size .. (waiting + 1) * size] = leaf.finish(); // there is room: a full batch never waits
        const count = waiting + (started > 0);
        join(count);
        bool edge = count > 0; // whether there is a digest of the right edge
        Digest digest = batch[0 .. size];
        // Every subtree of the frontier is larger than all to its right: those are its right sibling.
        foreach (level; batchLevel .. levels)
            if (joined >> level & 1)
            {
                const Digest left = frontier[level * size .. (level + 1) * size][0 .. size];
                if (edge)
                {
                    keepSibling(level, (joined >> level) - 1, left);
                    keepSibling(level, joined >> level, digest);
                }
                digest = edge ? hashNode(format_, left, digest) : left;
                edge = true;
            }
        return edge ? digest : emptyRoot();
    }

    // Keeps the sibling on this level if it is among these nodes, of which `first` is the first. Every node that is computed is
    // passed to this function once.
    //
    // Node n of level k is over the leaves n·2^k to (n + 1)·2^k. The leaf to prove is under node index >> k, and that node's
    // sibling is the one whose number differs in the last bit.
    private void keepSibling(uint level, ulong first, scope const(ubyte)[] digests)
    {
        if (!proving)
            return;
        const sibling = index >> level ^ 1;
        if (sibling < first || sibling - first >= digests.length / size)
            return;
        const at = cast(size_t)(sibling - first) * size;
        siblings[level] = digests[at .. at + size];
        seen |= 1UL << level;
    }

    private static Digest emptyRoot()
    {
        Hash hash;
        hash.start();
        return hash.finish();
    }

    // The byte that is hashed before a leaf or a node; -1 for none.
    private int leafPrefix() const @safe pure nothrow @nogc
    {
        return format_ == Format.rfc6962 ? 0 : -1;
    }

    private int nodePrefix() const @safe pure nothrow @nogc
    {
        return format_ == Format.rfc6962 ? 1 : -1;
    }

    // The digests of messages of so many bytes that lie one after another, each after the prefix. The digests may lie over the
    // messages, from the first on, if a message is at least two digests long.
    private static void hashMany(int prefix, scope const(ubyte)[] messages, size_t length, scope ubyte[] digests)
    {
        static if (__traits(hasMember, Hash, "many"))
            Hash.many(prefix, messages, length, digests);
        else
            foreach (i; 0 .. digests.length / size)
            {
                Hash hash;
                hash.start();
                if (prefix >= 0)
                    hash.put(cast(ubyte) prefix);
                hash.put(messages[i * length .. (i + 1) * length]);
                digests[i * size .. (i + 1) * size] = hash.finish();
            }
    }

    private static void startLeaf(ref Hash hash, Format format)
    {
        hash.start();
        if (format == Format.rfc6962)
            hash.put(ubyte(0));
    }

    /// The digest of a leaf with these bytes.
    static Digest hashLeaf(Format format, scope const(ubyte)[] bytes)
    {
        Hash hash;
        startLeaf(hash, format);
        hash.put(bytes);
        return hash.finish();
    }

    /// The digest of the node over two digests.
    static Digest hashNode(Format format, const Digest left, const Digest right)
    {
        ubyte[2 * size] pair = void;
        pair[0 .. size] = left[];
        pair[size .. $] = right[];
        Digest digest;
        hashMany(format == Format.rfc6962 ? 1 : -1, pair[], pair.length, digest[]);
        return digest;
    }
}

static assert(isDigest!(MerkleTree!()));
static assert(isOutputRange!(MerkleTree!(), ubyte));

///
@safe unittest
{
    import std.algorithm : each;
    import std.digest : digest, toHexString, LetterCase;
    import std.string : representation;

    auto tree = MerkleTree!()(Format.rfc6962, 4);
    tree.put("abcdefgh".representation);
    assert(tree.leaves == 2);
    // The root at any moment, and further bytes after it.
    const before = tree.root;
    "ijklmnopqr".representation.each!(b => tree.put(b));
    assert(tree.root.toHexString!(LetterCase.lower) == "1b74633241a74d51e2843cff6143f6d31c9dcf0c41f35f0a7448696d165a5f90");
    assert(tree.root != before);

    // As a digest: plain, segments of 64 bytes.
    assert(digest!(MerkleTree!())("short") == digest!SHA256("short"));

    // With another hash.
    import std.digest.md : MD5;

    assert(digest!(MerkleTree!MD5)("short") == digest!MD5("short"));
}

version (unittest)
{
    /// RFC 6962, section 2.1: the tree over several leaves splits at the largest power of two below their number.
    DigestType!Hash definition(Hash)(Format format, size_t segment, const(ubyte)[] bytes)
    {
        import std.digest : digest;
        import std.range : chunks;
        import std.array : array;

        static DigestType!Hash hashed(Format format, ubyte prefix, const(ubyte)[] bytes)
        {
            return digest!Hash(format == Format.rfc6962 ? prefix ~ bytes : bytes);
        }

        static DigestType!Hash subtree(Format format, const(ubyte)[][] leaves)
        {
            if (leaves.length == 1)
                return hashed(format, 0, leaves[0]);
            size_t k = 1;
            while (2 * k < leaves.length)
                k *= 2;
            return hashed(format, 1, subtree(format, leaves[0 .. k]) ~ subtree(format, leaves[k .. $]));
        }

        return bytes.length == 0 ? digest!Hash("") : subtree(format, bytes.chunks(segment).array);
    }

    /// Byte i is i mod 251.
    ubyte[] ramp(size_t length)
    {
        auto bytes = new ubyte[length];
        foreach (i, ref b; bytes)
            b = cast(ubyte)(i % 251);
        return bytes;
    }
}

// Every length up to some leaves, in pieces of several sizes, with the root after each.
unittest
{
    import std.digest.sha : SHA1, Reference = SHA256;
    import std.meta : AliasSeq;
    import std.range : chunks;

    const bytes = ramp(1000);
    static foreach (Hash; AliasSeq!(SHA256, SHA1))
        foreach (format; [Format.plain, Format.rfc6962])
            foreach (segment; [1, 2, 3, 10, 63, 64, 65])
                foreach (length; 0 .. 14 * segment + 2)
                {
                    if (segment > 10 && length > segment && (length + 2) % segment > 3) // of long segments, the borders alone
                        continue;
                    static if (is(Hash == SHA256)) // what is expected, by another implementation
                        const expected = definition!Reference(format, segment, bytes[0 .. length]);
                    else
                        const expected = definition!Hash(format, segment, bytes[0 .. length]);
                    foreach (piece; [1, 7, 64, 1000])
                    {
                        auto tree = MerkleTree!Hash(format, segment);
                        foreach (part; bytes[0 .. length].chunks(piece))
                            tree.put(part);
                        assert(tree.root == expected);
                        assert(tree.root == expected);
                        assert(tree.length == length && tree.leaves == (length + segment - 1) / segment);
                        auto copy = tree;
                        copy.put(1);
                        assert(tree.finish() == expected);
                        assert(tree.length == 0 && tree.segment == segment && tree.format == format);
                    }
                }
}

// Many leaves: around one batch and several.
unittest
{
    import std.digest.sha : Reference = SHA256;
    import std.range : chunks;

    const bytes = ramp(5000);
    foreach (format; [Format.plain, Format.rfc6962])
        foreach (segment; [1, 3, 4])
            foreach (leaves; [255, 256, 257, 511, 512, 513, 767, 768, 1024, 1025])
                foreach (piece; [999, 5000])
                {
                    auto tree = MerkleTree!()(format, segment);
                    foreach (part; bytes[0 .. leaves * segment].chunks(piece))
                        tree.put(part);
                    assert(tree.root == definition!Reference(format, segment, bytes[0 .. leaves * segment]));
                }
}

// A source that is read at any offset gives the root of its bytes, after none or some others; what it throws comes through.
unittest
{
    import std.digest.sha : SHA1, Reference = SHA256;
    import std.exception : assertThrown;

    const bytes = ramp(20_000);
    ubyte[1024] buffer;
    size_t reads, failsAt;
    void read(ulong offset, scope ubyte[] into)
    {
        if (++reads == failsAt)
            throw new Exception("on fire");
        into[] = bytes[cast(size_t) offset .. cast(size_t) offset + into.length];
    }

    foreach (format; [Format.plain, Format.rfc6962])
        foreach (segment; [1, 64, 100, 511, 512, 513, 700, 1024, 3000])
            foreach (length; [0, 1, 2000, 2048, 6000, 19_999])
                foreach (before; [0, 1, 1500])
                    foreach (room; [128, 200, 1024])
                    {
                        if (before > length)
                            continue;
                        auto tree = MerkleTree!()(format, segment);
                        tree.put(bytes[0 .. before]);
                        reads = failsAt = 0;
                        tree.putFrom(&read, before, length - before, buffer[0 .. room]);
                        assert(tree.root == definition!Reference(format, segment, bytes[0 .. length]));
                        failsAt = (reads + 1) / 2;
                        if (reads == 0)
                            continue;
                        reads = 0;
                        tree.start();
                        assertThrown(tree.putFrom(&read, before, length - before, buffer[0 .. room]));
                        assertThrown(tree.putFrom(&read, before, length - before, buffer[0 .. 127]));
                    }
    auto other = MerkleTree!SHA1(Format.plain, 900);
    reads = failsAt = 0;
    other.putFrom(&read, 0, 5000, buffer[]);
    assert(other.root == definition!SHA1(Format.plain, 900, bytes[0 .. 5000]));
}

unittest
{
    import std.digest : toHexString, LetterCase;

    MerkleTree!() tree;
    const zeros = new ubyte[4_194_336];
    tree.put(zeros);
    assert(tree.root.toHexString!(LetterCase.lower) == "e9683665a90bd70aabd7705cba57c2be2a4e913a0ca1a14d765497112c178120");

    // The root at any moment.
    const bytes = ramp(500);
    foreach (length; 0 .. bytes.length)
    {
        if (length == 0)
            tree = MerkleTree!()(Format.rfc6962, 9);
        else
            tree.put(bytes[length - 1]);
        assert(tree.root == definition!SHA256(Format.rfc6962, 9, bytes[0 .. length]));
    }

    // Past 2^32 leaves: a tree just below 2^32 equal leaves is put together by hand, since hashing as many takes too long.
    foreach (format; [Format.plain, Format.rfc6962])
    {
        MerkleTree!().Digest[33] perfect = MerkleTree!().hashLeaf(format, [ubyte(0)]);
        foreach (level; 1 .. 33)
            perfect[level] = MerkleTree!().hashNode(format, perfect[level - 1], perfect[level - 1]);
        tree = MerkleTree!()(format, 1);
        tree.joined = (1UL << 32) - 256;
        foreach (level; 8 .. 32)
            tree.frontier[level * 32 .. (level + 1) * 32] = perfect[level];
        tree.put(zeros[0 .. 256]);
        assert(tree.leaves == 1UL << 32 && tree.length == 1UL << 32 && tree.root == perfect[32]);
        tree.put(zeros[0 .. 1]);
        assert(tree.root == MerkleTree!().hashNode(format, perfect[32], perfect[0]));
    }
}

// A bad segment is an exception in every build mode: -release leaves out contracts.
unittest
{
    import std.exception : assertThrown;

    assertThrown(MerkleTree!()(Format.plain, 0));
    assertThrown(MerkleTree!()(Format.plain, maxSegment + 1));
    assert(MerkleTree!()(Format.plain, maxSegment).segment == maxSegment);
}

// The tree allocates nothing and is as safe and pure as its hash.
@safe pure nothrow @nogc unittest
{
    MerkleTree!() tree;
    ubyte[700] bytes;
    tree.put(bytes[]);
    assert(tree.root == tree.finish());
}
