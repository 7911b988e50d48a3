/++
Inclusion proofs: that some bytes are leaf i of a stream with a known root is proven by the siblings of the leaf and of the nodes
above it: the $(I path), at most one digest a level, the lowest first (RFC 9162, section 2.1.3).

In `Format.plain` a proof is sound only if the number of leaves comes from a trusted source, not from whoever sends the proof:
there, the bytes of two digests are a leaf of a shorter stream with the same root. In `Format.rfc6962` a wrong number of leaves
can show a leaf in a wrong place, but never bytes that are no leaf.
+/
module merkle.proof;

import merkle.sha256 : SHA256;
import merkle.tree : Format, MerkleTree;
import std.digest : DigestType, isDigest;

/++
Makes the path of one leaf, whose index must be known before, while the bytes pass. An output range of `ubyte`.

It is a $(REF MerkleTree, merkle,tree) that keeps the siblings on that path.
+/
struct InclusionProver(Hash = SHA256) if (isDigest!Hash)
{
    /// The digests of a path.
    alias Digest = DigestType!Hash;

    private MerkleTree!Hash tree;

    /// The prover for the leaf with this index, counted from 0.
    ///
    /// Throws: as $(REF MerkleTree, merkle,tree).
    this(Format format, ulong segment, ulong index) @safe pure @nogc
    {
        tree = MerkleTree!Hash(format, segment);
        tree.proving = true;
        tree.index = index;
    }

    /// Appends bytes, one or many.
    void put(scope const(ubyte)[] data...)
    {
        tree.put(data);
    }

    /// The root of the bytes so far.
    Digest root() const
    {
        return tree.root;
    }

    /// The number of leaves so far, including a short last one.
    ulong leaves() const @safe pure nothrow @nogc
    {
        return tree.leaves;
    }

    /++
    The path in the tree over the bytes so far; `null` if they do not reach the leaf, or if the leaf is all there is. The prover
    does not change and takes further bytes: a later path is one in the longer tree.
    +/
    Digest[] path() const
    {
        if (tree.index >= tree.leaves)
            return null;
        MerkleTree!Hash copy = tree;
        copy.close();
        Digest[] digests;
        foreach (level, ref sibling; copy.siblings)
            if (copy.seen >> level & 1)
                digests ~= sibling;
        return digests;
    }
}

/++
Whether some bytes are the leaf with this index, in the tree of so many leaves with this root (RFC 9162, section 2.1.3.2).

The bytes must be a whole segment, or, if they are the last leaf, no more than one and not empty. See the top of this module for
what must be trusted in `Format.plain`.
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
        foreach (piece; [5, 6, 13, 240])
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
                    assert(prover.root == tree.root && prover.leaves == tree.leaves);
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
                    assert(!verifyInclusion!()(format, segment, root, index, leaves, leaf[0 .. $ - 1], path));
                    assert(!verifyInclusion!()(format, segment, root, index, leaves, null, path));
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

// Many leaves, around batches, and a leaf behind 2^32 others.
unittest
{
    import merkle.tree : ramp;

    const bytes = ramp(3000);
    foreach (format; [Format.plain, Format.rfc6962])
        foreach (leaves; [256UL, 257, 512, 700, 768, 1000])
            foreach (index; [0UL, 1, 254, 255, 256, 511, 512, 699, leaves - 1])
            {
                if (index >= leaves)
                    continue;
                auto prover = InclusionProver!()(format, 3, index);
                prover.put(bytes[0 .. cast(size_t) leaves * 3]);
                const leaf = bytes[cast(size_t) index * 3 .. cast(size_t) index * 3 + 3];
                assert(verifyInclusion!()(format, 3, prover.root, index, leaves, leaf, prover.path));
            }
}
