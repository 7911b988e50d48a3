/// Rows of test vectors: columns with tabs between them, completed with what is computed here.
module rows;

import args : number;
import merkle;
import std.algorithm : all, map;
import std.array : array, join, split;
import std.conv : text;
import std.digest : DigestType, LetterCase, toHexString;
import std.digest.md : MD5;
import std.digest.sha : SHA1, SHA224, SHA384, SHA512, SHA512_256;
import std.exception : enforce;
import std.meta : AliasSeq;
import std.stdio : File;

/// Copies comments, and completes rows, up to the first that cannot be completed.
void completeRows(string mode, File input, File output)
{
    size_t row;
    foreach (line; input.byLineCopy)
    {
        row++;
        if (line.length > 0 && line[0] == '#')
        {
            output.writeln(line);
            continue;
        }
        try
        {
            auto columns = line.split('\t');
            const expected = mode == "--rows" ? 5 : mode == "--prove" ? 7 : 8;
            enforce(columns.length == expected, text(columns.length, " columns, expected ", expected));
            if (mode == "--rows")
                completeRoot(columns);
            else if (mode == "--prove")
                completeProof(columns);
            else
                completeVerdict(columns);
            output.writeln(columns.join('\t'));
        }
        catch (Exception e)
            throw new Exception(text("row ", row, ": ", e.msg));
    }
}

private:

/// format input length root source
void completeRoot(string[] columns)
{
    withShape!((shape) {
        auto tree = MerkleTree!(shape.Hash)(shape.format, shape.segment);
        feed(tree, columns[1], columns[2]);
        columns[3] = tree.root.hex;
    })(columns[0]);
}

/// format input length index root path source
void completeProof(string[] columns)
{
    withShape!((shape) {
        const index = number(columns[3], 0);
        auto prover = InclusionProver!(shape.Hash)(shape.format, shape.segment, index);
        feed(prover, columns[1], columns[2]);
        enforce(index < prover.leaves, text("there is no leaf ", index));
        columns[4] = prover.root.hex;
        columns[5] = prover.path.map!(digest => digest.hex).join(',');
        if (columns[5] == "")
            columns[5] = "-";
    })(columns[0]);
}

/// format leaves index leaf root path verdict source
void completeVerdict(string[] columns)
{
    withShape!((shape) {
        alias Digest = DigestType!(shape.Hash);
        const leaves = number(columns[1], 0), index = number(columns[2], 0);
        const leaf = columns[3].bytes, root = columns[4].bytes;
        const path = columns[5] == "-" ? null : columns[5].split(',').map!bytes.array;
        // Digests of another length are in no proof.
        bool valid = root.length == Digest.sizeof && path.all!(digest => digest.length == Digest.sizeof);
        if (valid)
        {
            const Digest expected = root[0 .. Digest.sizeof];
            const digests = path.map!((digest) { Digest d = digest[0 .. Digest.sizeof]; return d; }).array;
            valid = verifyInclusion!(shape.Hash)(shape.format, shape.segment, expected, index, leaves, leaf, digests);
        }
        columns[6] = valid ? "valid" : "invalid";
    })(columns[0]);
}

struct Shape(H)
{
    alias Hash = H;
    Format format;
    ulong segment;
}

/// Calls a function with the shape of a format string: rfc6962:sha256:64KiB.
void withShape(alias action)(string name)
{
    const parts = name.split(':');
    enforce(parts.length == 3, "'" ~ name ~ "': expected FORMAT:HASH:SEGMENT");
    enforce(parts[0] == "plain" || parts[0] == "rfc6962", "unknown format '" ~ parts[0] ~ "'");
    const format = parts[0] == "plain" ? Format.plain : Format.rfc6962;
    const segment = parts[2].segmentSize;

    static immutable names = ["sha256", "md5", "sha1", "sha224", "sha384", "sha512", "sha512-256"];
    static foreach (i, Hash; AliasSeq!(SHA256, MD5, SHA1, SHA224, SHA384, SHA512, SHA512_256))
        if (parts[1] == names[i])
            return action(Shape!Hash(format, segment));
    throw new Exception("unknown hash '" ~ parts[1] ~ "'");
}

void feed(Tree)(ref Tree tree, string input, string length)
{
    const bytes = pattern(input);
    for (ulong rest = number(length, 0); rest > 0;)
    {
        const now = rest < bytes.length ? cast(size_t) rest : bytes.length;
        tree.put(bytes[0 .. now]);
        rest -= now;
    }
}

/// The bytes with this name, from the first on: mod251 repeats after 251 bytes, pat after 65,536.
ubyte[] pattern(string name)
{
    enforce(name == "mod251" || name == "pat", "unknown input '" ~ name ~ "'");
    auto bytes = new ubyte[name == "mod251" ? 251 * 256 : 65_536];
    foreach (i, ref b; bytes)
        b = cast(ubyte)(name == "mod251" ? i % 251 : i * 131 + (i >> 8) * 17);
    return bytes;
}

/// A size as in format strings: 64, 4KiB, 8MiB, 1GiB, 1TiB.
ulong segmentSize(string size)
{
    import std.algorithm : endsWith;

    foreach (i, unit; ["KiB", "MiB", "GiB", "TiB"])
        if (size.endsWith(unit))
        {
            const count = number(size[0 .. $ - 3], 1), shift = 10 * (i + 1);
            enforce(count <= maxSegment >> shift, "'" ~ size ~ "' is more than 1TiB");
            return count << shift;
        }
    return number(size, 1);
}

string hex(size_t n)(const ubyte[n] digest)
{
    return digest.toHexString!(LetterCase.lower).idup;
}

/// Decodes lowercase hex; "-" is no bytes.
ubyte[] bytes(string hex)
{
    import std.algorithm : canFind;
    import std.conv : to;
    import std.range : chunks;
    import std.string : representation;

    if (hex == "-")
        return null;
    enforce(hex.length > 0 && hex.length % 2 == 0 && hex.representation.all!(c => "0123456789abcdef".representation.canFind(c)),
        "'" ~ hex ~ "' is not lowercase hex");
    auto bytes = new ubyte[hex.length / 2];
    foreach (i, ref b; bytes)
        b = hex[2 * i .. 2 * i + 2].to!ubyte(16);
    return bytes;
}
