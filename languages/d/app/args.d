/// The command line: ../../contract.sh has its grammar. (`std.getopt` has another one: it takes abbreviations.)
module args;

import merkle;
import std.exception : basicExceptionCtors;

/// The message of a bad command line.
class UsageException : Exception
{
    mixin basicExceptionCtors;
}

/// What the command line asks for.
struct Command
{
    Format format = Format.plain;
    ulong segment = 64;
    string shaped; /// --format or --segment, if one was given
    string mode; /// --rows, --prove, --verify or --hash-rate; null for the root of a file
    ulong times; /// of --hash-rate
    string path; /// null or "-" for standard input
    bool help;
}

/// Reads the command line.
Command parse(string[] arguments)
{
    import std.algorithm : findSplit, startsWith;

    Command command;
    bool options = true;
    while (arguments.length > 0 && !command.help)
    {
        const argument = arguments[0];
        arguments = arguments[1 .. $];
        if (options && argument == "--")
            options = false;
        else if (options && argument.length > 1 && argument[0] == '-')
        {
            const parts = argument.findSplit("=");
            const name = parts[0];
            switch (name)
            {
            case "--format", "--segment", "--hash-rate":
                string value = parts[2];
                if (!parts)
                {
                    if (arguments.length == 0)
                        throw new UsageException(name ~ ": its value is missing");
                    value = arguments[0];
                    arguments = arguments[1 .. $];
                }
                command.set(name, value);
                break;
            case "--rows", "--prove", "--verify", "--help":
                if (parts)
                    throw new UsageException(name ~ " takes no value");
                if (name == "--help")
                    command.help = true;
                else
                    command.setMode(name);
                break;
            default:
                throw new UsageException("unknown option '" ~ argument ~ "'");
            }
        }
        else if (command.path !is null)
            throw new UsageException("one FILE is expected, '" ~ argument ~ "' is one more");
        else
            command.path = argument;
    }
    if (command.mode !is null && !command.help && command.path !is null)
        throw new UsageException(command.mode ~ " takes no FILE: '" ~ command.path ~ "'");
    if (command.mode !is null && !command.help && command.shaped !is null)
        throw new UsageException(command.mode ~ " takes no " ~ command.shaped);
    return command;
}

private void set(ref Command command, string name, string value)
{
    if (name == "--hash-rate")
        command.setMode(name);
    else
        command.shaped = name;
    if (name == "--format")
    {
        if (value != "plain" && value != "rfc6962")
            throw new UsageException(name ~ ": '" ~ value ~ "' is neither plain nor rfc6962");
        command.format = value == "plain" ? Format.plain : Format.rfc6962;
        return;
    }
    ulong read;
    try
        read = number(value, 1);
    catch (Exception e)
        throw new UsageException(name ~ ": " ~ e.msg);
    (name == "--segment" ? command.segment : command.times) = read;
}

private void setMode(ref Command command, string mode)
{
    if (command.mode !is null && command.mode != mode)
        throw new UsageException(command.mode ~ " and " ~ mode ~ " exclude each other");
    command.mode = mode;
}

/// Reads decimal digits, without a leading zero, as a number from `least` to 2^40.
ulong number(string text, ulong least)
{
    import std.algorithm : all;
    import std.ascii : isDigit;
    import std.conv : to, text_ = text;
    import std.utf : byChar;

    const digits = text.length > 0 && text.length < 14 && text.byChar.all!isDigit && (text[0] != '0' || text.length == 1);
    const value = digits ? text.to!ulong : 0;
    if (!digits || value < least || value > maxSegment)
        throw new Exception(text_("'", text, "' is not a number from ", least, " to ", maxSegment));
    return value;
}
