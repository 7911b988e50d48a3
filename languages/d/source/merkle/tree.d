/// The tree over the bytes so far.
module merkle.tree;

import merkle.sha256 : SHA256;
import std.digest : DigestType, isDigest;
import std.range.primitives : isOutputRange;

/// What is hashed for a leaf and for a node.
enum Format
{
    /++
    H(bytes) and H(left, right). A node can be passed off as a leaf of a shorter stream, so roots and proofs tell streams apart
    only where the length is known and trusted.
    +/
    plain,
    /// H(0, bytes) and H(1, left, right), as in Certificate Transparency (RFC 6962, section 2.1).
    rfc6962,
}

/++
The Merkle tree over the bytes that are put into it: an output range of `ubyte`, and a digest in the sense of `std.digest`.

It holds one digest for each perfect subtree, at most one a level, so its size is fixed, some two kilobytes, and it
allocates nothing. It is a value: a copy goes its own way.

Params:
    Hash = any digest of `std.digest`, or `merkle.sha256.SHA256`
+/
struct MerkleTree(Hash = SHA256) if (isDigest!Hash)
{
    /// What $(LREF root) returns: `ubyte[32]` for SHA-256.
    alias Digest = DigestType!Hash;

    private enum size = Digest.sizeof;

    private Format format_;
    private ulong segment_ = 64;
    private ulong complete; // the number of leaves that are complete
    // The digests of the perfect subtrees, left to right, one for each bit that is set in that number; and room for a leaf.
    private ubyte[65 * size] stack;
    private size_t top; // the end of the last digest
    private ulong started; // the bytes of the leaf that is not complete
    private Hash leaf; // and their hash, with the prefix

    /// A tree in this format with segments of so many bytes, 1 or more. `MerkleTree.init` is plain with 64.
    this(Format format, ulong segment)
    in (segment >= 1, "a segment has 1 byte or more")
    {
        format_ = format;
        segment_ = segment;
        start();
    }

    /// Begins anew, with the same format and segment.
    void start()
    {
        complete = 0;
        top = 0;
        started = 0;
    }

    /// Adds bytes at the end of the stream, one or many.
    void put(scope const(ubyte)[] data...)
    {
        while (data.length > 0)
        {
            if (started == 0 && data.length >= segment_)
            {
                const now = cast(size_t) segment_;
                append(hashLeaf(format_, data[0 .. now]));
                data = data[now .. $];
                continue;
            }
            if (started == 0)
                startLeaf(leaf, format_);
            const missing = segment_ - started;
            const now = data.length < missing ? data.length : cast(size_t) missing;
            leaf.put(data[0 .. now]);
            started += now;
            data = data[now .. $];
            if (started == segment_)
            {
                append(leaf.finish());
                started = 0;
            }
        }
    }

    /// The root of the bytes so far. The tree does not change and takes further bytes.
    Digest root() const
    {
        if (length == 0)
            return emptyRoot();
        // From the right: the short leaf, if there is one, then each perfect subtree joined to what is right of it.
        size_t end = top;
        Digest digest;
        if (started > 0)
        {
            Hash copy = leaf;
            digest = copy.finish();
        }
        else
        {
            digest = stack[end - size .. end][0 .. size];
            end -= size;
        }
        for (; end > 0; end -= size)
        {
            const Digest left = stack[end - size .. end][0 .. size];
            digest = hashNode(format_, left, digest);
        }
        return digest;
    }

    /// The root, after which the tree begins anew: the `finish` of `std.digest`.
    Digest finish()
    {
        const digest = root;
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

    /// The number of leaves, the last one included if it is short.
    ulong leaves() const @safe pure nothrow @nogc
    {
        return complete + (started > 0);
    }

    /// The number of bytes.
    ulong length() const @safe pure nothrow @nogc
    {
        return complete * segment_ + started;
    }

    /++
    The digests of the perfect subtrees over the complete leaves, from the left, which is the largest: one for each bit
    that is set in their number.
    +/
    Digest[] subtrees() const @safe pure nothrow
    {
        auto digests = new Digest[top / size];
        foreach (i, ref digest; digests)
            digest = stack[i * size .. (i + 1) * size];
        return digests;
    }

    // A leaf, and then the pairs that it completes: adding one to the number of leaves carries once for each of them.
    private void append(const Digest digest)
    {
        stack[top .. top + size] = digest[];
        top += size;
        complete++;
        for (ulong carry = complete; carry % 2 == 0; carry /= 2)
        {
            const node = hashPair(format_, stack[top - 2 * size .. top]);
            stack[top - 2 * size .. top - size] = node[];
            top -= size;
        }
    }

    private static Digest emptyRoot()
    {
        Hash hash;
        hash.start();
        return hash.finish();
    }

    private static void startLeaf(ref Hash hash, Format format)
    {
        hash.start();
        if (format == Format.rfc6962)
            hash.put(ubyte(0));
    }

    private static Digest hashPair(Format format, scope const(ubyte)[] pair)
    {
        Hash hash;
        hash.start();
        if (format == Format.rfc6962)
            hash.put(ubyte(1));
        hash.put(pair);
        return hash.finish();
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
        return hashPair(format, pair[]);
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
    assert(tree.leaves == 2 && tree.subtrees.length == 1);
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

        alias Tree = MerkleTree!Hash;
        static DigestType!Hash subtree(Format format, const(ubyte)[][] leaves)
        {
            if (leaves.length == 1)
                return Tree.hashLeaf(format, leaves[0]);
            size_t k = 1;
            while (2 * k < leaves.length)
                k *= 2;
            return Tree.hashNode(format, subtree(format, leaves[0 .. k]), subtree(format, leaves[k .. $]));
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
    import std.digest.sha : SHA1;
    import std.meta : AliasSeq;
    import std.range : chunks;

    const bytes = ramp(1000);
    foreach (Hash; AliasSeq!(SHA256, SHA1))
        foreach (format; [Format.plain, Format.rfc6962])
            foreach (segment; [1, 2, 3, 10, 63, 64, 65])
                foreach (length; 0 .. 14 * segment + 2)
                {
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

unittest
{
    import std.digest : toHexString, LetterCase;

    MerkleTree!() tree;
    const zeros = new ubyte[4_194_336];
    tree.put(zeros);
    assert(tree.root.toHexString!(LetterCase.lower) == "e9683665a90bd70aabd7705cba57c2be2a4e913a0ca1a14d765497112c178120");

    // The root at any moment, and past 2^32 leaves: the number of leaves is set, since hashing as many takes too long.
    const bytes = ramp(500);
    foreach (length; 0 .. bytes.length)
    {
        if (length == 0)
            tree = MerkleTree!()(Format.rfc6962, 9);
        else
            tree.put(bytes[length - 1]);
        assert(tree.root == definition!SHA256(Format.rfc6962, 9, bytes[0 .. length]));
    }
    tree = MerkleTree!()(Format.plain, 1);
    tree.complete = (1UL << 33) - 1;
    tree.top = 33 * 32;
    tree.put(0);
    assert(tree.leaves == 1UL << 33 && tree.subtrees.length == 1);
}

// The tree allocates nothing and is as safe and pure as its hash.
@safe pure nothrow @nogc unittest
{
    auto tree = MerkleTree!()(Format.plain, 3);
    ubyte[7] bytes;
    tree.put(bytes[]);
    assert(tree.root == tree.finish());
}
