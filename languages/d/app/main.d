/// The program `merkle`: prints the Merkle root of a file.
module main;

import args;
import merkle;
import rows : completeRows;
import std.exception : ErrnoException;
import std.stdio : File, stderr, stdin, stdout;

enum usage = import("usage.txt");

int main(string[] arguments)
{
    try
    {
        run(parse(arguments[1 .. $]));
        try
            stdout.flush();
        catch (ErrnoException e)
            throw new Exception("standard output: " ~ e.msg);
        return 0;
    }
    catch (UsageException e)
    {
        complain(e.msg ~ "\nTry 'merkle --help'.");
        return 2;
    }
    catch (Exception e)
    {
        complain(e.msg);
        return 1;
    }
}

void complain(string message)
{
    // Bytes as they are: a name need not be UTF-8.
    stderr.rawWrite("merkle: " ~ message ~ "\n");
}

void run(Command command)
{
    if (command.help)
        stdout.rawWrite(usage);
    else if (command.mode == "--hash-rate")
        hashRate(command.times);
    else if (command.mode !is null)
        completeRows(command.mode, stdin, stdout);
    else
        printRoot(command);
}

/// Reads to the end, whatever length single reads have: `rawRead` itself returns less only at the end.
void printRoot(Command command)
{
    import std.digest : LetterCase, toHexString;

    const named = command.path !is null && command.path != "-";
    const name = named ? command.path : "standard input";
    auto tree = MerkleTree!()(command.format, command.segment);
    try
    {
        auto file = named ? File(command.path, "rb") : stdin;
        // It begins at a multiple of 64: into others, some processors copy at a third of the speed.
        auto buffer = new ubyte[131_072 + 63];
        buffer = buffer[-cast(size_t) buffer.ptr & 63 .. $][0 .. 131_072];
        putLongLeaves(tree, file, buffer);
        // Reads of whole leaves, so that none is put together from two reads.
        if (command.segment < buffer.length)
            buffer = buffer[0 .. $ - $ % cast(size_t) command.segment];
        foreach (piece; file.byChunk(buffer))
            tree.put(piece);
    }
    catch (ErrnoException e)
        throw new Exception(name ~ ": " ~ e.msg);
    stdout.writeln(tree.root.toHexString!(LetterCase.lower));
}

/// Appends the pairs of long leaves of a regular file, from the file's offset on, and moves the offset behind them. Does nothing
/// with short leaves and with files that have no length, such as pipes.
void putLongLeaves(ref MerkleTree!() tree, ref File file, ubyte[] buffer)
{
    version (Posix)
    {
        import core.sys.posix.stdio : fseeko;
        import core.sys.posix.sys.stat : fstat, S_ISREG, stat_t;
        import core.sys.posix.unistd : lseek, pread;
        import core.stdc.stdio : SEEK_CUR, SEEK_SET;

        const segment = tree.segment;
        stat_t status;
        const offset = lseek(file.fileno, 0, SEEK_CUR);
        if (offset < 0 || segment <= buffer.length / 2 || fstat(file.fileno, &status) != 0 || !S_ISREG(status.st_mode)
                || status.st_size <= offset)
            return;
        const size = (status.st_size - offset) / segment / 2 * 2 * segment;
        void read(ulong at, scope ubyte[] into)
        {
            while (into.length > 0)
            {
                const got = pread(file.fileno, into.ptr, into.length, cast(long) at);
                if (got < 0)
                    throw new ErrnoException("read error");
                if (got == 0)
                    throw new ErrnoException("the file became shorter while it was read", 0);
                at += got;
                into = into[got .. $];
            }
        }

        tree.putFrom(&read, offset, size, buffer);
        if (fseeko(file.getFP, cast(long)(offset + size), SEEK_SET) != 0)
            throw new ErrnoException("seek error");
    }
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
    stdout.writefln!"%.6f s %.3f MH/s"(seconds, count / seconds / 1e6);
}
