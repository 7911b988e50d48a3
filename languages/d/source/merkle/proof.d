/++
Inclusion proofs: that some bytes are leaf number i of a stream with a known root is shown by the digests beside the way from
the leaf up to the root: the $(I path), one digest a level at most, the lowest first.

In `Format.plain` a proof is sound only if the number of leaves is known from a trusted source, not from whoever
sends the proof: there, the bytes of two digests are a leaf of a shorter stream with the same root. In
`Format.rfc6962` a wrong number of leaves can show a leaf in a wrong place, but never bytes that are no leaf.
+/
module merkle.proof;

import merkle.sha256 : SHA256;
import merkle.tree : Format, MerkleTree;
import std.digest : DigestType, isDigest;

/++
Makes the path of one leaf, whose index is known beforehand, while the bytes pass. An output range of `ubyte`.

Cut the leaves at leaf i. To the left of it there is one neighbour of the way up for each bit that is set in i: just the
perfect subtrees over the first i leaves. To the right there is one for each bit k that is not set, over 2^k leaves, one
after another; the stream may end within one, which then stands for all of its leaves.
+/
struct InclusionProver(Hash = SHA256) if (isDigest!Hash)
{
    /// The digests of a path.
    alias Digest = DigestType!Hash;

    private ulong index;
    private MerkleTree!Hash before; // the leaves before leaf i
    private ulong passed; // the bytes of leaf i so far
    private Digest[64] neighbours; // by level, those to the right that are complete
    private ulong known; // one bit for each of them
    private MerkleTree!Hash neighbour; // the one that is read now
    private uint level; // and its level

    /// The prover for the leaf with this index, counted from 0.
    this(Format format, ulong segment, ulong index)
    {
        this.index = index;
        before = MerkleTree!Hash(format, segment);
        neighbour = before;
        toTheRight();
    }

    /// Adds bytes at the end of the stream, one or many.
    void put(scope const(ubyte)[] data...)
    {
        while (data.length > 0)
        {
            if (before.leaves < index || before.length % before.segment != 0)
                put(before, index, data);
            else if (passed < before.segment)
            {
                const missing = before.segment - passed;
                const now = data.length < missing ? data.length : cast(size_t) missing;
                passed += now;
                data = data[now .. $];
            }
            else if (neighbour.leaves < 1UL << level || neighbour.length % neighbour.segment != 0)
                put(neighbour, 1UL << level, data);
            else
            {
                neighbours[level] = neighbour.finish();
                known |= 1UL << level++;
                toTheRight();
            }
        }
    }

    /++
    The path in the tree over the bytes so far; `null` if they do not reach the leaf, or if the leaf is all there is. The prover
    does not change and takes further bytes: a later path is one in the longer tree.
    +/
    Digest[] path() const
    {
        if (passed == 0)
            return null;
        Digest[] digests;
        auto left = before.subtrees;
        foreach (k; 0 .. 64)
        {
            if (index >> k & 1)
            {
                digests ~= left[$ - 1];
                left = left[0 .. $ - 1];
            }
            else if (known >> k & 1)
                digests ~= neighbours[k];
            else if (k == level && neighbour.length > 0)
                digests ~= neighbour.root;
        }
        return digests;
    }

    // The next level at which the neighbour is to the right.
    private void toTheRight() @safe pure nothrow @nogc
    {
        while (level < 63 && index >> level & 1)
            level++;
    }

    // Moves bytes from the front of the data into a tree, until it has so many leaves.
    private static void put(ref MerkleTree!Hash tree, ulong leaves, scope ref const(ubyte)[] data)
    {
        const segment = tree.segment;
        const wanted = leaves - tree.length / segment;
        // All bytes of many leaves may be more than a ulong can count, but only as many leaves as the data can touch matter.
        const most = wanted <= data.length / segment + 1 ? wanted * segment - tree.length % segment : data.length;
        const now = most < data.length ? cast(size_t) most : data.length;
        tree.put(data[0 .. now]);
        data = data[now .. $];
    }
}

/++
Whether some bytes are the leaf with this index, in the tree of so many leaves with this root (RFC 9162, section 2.1.3.2).

The bytes must be a whole segment, or, if they are the last leaf, no more than one and not empty. See the top of this
module for what must be trusted in `Format.plain`.
+/
template verifyInclusion(Hash = SHA256) if (isDigest!Hash)
{
    ///
    bool verifyInclusion(Format format, ulong segment, const DigestType!Hash root, ulong index, ulong leaves,
            scope const(ubyte)[] bytes, scope const(DigestType!Hash)[] path)
    {
        alias Tree = MerkleTree!Hash;
        if (index >= leaves || bytes.length == 0 || bytes.length > segment)
            return false;
        if (bytes.length < segment && index + 1 < leaves)
            return false;

        auto digest = Tree.hashLeaf(format, bytes);
        // The place on a level, and the last place on it.
        for (ulong place = index, end = leaves - 1; end > 0; place /= 2, end /= 2)
        {
            if (place == end && place % 2 == 0)
                continue;
            if (path.length == 0)
                return false;
            digest = place % 2 == 0 ? Tree.hashNode(format, digest, path[0]) : Tree.hashNode(format, path[0], digest);
            path = path[1 .. $];
        }
        return path.length == 0 && digest == root;
    }
}

///
@safe unittest
{
    import std.string : representation;

    auto tree = MerkleTree!()(Format.rfc6962, 4);
    auto prover = InclusionProver!()(Format.rfc6962, 4, 2);
    tree.put("abcdefghijklmnopqr".representation);
    prover.put("abcdefghijklmnopqr".representation);
    const path = prover.path;
    assert(path.length == 3);
    assert(verifyInclusion!()(Format.rfc6962, 4, tree.root, 2, 5, "ijkl".representation, path));
    assert(!verifyInclusion!()(Format.rfc6962, 4, tree.root, 2, 5, "IJKL".representation, path));
}

// A proof of every leaf of many trees, at any moment; and whatever is changed in one makes it fail.
unittest
{
    import merkle.tree : ramp;
    import std.algorithm : map, min;
    import std.array : array;
    import std.range : chunks, iota;

    enum segment = 6;
    const bytes = ramp(240);
    foreach (format; [Format.plain, Format.rfc6962])
        foreach (piece; [1, 5, 6, 13, 240])
        {
            MerkleTree!() tree = MerkleTree!()(format, segment);
            auto provers = iota(ulong(0), ulong(40)).map!(i => InclusionProver!()(format, segment, i)).array;
            size_t length;
            foreach (part; bytes.chunks(piece))
            {
                tree.put(part);
                length += part.length;
                foreach (index, ref prover; provers)
                {
                    prover.put(part);
                    const path = prover.path;
                    if (length <= index * segment)
                    {
                        assert(path is null);
                        continue;
                    }
                    const leaf = bytes[index * segment .. min(length, (index + 1) * segment)];
                    const root = tree.root;
                    const leaves = tree.leaves;
                    assert(verifyInclusion!()(format, segment, root, index, leaves, leaf, path));
                    assert(path.length <= 6);
                    auto wrong = leaf.dup;
                    wrong[$ / 2] ^= 4;
                    assert(!verifyInclusion!()(format, segment, root, index, leaves, wrong, path));
                    assert(!verifyInclusion!()(format, segment, root, index, leaves, leaf ~ ubyte(0), path));
                    assert(!verifyInclusion!()(format, segment, root, index, leaves, leaf, path ~ root));
                    assert(!verifyInclusion!()(format, segment, root, leaves, leaves, leaf, path));
                    assert(path.length == 0 || !verifyInclusion!()(format, segment, root, index, leaves, leaf, path[1 .. $]));
                    assert(path.length == 0 || !verifyInclusion!()(format, segment, root, index ^ 1, leaves, leaf, path));
                }
            }
        }
}

// Why plain needs a trusted length: two digests shown as a leaf.
unittest
{
    foreach (format; [Format.plain, Format.rfc6962])
    {
        auto tree = MerkleTree!()(format, 64);
        ubyte[64] bytes = 1;
        const leaf = MerkleTree!().hashLeaf(format, bytes[]);
        tree.put(bytes[]);
        tree.put(bytes[]);
        assert(verifyInclusion!()(format, 64, tree.root, 0, 1, leaf[] ~ leaf[], null) == (format == Format.plain));
    }
}
