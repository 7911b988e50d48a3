//! The command line: every flag, and the help that teaches it.

mod groups;
mod kept;
mod merklize;
mod proofs;
mod repair;

pub use groups::{Choices, Directories, Help, Io, Reading, Symlinks};
pub use kept::{Diff, Keep, Verify};
pub use merklize::Merklize;
pub use proofs::{CheckProof, Join, Prove};
pub use repair::Repair;

use crate::exit::{Exit, usage};
use clap::{ArgAction, Command as Clap, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use mksum_cli::sum::End;
use std::io::{self, Write};
use std::path::PathBuf;

/// Examples and exit codes: the end of `--help`, and a part of the man page.
pub const EXAMPLES: &str = "\
Examples:
  mksum big.iso                        print the file's root
  mksum *.iso > SUMS; mksum -c SUMS    write roots, and check them later
  mksum -r photos > SUMS               every file in a directory
  curl -s URL | mksum -f blake3        a pipe; the same root as b3sum
  mksum -f btv2 -f s3:md5:8MiB big     several formats, one read
  mksum --expect ROOT big.iso          compare with a root from a web page
  mksum -f s3:md5 --expect ETAG big    ... whose part size nobody remembers
  mksum -c -f plain:sha256:1TiB SUMS   check what sha256sum wrote
  mksum -g big.iso | dot -Tpng -o t.png
                                       draw the tree
  mksum keep big.iso                   keep its tree in big.iso.mkt
  mksum verify big.iso                 ... which tells where it is damaged
  mksum repair big.iso --from URL      ... and has only that fetched
  mksum prove big.iso --range 0..4096 > proof
                                       for who has nothing but the root

A format is NAME[:HASH][:LEAF][:salt=HEX]; 'mksum formats' lists the names.
A file that is called as a command, like formats or keep, is written ./formats.

Exit status:
  0    every file was hashed, and was what it was told to be
  1    some file could not be read, or differs; or the output could not be written
  2    the command line makes no sense
  130  interrupted by Ctrl-C
  141  the reader of the output went away";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "mksum",
    version,
    about = "Print, check or draw the Merkle roots of files.",
    long_about = "Print, check or draw the Merkle roots of files, in any published tree format, on all cores.\n\nEach \
                  line of output, FORMAT (PATH) = ROOT, says all that 'mksum -c' needs to check it.",
    override_usage = "mksum [OPTION]... [FILE]...\n       mksum -c [OPTION]... [SUMFILE]...\n       mksum keep | verify \
                      FILE...\n       mksum diff A B\n       mksum repair FILE --from GOOD\n       mksum prove FILE \
                      --range A..B\n       mksum check-proof ROOT PROOF [BYTES]\n       mksum join [FILE]\n       mksum merklize [LEAVES] [-o \
                      NODES]\n       mksum formats | man | completions SHELL | devices",
    after_help = "Examples: 'mksum --help'. Formats: 'mksum formats'.",
    after_long_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub struct Args {
    /// What to do, if not to print, check or draw roots.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to do with files.
    #[command(flatten)]
    pub run: Run,
}

/// What else the tool does; only as the first word of a command line.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Keep the tree of a file beside it, in FILE.mkt, or bring that up to date
    Keep(Keep),
    /// Tell which ranges of a file are not as its outboard has them
    Verify(Verify),
    /// Tell in which ranges two files differ, from their outboards
    Diff(Diff),
    /// Fetch what is damaged of a file from a good copy, and nothing else
    Repair(Repair),
    /// Prove that bytes lie in a file, or that the file has only grown
    Prove(Prove),
    /// Check such a proof against a root
    CheckProof(CheckProof),
    /// Print the root of subtrees whose digests were computed apart
    Join(Join),
    /// Compute all nodes over digests, in heap order, on the CPU or another device
    Merklize(Merklize),
    /// List the formats and the tools whose output they equal
    Formats {
        /// One JSON object a format
        #[arg(long)]
        json: bool,
    },
    /// Print the man page (mksum man | man -l -)
    Man,
    /// Print a shell's completions (mksum completions bash > ~/.local/share/bash-completion/completions/mksum)
    Completions {
        /// The shell
        shell: Shell,
    },
    /// List what hashes here: threads and lanes
    Devices,
}

/// What to do with files.
#[derive(Debug, clap::Args)]
pub struct Run {
    /// Files; with --check, sum files; none or '-' is the standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// In which formats.
    #[command(flatten)]
    pub choices: Choices,

    /// Print FORMAT (PATH) = ROOT, which is the default
    #[arg(long, overrides_with = "untagged", help_heading = "Output")]
    pub tag: bool,
    /// Print ROOT  PATH, as sha256sum and b3sum do
    #[arg(long, help_heading = "Output")]
    pub untagged: bool,
    /// End lines with NUL instead of newline, and escape no names; with --check, read such lines
    #[arg(short, long, help_heading = "Output")]
    pub zero: bool,
    /// Print one JSON object a line: path, format, length, root, seconds
    ///
    /// A path that is not UTF-8 has its exact bytes in path_base64 beside it.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print the tree: dot (for Graphviz), svg or json
    #[arg(
        short,
        long,
        value_name = "STYLE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "dot",
        help_heading = "Output"
    )]
    pub graph: Option<GraphStyle>,
    /// Levels of the tree that --graph shows below the root [default: as many as 64 nodes fill]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub graph_depth: Option<u32>,
    /// Tell more about each file on standard error: size, tree, time, speed
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,
    /// Hash on this device: cpu, auto (a GPU if there is one), or a number or name that 'mksum devices' lists
    ///
    /// A device takes files in one format of sha1, sha2 or blake3 whose tree is even; all else is hashed on the CPU. Programs
    /// that it was once built for are kept in $XDG_CACHE_HOME/mksum/opencl. With MKSUM_SPIRV=DIR they come from there.
    #[arg(long, value_name = "DEVICE", default_value = "cpu", help_heading = "Reading")]
    pub device: String,
    /// Hash each file N times and print how long that took [default N: 5]
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "5",
        value_parser = clap::value_parser!(u32).range(1..=1000),
        help_heading = "Output"
    )]
    pub benchmark: Option<u32>,
    /// Compare the file's root with this one
    ///
    /// For s3 without a part size, those that fit the root's number of parts are tried.
    #[arg(long, value_name = "ROOT", help_heading = "Checking")]
    pub expect: Option<String>,
    /// Read sum files, and check the files that they list
    #[arg(short, long, help_heading = "Checking")]
    pub check: bool,
    /// Print no OK for each file that is
    #[arg(long, help_heading = "Checking")]
    pub quiet: bool,
    /// Print nothing about differences: the exit code tells
    #[arg(long, help_heading = "Checking")]
    pub status: bool,
    /// Fail on improperly formatted lines too
    #[arg(long, help_heading = "Checking")]
    pub strict: bool,
    /// Tell which lines are improperly formatted, and why
    #[arg(short, long, help_heading = "Checking")]
    pub warn: bool,
    /// Pass over files that do not exist
    #[arg(long, help_heading = "Checking")]
    pub ignore_missing: bool,

    /// Which files of directories.
    #[command(flatten)]
    pub directories: Directories,
    /// How files are read.
    #[command(flatten)]
    pub reading: Reading,

    /// Print help: -h in short, --help with examples and exit codes
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// How a tree is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphStyle {
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
    /// One object with its nodes
    Json,
}

/// What is to be done with the files.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Print their roots.
    Print,
    /// Check the files that they list.
    Check,
    /// Compare one with a root.
    Expect(&'a str),
    /// Draw their trees.
    Graph(GraphStyle),
    /// Hash them again and again.
    Benchmark(u32),
}

impl Run {
    /// What is to be done with the files.
    pub fn action(&self) -> Action<'_> {
        match self {
            Run { check: true, .. } => Action::Check,
            Run { expect: Some(root), .. } => Action::Expect(root),
            Run { graph: Some(style), .. } => Action::Graph(*style),
            Run { benchmark: Some(times), .. } => Action::Benchmark(*times),
            _ => Action::Print,
        }
    }

    /// What ends a line.
    pub fn end(&self) -> End {
        if self.zero { End::Zero } else { End::Newline }
    }

    /// Why the flags do not go together, if so.
    fn conflict(&self) -> Option<String> {
        let actions = [
            ("--check", self.check),
            ("--expect", self.expect.is_some()),
            ("--graph", self.graph.is_some()),
            ("--benchmark", self.benchmark.is_some()),
        ];
        let given: Vec<_> = actions.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag).collect();
        if let [one, other, ..] = given[..] {
            return Some(format!("{one} and {other} cannot be had together"));
        }
        let only_checking = [
            ("--quiet", self.quiet),
            ("--status", self.status),
            ("--strict", self.strict),
            ("--warn", self.warn),
            ("--ignore-missing", self.ignore_missing),
        ];
        if let Some((flag, _)) = only_checking.iter().find(|(_, given)| *given && !self.check) {
            return Some(format!("the {flag} option is meaningful only with --check"));
        }
        let only_printing = [
            ("--json", self.json),
            ("--untagged", self.untagged),
            ("--tag", self.tag),
            ("--recursive", self.directories.recursive),
        ];
        if let Some((flag, _)) = only_printing.iter().find(|(_, given)| *given && self.check) {
            return Some(format!("the {flag} option is meaningless with --check"));
        }
        if self.check && self.choices.formats.len() > 1 {
            return Some("--check takes one --format: that of lines that do not name theirs".into());
        }
        if self.expect.is_some()
            && (self.choices.formats.len() > 1 || self.files.len() > 1 || self.directories.recursive)
        {
            return Some("--expect compares one file in one format".into());
        }
        if !self.directories.exclude.is_empty() && !self.directories.recursive {
            return Some("the --exclude option is meaningful only with --recursive".into());
        }
        (self.graph_depth.is_some() && self.graph.is_none()).then(|| "--graph-depth needs --graph".into())
    }
}

/// The command line, or how the process is to end without one.
pub fn read() -> Result<Args, Exit> {
    let args = Args::try_parse().map_err(|error| match error.exit_code() {
        0 => {
            // A reader that has seen enough of the help closes its end.
            let _ = write!(io::stdout(), "{}", error.render());
            Exit::Good
        }
        _ => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            let text = text.strip_suffix("\n\nFor more information, try '--help'.\n").unwrap_or(text);
            usage(&text.trim_end())
        }
    })?;
    match args.run.conflict() {
        Some(reason) if args.command.is_none() => Err(usage(&reason)),
        _ => Ok(args),
    }
}

/// The command line's grammar, for completions and the man page.
pub fn grammar() -> Clap {
    Args::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        grammar().debug_assert();
    }

    #[test]
    fn a_subcommand_is_only_the_first_word() {
        let files = |line: &str| Args::try_parse_from(line.split(' ')).unwrap().run.files;
        assert!(files("mksum formats").is_empty());
        assert_eq!(files("mksum ./formats").len(), 1);
        assert_eq!(files("mksum -- formats").len(), 1);
        assert_eq!(files("mksum -j2 formats man").len(), 2);
    }
}
