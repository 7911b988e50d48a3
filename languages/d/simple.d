/++
Prints the Merkle root of a file: ldc2 -O3 simple.d && ./simple SEGMENT FILE

The whole idea of this package in one file, with the SHA-256 of `std.digest`. A leaf is the hash of one segment, a node the hash
of its two children's digests, and neither has a prefix (the format plain).
+/
module simple;

import std.conv : to;
import std.digest : LetterCase, toHexString;
import std.digest.sha : sha256Of;
import std.exception : enforce, ErrnoException, ifThrown;
import std.stdio : File, stderr, stdout;

alias Digest = ubyte[32];

/// The roots of perfect subtrees, at most one of each height: the binary digits of the number of leaves.
struct Tree
{
    private Digest[64] subtrees; // [k] is the root of 2^k leaves, where bit k of `leaves` is set
    private ulong leaves;

    /// Appends a leaf as one is added to a binary number: each carry joins two subtrees of equal height.
    void put(Digest leaf)
    {
        uint level;
        for (; leaves >> level & 1; level++)
            leaf = sha256Of(subtrees[level], leaf);
        subtrees[level] = leaf;
        leaves++;
    }

    /// Joins the subtrees along the right edge, the smallest first. A tree without leaves has the hash of no bytes.
    Digest root() const
    {
        Digest root = sha256Of();
        bool found;
        foreach (level, ref left; subtrees)
            if (leaves >> level & 1)
            {
                root = found ? sha256Of(left, root) : left;
                found = true;
            }
        return root;
    }
}

/// Reads to the end, one segment at a time. Only the last one may be shorter.
Digest rootOf(File file, size_t segment)
{
    Tree tree;
    foreach (leaf; file.byChunk(segment))
        tree.put(sha256Of(leaf));
    return tree.root;
}

int main(string[] arguments)
{
    try
    {
        enforce(arguments.length == 3, "usage: simple SEGMENT FILE");
        const segment = arguments[1].to!size_t;
        enforce(segment > 0 && segment <= 1UL << 40, "a segment has 1 to 2^40 bytes");
        const name = arguments[2];
        const root = rootOf(File(name, "rb"), segment).ifThrown!ErrnoException(e => throw new Exception(name ~ ": " ~ e.msg));
        stdout.writeln(root.toHexString!(LetterCase.lower));
        stdout.flush();
        return 0;
    }
    catch (Exception e)
    {
        stderr.writeln("simple: ", e.msg);
        return 1;
    }
}
