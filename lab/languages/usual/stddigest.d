/// The usual way in D: a digest at a time by `std.digest`.
import std.digest.sha : SHA256, sha256Of, toHexString, LetterCase;
import std.conv : to;
import std.stdio : File, writeln;

void main(string[] arguments)
{
    const segment = arguments[1].to!size_t;
    ubyte[32][64] stack;
    ulong leaves;
    auto buffer = new ubyte[segment];
    foreach (leaf; File(arguments[2], "rb").byChunk(buffer))
    {
        auto digest = sha256Of(leaf);
        uint level;
        for (; leaves >> level & 1; level++)
            digest = sha256Of(stack[level], digest);
        stack[level] = digest;
        leaves++;
    }
    auto root = sha256Of();
    bool begun;
    foreach (level, left; stack)
        if (leaves >> level & 1)
        {
            root = begun ? sha256Of(left, root) : left;
            begun = true;
        }
    writeln(root.toHexString!(LetterCase.lower));
}
