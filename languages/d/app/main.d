/// The program `merkle`: prints the Merkle root of a file.
module main;

import merkle;
import rows : completeRows;
import std.conv : ConvException, to;
import std.exception : ErrnoException;
import std.getopt : config, getopt, GetOptException;
import std.stdio : File, stderr, stdin, stdout;

enum usage = `usage: merkle [--format plain|rfc6962] [--segment BYTES] [FILE]
       merkle --rows
       merkle --hash-rate COUNT

Prints the Merkle root of FILE, or of standard input, in hexadecimal.

  --format     plain: leaves H(bytes), nodes H(left, right)   (default)
               rfc6962: leaves H(0, bytes), nodes H(1, left, right)
  --segment    bytes in a leaf, 1 or more; 64 by default
  --rows       reads test vectors from standard input and writes them with the roots
  --hash-rate  hashes the string test.dat COUNT times and prints seconds and MH/s
`;

int main(string[] arguments)
{
    try
    {
        run(arguments);
        stdout.flush();
        return 0;
    }
    catch (GetOptException e)
    {
        stderr.writeln("merkle: ", e.msg);
        stderr.write(usage);
        return 2;
    }
    catch (Exception e)
    {
        stderr.writeln("merkle: ", e.msg);
        return 1;
    }
}

void run(string[] arguments)
{
    auto format = "plain", segment = "64";
    string count;
    bool rows, help;
    getopt(arguments, config.caseSensitive, "format", &format, "segment", &segment, "rows", &rows,
            "hash-rate", &count, "help|h", &help);
    const files = arguments[1 .. $];
    if (files.length > 1)
        throw new GetOptException("a second file: " ~ files[1]);

    if (help)
        stdout.write(usage);
    else if (rows)
        completeRows(stdin, stdout);
    else if (count !is null)
        hashRate(count.toPositive);
    else
    {
        auto tree = MerkleTree!()(format.toFormat, segment.toPositive);
        printRoot(tree, files.length == 1 ? files[0] : null);
    }
}

Format toFormat(string name)
{
    switch (name)
    {
    case "plain":
        return Format.plain;
    case "rfc6962":
        return Format.rfc6962;
    default:
        throw new GetOptException("unknown format: " ~ name);
    }
}

ulong toPositive(string text)
{
    // `to` accepts a sign, and nothing else but digits.
    try
        if (text.length > 0 && text[0] != '+' && text.to!ulong > 0)
            return text.to!ulong;
    catch (ConvException)
    {
    }
    throw new GetOptException("not a number of 1 or more: " ~ text);
}

/// Reads to the end, whatever length single reads have: `rawRead` itself returns less only at the end.
void printRoot(ref MerkleTree!() tree, string name)
{
    import std.digest : LetterCase, toHexString;

    auto file = name is null ? stdin : File(name, "rb");
    auto buffer = new ubyte[65_536];
    try
        foreach (piece; file.byChunk(buffer))
            tree.put(piece);
    catch (ErrnoException e)
        throw new Exception((name is null ? "standard input" : name) ~ ": " ~ e.msg);
    stdout.writeln(tree.root.toHexString!(LetterCase.lower));
}

void hashRate(ulong count)
{
    import core.time : MonoTime;
    import core.volatile : volatileLoad;
    import std.digest : digest;

    // Read anew each time, so that the compiler cannot hash it once for all.
    ubyte[8] text = ['t', 'e', 's', 't', '.', 'd', 'a', 't'];
    ubyte sum;
    const before = MonoTime.currTime;
    foreach (_; 0 .. count)
    {
        text[0] = volatileLoad(&text[0]);
        sum ^= digest!SHA256(text[])[0];
    }
    const seconds = (MonoTime.currTime - before).total!"nsecs" / 1e9;
    volatileLoad(&sum);
    stdout.writefln!"%.3f s, %.3f MH/s"(seconds, count / seconds / 1e6);
}
