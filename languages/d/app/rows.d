/// Vector rows: format, input, length, root, source, with tabs between them.
module rows;

import merkle;
import std.array : join, split;
import std.conv : text, to;
import std.digest : DigestType, LetterCase, toHexString;
import std.digest.md : MD5;
import std.digest.sha : SHA1, SHA224, SHA384, SHA512, SHA512_256;
import std.exception : enforce;
import std.stdio : File;

/// Copies comments, and completes rows with the root that is computed here. Anything else is an error.
void completeRows(File input, File output)
{
    size_t number;
    foreach (line; input.byLineCopy)
    {
        number++;
        if (line.length > 0 && line[0] == '#')
        {
            output.writeln(line);
            continue;
        }
        try
        {
            auto columns = line.split('\t');
            enforce(columns.length == 5, "not five columns");
            columns[3] = rootOf(columns[0], columns[1], columns[2].number);
            output.writeln(columns.join('\t'));
        }
        catch (Exception e)
            throw new Exception(text("row ", number, ": ", e.msg));
    }
}

private:

string rootOf(string name, string input, ulong length)
{
    const parts = name.split(':');
    enforce(parts.length == 3, "not a format of this program: " ~ name);
    enforce(parts[0] == "plain" || parts[0] == "rfc6962", "not a format of this program: " ~ name);
    const format = parts[0] == "plain" ? Format.plain : Format.rfc6962;
    const segment = parts[2].bytes;
    enforce(segment > 0, "a segment has 1 byte or more");

    switch (parts[1])
    {
        static foreach (hash; [
                "sha256:SHA256", "md5:MD5", "sha1:SHA1", "sha224:SHA224", "sha384:SHA384", "sha512:SHA512",
                "sha512-256:SHA512_256"
            ])
        {
    case hash.split(':')[0]:
            return rootOf(mixin("MerkleTree!", hash.split(':')[1])(format, segment), input, length);
        }
    default:
        throw new Exception("not a hash of this program: " ~ parts[1]);
    }
}

string rootOf(Tree)(Tree tree, string input, ulong length)
{
    const bytes = pattern(input);
    while (tree.length < length)
    {
        const rest = length - tree.length;
        tree.put(rest < bytes.length ? bytes[0 .. cast(size_t) rest] : bytes);
    }
    return tree.root.toHexString!(LetterCase.lower).idup;
}

/// The bytes with this name, from the first on: mod251 repeats after 251 bytes, pat after 65,536.
ubyte[] pattern(string name)
{
    enforce(name == "mod251" || name == "pat", "unknown input: " ~ name);
    auto bytes = new ubyte[name == "mod251" ? 251 * 256 : 65_536];
    foreach (i, ref b; bytes)
        b = cast(ubyte)(name == "mod251" ? i % 251 : i * 131 + (i >> 8) * 17);
    return bytes;
}

/// A size as in format strings: 64, 4KiB, 8MiB, 1GiB.
ulong bytes(string size)
{
    import std.algorithm : endsWith;

    foreach (i, unit; ["KiB", "MiB", "GiB"])
        if (size.endsWith(unit))
            return size[0 .. $ - 3].number << 10 * (i + 1);
    return size.number;
}

ulong number(string digits)
{
    import std.algorithm : all;
    import std.ascii : isDigit;

    enforce(digits.length > 0 && digits.length < 16 && digits.all!isDigit, "not a number: " ~ digits);
    return digits.to!ulong;
}
