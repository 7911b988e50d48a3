//! The command line: all flags, and their help.

mod before;
mod catalogue;
mod copy;
mod examples;
mod get;
mod groups;
mod hints;
mod kept;
mod log;
mod merklize;
mod mount;
mod numbers;
mod options;
mod paths;
mod plans;
mod proofs;
mod repair;
mod serve;
mod torrent;

#[cfg(feature = "catalogue")]
pub use catalogue::{Catalogued, Checks, Form};
pub use catalogue::{Export, Import, Status, Update};
pub use copy::{Copy, Links, ReadBack};
pub use get::Get;
pub use groups::{Choices, Color, Common, Directories, Help, Io, Reading, Signature, Symlinks};
pub use kept::{Diff, Keep, Verify};
pub use log::{Log, LogAction, LogCommon, Trust};
pub use merklize::Merklize;
pub use mount::Mount;
#[cfg(all(feature = "mount", target_os = "linux"))]
pub use mount::OnBad;
pub use paths::{NOT_HERE, read_input, read_place};
pub use plans::{Map, Missing, Plan};
pub use proofs::{CheckProof, Join, Prove};
pub use repair::Repair;
pub use serve::Serve;
pub use torrent::Torrent;

use crate::exit::{Exit, set_command, usage};
use crate::output::print_text;
use clap::{ArgAction, Command as Clap, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use mksum_cli::choice::Choice;
use mksum_cli::name::Shown;
use mksum_cli::range::ByteRange;
use mksum_cli::sum::End;
use mksum_io::Input;
use numbers::number;
use paths::{input, path};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Examples and exit codes: the end of `--help`, and a part of the man page.
const EXAMPLES: &str = "\
Examples:
  mksum big.iso                        print the root of a file
  mksum *.iso > SUMS; mksum -c SUMS    write roots, and check them later
  mksum -r photos > SUMS               all files in a directory
  curl -s URL | mksum -f blake3        a pipe; same root as b3sum
  mksum -f btv2 -f s3:md5:8MiB big     several formats in one read
  mksum --expect SUM big.iso           compare with a published sum or root
  mksum -c SHA256SUMS                  check sums of sha256sum and its kin
  mksum -c --below . --report-extra SUMS
                                       check a download that you do not trust
  find . -print0 | mksum --files0-from -
                                       names from another program
  mksum --range ..4GiB /dev/sda        the first 4 GiB of a device
  mksum -r s3://bucket/prefix/         objects in S3; also gs://, az://, hdfs://, https://
  mksum -g big.iso | dot -Tpng -o t.png
                                       draw the tree
  mksum keep big.iso                   keep the tree in big.iso.mkt
  mksum verify big.iso                 report damaged ranges
  mksum repair big.iso --from URL      fetch only the damaged ranges
  mksum get URL... --root ROOT -o big.iso
                                       fetch it from mirrors that you do not trust
  mksum serve photos                   serve files over HTTP
  mksum mount photos /mnt              a view of verified bytes only (Linux)
  mksum prove big.iso --range 0..4096 > proof
                                       prove a part of a file
  mksum -f dir photos                  one root for a directory
  mksum keep -r photos                 keep a catalogue of all files in it
  mksum status photos                  what is new, changed, moved or gone
  mksum verify -r --budget 30m photos  a little every night
  mksum log append ledger < entries    an append-only log with proofs

A format is NAME[:HASH][:LEAF][:salt=HEX]; 'mksum formats' lists the names.
Write ./keep for a file that has the name of a command.

Exit status:
  0    every file was hashed, and matches where it was checked
  1    a file could not be read or does not match, there was no file in a
       directory, list or catalogue, or the output failed
  2    wrong usage
  3    the signature of the sum file is not valid: no file was checked
  129  ended by SIGHUP
  130  ended by Ctrl-C (SIGINT)
  141  the reader of the output closed it
  143  ended by SIGTERM";

/// What this system lacks, if anything: the end of `--help`, and a part of the man page.
const LACKING: &str = if cfg!(windows) {
    "\n
On Windows:
  --io direct, --io-nice   not available: files are read through the cache
  sparse files             holes are read, as zeros
  keep, --quick            compare size and mtime: the inode is not known
  paths                    printed with slashes, so that other systems can
                           check them, unless they begin with \\\\"
} else {
    ""
};

/// The end of `--help`, and parts of the man page.
pub fn notes() -> String {
    format!("{EXAMPLES}{LACKING}")
}

/// The exit codes of a command: the end of its `--help`, and a part of its man page.
fn exits(good: &str, bad: &str) -> String {
    exits_or(good, bad, "")
}

/// The same with a line for another code.
fn exits_or(good: &str, bad: &str, other: &str) -> String {
    format!(
        "Exit status:\n  0    {good}\n  1    {bad}\n  2    wrong usage{other}\n  129  ended by SIGHUP\n  130  ended by Ctrl-C \
         (SIGINT)\n  141  the reader of the output closed it\n  143  ended by SIGTERM"
    )
}

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "mksum",
    version,
    about = "Print, check or draw the Merkle roots of files.",
    long_about = "Print, check or draw the Merkle roots of files, in all published tree formats, on all cores.\n\nA line \
                  of output, FORMAT (PATH) = ROOT, is all that 'mksum -c' needs to check the file.",
    override_usage = "mksum [OPTION]... [FILE]...\n       mksum -c [OPTION]... [SUMFILE]...\n       mksum keep | verify \
                      FILE...\n       mksum keep -r DIR\n       mksum status | update | verify -r [DIR]\n       mksum diff A B\n       mksum import DIR LIST...\n       mksum repair FILE... --from COPY\n       mksum get URL... --root ROOT -o FILE\n       mksum serve DIR\n       mksum mount SOURCE MOUNTPOINT\n       mksum torrent FILE -o TORRENT\n       mksum prove FILE \
                      --range A..B\n       mksum check-proof ROOT PROOF [BYTES]\n       mksum join [FILE] | -f dir PLACE=CATALOGUE...\n       mksum plan FILE...\n       mksum map [PLAN]\n       mksum missing PLAN LEDGER...\n       mksum join --plan PLAN LEDGER...\n       mksum merklize [LEAVES] [-o \
                      NODES]\n       mksum log init | append | prove | follow DIR...\n       mksum formats | which SUM [FILE] | devices | completions SHELL\n       mksum help | man [COMMAND]",
    after_help = "Examples: 'mksum --help'. A command: 'mksum help COMMAND'. Formats: 'mksum formats'.",
    after_long_help = notes(),
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub struct Args {
    /// The command; without one, roots are printed, checked or drawn.
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub run: Run,
}

/// A command: the first word of a command line.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Keep the tree of a file in FILE.mkt, or update it
    ///
    /// The tree is kept in an outboard, a file of digests beside the file, of about a thousandth of its size. With --recursive, a
    /// catalogue is kept: one file with the roots of all files below a directory.
    #[command(after_long_help = exits("every tree was kept", "a file could not be read, is damaged, or its tree could not be written"))]
    Keep(Keep),
    /// Report the damaged ranges of a file
    ///
    /// The file is compared with its kept tree, leaf by leaf: leaves are the pieces that the tree hashes, of 64 KiB by default.
    #[command(after_long_help = exits(
        "no damage was found (new files are reported, and do not count)",
        "a file is damaged, gone, changed or could not be verified, or none has an outboard"
    ))]
    Verify(Verify),
    /// Report what in a directory is new, changed, moved or gone, without reading files
    #[command(after_long_help = exits("nothing differs from the catalogue", "something differs, or could not be looked at"))]
    Status(Status),
    /// Bring a directory's catalogue up to date: only new and changed files are read
    #[command(after_long_help = exits("the catalogue is up to date", "a file is damaged, is being written or could not be read"))]
    Update(Update),
    /// Take the roots of a sum file or manifest into a directory's catalogue, to be verified later
    #[command(after_long_help = exits("every root of the lists is in the catalogue", "a listed file is missing, or has another length or another root in the catalogue"))]
    Import(Import),
    /// Print the entries of a catalogue as a sum file, a BagIt manifest or JSON
    #[command(after_long_help = exits("all entries were printed", "the catalogue could not be read"))]
    Export(Export),
    /// Report how two files, directories, catalogues or sum files differ
    ///
    /// Kept trees and catalogues are compared without reading any file. A file without a kept tree and a directory without a catalogue are
    /// read, and nothing is written.
    #[command(after_long_help = exits("they are equal", "they differ or could not be compared"))]
    Diff(Diff),
    /// Repair the damaged ranges of a file from an intact copy
    #[command(after_long_help = exits("every file that has an outboard is intact now", "a file is still damaged, could not be read or written, or none has an outboard"))]
    Repair(Repair),
    /// Fetch a file from untrusted mirrors, and verify it leaf by leaf against a trusted root
    #[command(after_long_help = exits_or("the file is whole, and has the root", "no mirror has the right bytes, or the file could not be written; FILE is as it was", "\n  3    the signature of the list is not valid: nothing was fetched"))]
    Get(Get),
    /// Copy files and directories, and read the copies back: what was written is what was read
    #[command(after_long_help = exits("all was copied, and has the same roots", "something could not be copied, or was read back with another root"))]
    Copy(Copy),
    /// Serve files over HTTP, with ranges, and with roots as ETags
    #[command(
        after_long_help = "Exit status:\n  0    stopped by a signal: responses had 5 seconds to end\n  1    the address or an input \
        cannot be used\n  2    wrong usage\n  129  ended by a second SIGHUP\n  130  ended by a second Ctrl-C (SIGINT)\n  141  the reader of \
        the output closed it\n  143  ended by a second SIGTERM"
    )]
    Serve(Serve),
    /// Mount a file or directory, read-only: every read is verified (Linux)
    ///
    /// Needs FUSE: root, or the program fusermount3 of the package fuse3. A read whose bytes cannot be verified fails with EIO; the first
    /// time, a line on standard error has the path, the offset and both digests. It runs until it is unmounted ('fusermount3 -u', 'umount') or
    /// stopped by Ctrl-C or SIGTERM, and nothing is mounted then.
    #[command(
        after_long_help = "Exit status:\n  0    unmounted, or stopped by a signal\n  1    the source or mount point cannot be used\n  2    wrong \
        usage\n  129  ended by a second SIGHUP\n  130  ended by a second Ctrl-C (SIGINT)\n  141  the reader of the output closed it\n  143  ended \
        by a second SIGTERM"
    )]
    Mount(Mount),
    /// Make a torrent of a file or directory, and print its info-hash
    #[command(after_long_help = exits("the torrent was written", "a file could not be read, or the torrent not written"))]
    Torrent(Torrent),
    /// Prove that a file contains some bytes, or that it has only grown
    #[command(after_long_help = exits("the proof was written", "the file could not be read, or the proof does not exist"))]
    Prove(Prove),
    /// Check a proof against a trusted root
    #[command(after_long_help = exits("the proof is valid", "the proof is not valid or could not be read"))]
    CheckProof(CheckProof),
    /// Split files or objects into parts, and print a row for each
    ///
    /// Any machine can hash the parts ('mksum map'). The rows of hashed parts are a ledger, which 'mksum join' makes roots of.
    #[command(after_long_help = exits("the plan was printed", "a file could not be found: then the plan has no end"))]
    Plan(Plan),
    /// Hash the parts of a plan, and print a row of the ledger for each
    #[command(after_long_help = exits("every part was hashed", "a part could not be hashed; the others were"))]
    Map(Map),
    /// Print the rows of a plan that are in no ledger
    #[command(after_long_help = exits("the rows were printed", "the plan or a ledger could not be read"))]
    Missing(Missing),
    /// Print a root from subtrees that were hashed elsewhere, or from the catalogues of folders
    #[command(after_long_help = exits("the root was printed", "the digests are not those of a tree, or a catalogue lacks something"))]
    Join(Join),
    /// Compute all nodes of a tree over digests, on the CPU or another device
    #[command(after_long_help = exits("the tree was computed", "the leaves could not be read, or the nodes not written"))]
    Merklize(Merklize),
    /// Keep an append-only log with proofs, in a folder that any web server can serve
    ///
    /// The files are C2SP's: tiles, entry bundles, and signed checkpoints (spec/log.md). The secret key stays in DIR/.mksum/log.
    #[command(
        arg_required_else_help = true,
        after_long_help = exits_or(
            "it was done, or the proof is valid",
            "a file could not be read or written, is damaged, or the proof is not valid",
            "\n  3    a checkpoint is not signed as asked for, or the log contradicts itself: a fork or a rollback"
        )
    )]
    Log(Log),
    /// List all formats, and the tools that print the same roots; or explain one
    #[command(after_long_help = exits("the list was printed", "the output failed"))]
    Formats {
        /// Explain this format alone: what it is, what it allows, and what it cannot do
        #[arg(value_name = "FORMAT", value_parser = hints::format)]
        format: Option<Choice>,
        /// Print one JSON object per line (spec/json.md)
        #[arg(long)]
        json: bool,
        /// The command's own help.
        #[command(flatten)]
        help: Help,
    },
    /// List the formats that a sum can be of, the usual ones first; with a file, find the one
    ///
    /// The sum is in hex, base64 or another form in which it is published, perhaps behind a name. With FILE, this is
    /// 'mksum --expect SUM FILE', and tries checksums that are as long as a hash, too.
    #[command(after_long_help = exits(
        "the list was printed, or the file has the sum",
        "the output failed, or the file does not have the sum or could not be read"
    ))]
    Which {
        /// The sum
        #[arg(value_name = "SUM")]
        sum: String,
        /// The file or URL whose sum it may be
        #[arg(value_name = "FILE")]
        file: Option<OsString>,
        /// The command's own help.
        #[command(flatten)]
        help: Help,
    },
    /// List CPU and GPU backends
    #[command(after_long_help = exits("the list was printed", "the output failed"))]
    Devices {
        /// Print the chip too, and the kernels chosen for 1, 4, 16 and 64 messages
        #[arg(short, long)]
        verbose: bool,
        /// Print one JSON object per line (spec/json.md)
        #[arg(long)]
        json: bool,
        /// The command's own help.
        #[command(flatten)]
        help: Help,
    },
    /// Print the help of a command
    #[command(after_long_help = exits("the help was printed", "the output failed"))]
    #[command(name = "help")]
    ShowHelp {
        /// The command [default: mksum itself]
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
        /// The command's own help.
        #[command(flatten)]
        help: Help,
    },
    /// Print a man page ('mksum man | man -l -')
    #[command(after_long_help = exits("the page was printed", "the output failed"))]
    Man {
        /// The command [default: mksum itself]
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
        /// Write all man pages into this directory: mksum.1, mksum-keep.1, ...
        #[arg(long, value_name = "DIR", conflicts_with = "command", value_parser = path(), value_hint = ValueHint::DirPath)]
        directory: Option<PathBuf>,
        /// The command's own help.
        #[command(flatten)]
        help: Help,
    },
    /// Print a completion script for a shell
    ///
    /// For bash: mksum completions bash > ~/.local/share/bash-completion/completions/mksum
    #[command(after_long_help = exits("the script was printed", "the output failed"))]
    Completions {
        /// The shell
        shell: Shell,
        /// The command's own help.
        #[command(flatten)]
        help: Help,
    },
}

/// The flags without a command.
#[derive(Debug, clap::Args)]
pub struct Run {
    /// Files, or URLs of objects; with --check, sum files; none or '-' is standard input
    #[arg(value_name = "FILE", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub files: Vec<Input>,
    #[command(flatten)]
    pub choices: Choices,
    /// Whether the root's format is asked for ('mksum which'): formats are tried that a root has only behind their name.
    #[arg(skip)]
    pub finds_format: bool,

    /// Print FORMAT (PATH) = ROOT (the default)
    #[arg(long, overrides_with = "untagged", help_heading = "Output")]
    pub tag: bool,
    /// Print ROOT  PATH, like sha256sum and b3sum
    #[arg(long, help_heading = "Output")]
    pub untagged: bool,
    /// End lines with NUL instead of newline, and don't escape names; with --check, read such lines
    #[arg(short, long, help_heading = "Output")]
    pub zero: bool,
    /// Print one JSON object per line: path, format, length, root, seconds (spec/json.md)
    ///
    /// With --check: path, status, format, expected, found. If a path is not UTF-8, path_base64 has its exact bytes.
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
    /// Levels that --graph shows below the root [default: as many as fit 64 nodes]
    #[arg(long, value_name = "N", value_parser = number::<u32>(0..=1000), help_heading = "Output")]
    pub graph_depth: Option<u32>,
    /// Hash the files whose names are the lines of LIST; '-' is standard input
    #[arg(long, value_name = "LIST", value_parser = path(), value_hint = ValueHint::FilePath, conflicts_with_all = ["files", "files0_from"], help_heading = "Reading")]
    pub files_from: Option<PathBuf>,
    /// The same with names that end in NUL, as 'find -print0' writes them
    #[arg(long, value_name = "LIST", value_parser = path(), value_hint = ValueHint::FilePath, conflicts_with = "files", help_heading = "Reading")]
    pub files0_from: Option<PathBuf>,
    /// Hash on this device: cpu, auto (a GPU if there is one), or a number or name listed by 'mksum devices'
    ///
    /// A device hashes files in one format of sha1, sha2 or blake3 whose tree is even; everything else is hashed on the CPU.
    /// Compiled programs are kept in $XDG_CACHE_HOME/mksum/gpu, or taken from the directory in MKSUM_SPIRV (OpenCL) or
    /// MKSUM_CUBINS (CUDA). 'cuda:' or 'opencl:' before a number or name chooses among the devices of that interface alone.
    #[arg(long, value_name = "DEVICE", default_value = "cpu", help_heading = "Reading")]
    pub device: String,
    /// Hash only these bytes of each file: A..B, A.. or ..B
    ///
    /// Printed as FORMAT@A..B (PATH) = ROOT, which --check understands. For the beginning of a device or a large file.
    #[arg(long, value_name = "A..B", help_heading = "Reading")]
    pub range: Option<ByteRange>,
    /// If the disk cannot read a file, report all unreadable ranges of it
    ///
    /// Without this flag, only the first one is reported. Either way, the file has no root.
    #[arg(long, help_heading = "Reading")]
    pub list_unreadable: bool,
    /// Compare the file with a published root or sum: hex, base64, sha256:..., sha512-..., an ETag; or a directory with dir:...
    ///
    /// Without --format, its name and length decide: of the formats that it can be of, the one that matches is printed. For an
    /// ETag of an upload in parts, the usual part sizes are tried that give its number of parts.
    #[arg(long, value_name = "ROOT", help_heading = "Checking")]
    pub expect: Option<String>,
    /// Compare objects with the sums that their stores have: ETags, checksums, Content-MD5, Repr-Digest
    ///
    /// The part size of an upload is found, as with --expect. Prints the roots that agree. CRCs detect accidents alone.
    #[arg(long, help_heading = "Checking")]
    pub stored: bool,
    /// Read sum files and check the files listed there
    ///
    /// With --format: the format of lines that do not name one, such as those of sha256sum and b3sum; by default the length of the
    /// sum and the sum file's name decide. Paths are those from the current directory; a file that is not there is looked for beside the
    /// sum file.
    #[arg(short, long, help_heading = "Checking")]
    pub check: bool,
    #[command(flatten)]
    pub signature: Signature,
    /// Print nothing: only set the exit code
    #[arg(long, help_heading = "Checking")]
    pub status: bool,
    /// Fail if a line is improperly formatted
    #[arg(long, help_heading = "Checking")]
    pub strict: bool,
    /// Report each improperly formatted line, and why
    #[arg(short, long, help_heading = "Checking")]
    pub warn: bool,
    /// Skip files that do not exist
    #[arg(long, help_heading = "Checking")]
    pub ignore_missing: bool,
    /// Read no file outside of this directory: paths that lead out of it are errors
    ///
    /// For sum files from others: whether by '..', as absolute paths or through symbolic links. Paths are still relative to
    /// the current directory.
    #[arg(long, value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath, help_heading = "Checking")]
    pub below: Option<PathBuf>,
    /// Report files in the sum file's directory that no sum file lists
    ///
    /// With --below: in that directory. At any depth; symbolic links are skipped, and --exclude has effect.
    #[arg(long, help_heading = "Checking")]
    pub report_extra: bool,

    #[command(flatten)]
    pub directories: Directories,
    #[command(flatten)]
    pub reading: Reading,

    #[command(flatten)]
    pub common: Common,
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

/// The action for the files, if there is no command.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Print their roots.
    Print,
    /// Check the files that they list.
    Check,
    /// Compare one with a root.
    Expect(&'a str),
    /// Compare them with the sums that stores have.
    Stored,
    /// Draw their trees.
    Graph(GraphStyle),
}

impl Run {
    /// The action for the files.
    pub fn action(&self) -> Action<'_> {
        match self {
            Run { check: true, .. } => Action::Check,
            Run { expect: Some(root), .. } => Action::Expect(root),
            Run { stored: true, .. } => Action::Stored,
            Run { graph: Some(style), .. } => Action::Graph(*style),
            _ => Action::Print,
        }
    }

    /// The list of names that are hashed, and how they end, if there is one.
    pub fn list(&self) -> Option<(&Path, End)> {
        let lines = self.files_from.as_deref().map(|list| (list, End::Newline));
        lines.or(self.files0_from.as_deref().map(|list| (list, End::Zero)))
    }

    /// The end of a line.
    pub fn end(&self) -> End {
        if self.zero { End::Zero } else { End::Newline }
    }

    /// Why the first file cannot be meant as one, if so.
    fn misplaced(&self) -> Option<String> {
        let Some(Input::File(path)) = self.files.first() else { return None };
        let grammar = Command::augment_subcommands(Clap::new(""));
        let commands: Vec<_> = grammar.get_subcommands().map(Clap::get_name).collect();
        let is_style =
            self.graph.is_some() && path.to_str().is_some_and(|word| GraphStyle::from_str(word, false).is_ok());
        let line: Vec<_> = env::args_os().collect();
        hints::misplaced(path, is_style, before::first_word(&line), &commands)
    }

    /// The reason why the flags cannot be combined, if so.
    fn conflict(&self) -> Option<String> {
        let actions = [
            ("--check", self.check),
            ("--expect", self.expect.is_some()),
            ("--stored", self.stored),
            ("--graph", self.graph.is_some()),
        ];
        let given: Vec<_> = actions.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag).collect();
        if let [one, other, ..] = given[..] {
            return Some(format!("{one} and {other} cannot be combined"));
        }
        let only_checking = [
            ("--strict", self.strict),
            ("--warn", self.warn),
            ("--ignore-missing", self.ignore_missing),
            ("--below", self.below.is_some()),
            ("--report-extra", self.report_extra),
            ("--sig", self.signature.sig.is_some()),
            ("--key", self.signature.key.is_some()),
        ];
        if let Some((flag, _)) = only_checking.iter().find(|(_, given)| *given && !self.check) {
            return Some(format!("the {flag} option is meaningful only with --check"));
        }
        if self.status && (given.is_empty() || self.graph.is_some()) {
            return Some("the --status option is meaningful only with --check, --expect or --stored".into());
        }
        let only_printing = [
            ("--range", self.range.is_some()),
            ("--untagged", self.untagged),
            ("--tag", self.tag),
            ("--recursive", self.directories.recursive),
        ];
        if let Some((flag, _)) = only_printing.iter().find(|(_, given)| *given && self.check) {
            return Some(format!("the {flag} option is meaningless with --check"));
        }
        if let Some(url) = self.files.iter().find(|file| self.check && file.url().is_some()) {
            return Some(format!("{}: {NOT_HERE}", Shown(url)));
        }
        if let Some(why) = self.signature.conflict() {
            return Some(why);
        }
        if self.signature.key.is_some() && self.files.len() > 1 {
            return Some("--key verifies the signature of one sum file".into());
        }
        if self.check && self.choices.formats.len() > 1 {
            return Some("--check takes one --format: the format of lines that do not name one".into());
        }
        if self.expect.is_some()
            && (self.choices.formats.len() > 1 || self.files.len() > 1 || self.directories.recursive)
        {
            return Some("--expect compares one file in one format".into());
        }
        if !self.directories.exclude.is_empty() && !self.directories.recursive && !self.report_extra {
            return Some("the --exclude option is meaningful only with --recursive or --report-extra".into());
        }
        let lists = [("--files-from", self.files_from.is_some()), ("--files0-from", self.files0_from.is_some())];
        if let (Some((list, _)), [action, ..]) = (lists.iter().find(|(_, given)| *given), &given[..]) {
            return Some(format!("{list} and {action} cannot be combined"));
        }
        if self.range.is_some() && self.stored {
            return Some("--range and --stored cannot be combined: stores have sums of whole objects".into());
        }
        if self.json && self.graph.is_some_and(|style| style != GraphStyle::Json) {
            return Some("--json and --graph cannot be combined: --graph=json prints the tree as JSON".into());
        }
        if self.range.is_some() && (self.untagged || self.graph.is_some()) {
            return Some("--range cannot be combined with --untagged or --graph: they do not show the range".into());
        }
        (self.graph_depth.is_some() && self.graph.is_none()).then(|| "--graph-depth needs --graph".into())
    }
}

/// The options that were given, of those that several commands have.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The formats, if the command takes them.
    pub choices: Option<&'a Choices>,
    /// Options for reading, if the command reads files.
    pub reading: Option<&'a Reading>,
    /// Options of all commands that work with files.
    pub common: &'a Common,
}

impl Command {
    /// The options of a command that works with files; `None` of one about the tool itself.
    pub fn given(&self) -> Option<Given<'_>> {
        let given = |choices, reading, common| Some(Given { choices, reading, common });
        match self {
            Command::Keep(args) => given(Some(&args.choices), Some(&args.reading), &args.common),
            Command::Verify(args) => given(None, Some(&args.reading), &args.common),
            Command::Status(args) => given(None, None, &args.catalogued.common),
            Command::Update(args) => given(None, Some(&args.reading), &args.catalogued.common),
            Command::Import(args) => given(Some(&args.choices), None, &args.common),
            Command::Export(args) => given(Some(&args.choices), None, &args.common),
            Command::Diff(args) => given(None, Some(&args.reading), &args.common),
            Command::Repair(args) => given(None, Some(&args.reading), &args.common),
            Command::Get(args) => given(Some(&args.choices), Some(&args.reading), &args.common),
            Command::Copy(args) => given(Some(&args.choices), Some(&args.reading), &args.common),
            Command::Serve(args) => given(None, None, &args.common),
            Command::Mount(args) => given(None, None, &args.common),
            Command::Torrent(args) => given(None, Some(&args.reading), &args.common),
            Command::Prove(args) => given(Some(&args.choices), Some(&args.reading), &args.common),
            Command::CheckProof(args) => given(Some(&args.choices), None, &args.common),
            Command::Plan(args) => given(Some(&args.choices), Some(&args.reading), &args.common),
            Command::Map(args) => given(None, Some(&args.reading), &args.common),
            Command::Missing(args) => given(None, None, &args.common),
            Command::Join(args) => given(Some(&args.choices), None, &args.common),
            Command::Merklize(args) => given(None, Some(&args.reading), &args.common),
            Command::Log(args) => given(None, None, args.action.common()),
            Command::Formats { .. }
            | Command::Which { .. }
            | Command::Devices { .. }
            | Command::ShowHelp { .. }
            | Command::Man { .. }
            | Command::Completions { .. } => None,
        }
    }
}

/// The command line, or the exit code of a process that has none to run.
pub fn read() -> Result<Args, Exit> {
    let grammar = grammar();
    let names: Vec<_> = grammar.get_subcommands().map(Clap::get_name).collect();
    let line = before::after_command(env::args_os().collect(), &names);
    if let Some(command) =
        line.get(1).and_then(|word| word.to_str()).filter(|word| names.contains(word) && *word != "help")
    {
        set_command(command);
    }
    if let Some(reason) = before::without_json(&line) {
        return Err(usage(&reason));
    }
    if before::asks_for_summary(&line, &names) {
        return Err(print_text(examples::SUMMARY.as_bytes()));
    }
    let parse = |grammar: Clap, line| {
        grammar.try_get_matches_from::<_, OsString>(line).and_then(|matches| Args::from_arg_matches(&matches))
    };
    let parsed = parse(grammar, line).and_then(|args| match args.command {
        Some(Command::Which { sum, file: Some(file), .. }) => {
            let line = vec!["mksum".into(), format!("--expect={sum}").into(), "--".into(), file];
            parse(self::grammar(), line).map(|mut args| {
                args.run.finds_format = true;
                args
            })
        }
        _ => Ok(args),
    });
    let args = parsed.map_err(|error| match error.exit_code() {
        0 => print_text(error.render().to_string().as_bytes()),
        _ => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            let tip = |line: &&str| !line.trim_start().starts_with("tip: to pass '");
            let text = text.lines().filter(tip).collect::<Vec<_>>().join("\n").replace("\n\n\n", "\n\n");
            let text = text.strip_suffix("\n\nFor more information, try '--help'.").unwrap_or(&text);
            match hints::flag(&error) {
                Some(hint) => usage(&hint),
                None => usage(&text.trim_end()),
            }
        }
    })?;
    let given = args.command.as_ref().map_or(Some(&args.run.common), |command| Some(command.given()?.common));
    for directory in given.iter().flat_map(|common| &common.change_to) {
        if let Err(error) = env::set_current_dir(directory) {
            return Err(usage(&format_args!("-C {}: {}", Shown(directory), mksum_io::reason(&error))));
        }
    }
    let wrong = || args.run.conflict().or_else(|| args.run.misplaced());
    match args.command {
        None if let Some(reason) = wrong() => Err(usage(&reason)),
        _ => Ok(args),
    }
}

/// The grammar of a command, or without a name of the whole command line.
///
/// # Errors
/// If there is no such command.
pub fn grammar_of(command: Option<&str>) -> Result<Clap, String> {
    let mut all = grammar();
    all.build();
    let Some(name) = command else { return Ok(all) };
    let names: Vec<_> = all.get_subcommands().map(|command| command.get_name().to_string()).collect();
    let found = all.get_subcommands().find(|command| command.get_name() == name).cloned();
    found.ok_or_else(|| match mksum::nearest(name, names.iter().map(String::as_str)) {
        Some(similar) => format!("there is no command '{name}': did you mean '{similar}'?"),
        None => format!("there is no command '{name}': expected one of {}", names.join(", ")),
    })
}

/// The command line's grammar, for completions and the man page.
pub fn grammar() -> Clap {
    let one = "Format NAME[:HASH][:LEAF][:salt=HEX], one";
    let usual = "The default is rfc6962:sha256:64KiB. 'mksum formats' lists all formats.";
    let of_lines = "By default the length of a sum and the list's name decide. 'mksum formats' lists all formats.";
    let helps = [
        ("plan", one, usual),
        (
            "prove",
            one,
            "The default is that of the outboard, or else rfc6962:sha256:64KiB. 'mksum formats' lists all formats.",
        ),
        ("check-proof", one, usual),
        ("import", "Format of lines that do not name one, such as those of sha256sum and b3sum", of_lines),
        ("export", "Print only roots in this format; may be repeated", "The default is all formats of the catalogue."),
    ];
    let with_examples = |command: Clap| {
        let examples = examples::of(command.get_name());
        let ends = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        command.after_long_help(format!("{examples}\n\n{ends}"))
    };
    Args::command().mut_subcommands(|command| match helps.iter().find(|(name, ..)| *name == command.get_name()) {
        None => with_examples(command),
        Some((_, help, more)) => {
            with_examples(command).mut_arg("formats", |flag| flag.help(*help).long_help(format!("{help}\n\n{more}")))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        grammar().debug_assert();
    }

    #[test]
    fn a_command_is_only_the_first_word() {
        let files = |line: &str| Args::try_parse_from(line.split(' ')).unwrap().run.files;
        assert!(files("mksum formats").is_empty());
        assert_eq!(files("mksum ./formats").len(), 1);
        assert_eq!(files("mksum -- formats").len(), 1);
        assert_eq!(files("mksum -j2 formats man").len(), 2);
    }

    /// Mksum itself and all commands.
    fn commands() -> Vec<Option<String>> {
        let names = grammar().get_subcommands().map(|command| Some(command.get_name().to_string())).collect();
        [vec![None], names].concat()
    }

    #[test]
    fn every_command_has_help_and_a_man_page_with_all_flags_and_exit_codes() {
        assert!(commands().len() > 12);
        for name in commands() {
            let mut command = grammar_of(name.as_deref()).unwrap();
            let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
            let page = String::from_utf8(crate::manual::page(name.as_deref()).unwrap()).unwrap().replace("\\-", "-");
            for text in [&long, &page] {
                for code in ["0", "1", "2", "129", "130", "141", "143"] {
                    assert!(text.lines().any(|line| line.trim().starts_with(&format!("{code} "))), "{name:?}: {code}");
                }
            }
            let mut flags = 0;
            for flag in command.get_arguments() {
                assert!(flag.get_help().is_some_and(|help| !help.to_string().is_empty()), "{name:?}: {flag}");
                let Some(written) = flag.get_long().map(|long| format!("--{long}")) else { continue };
                flags += 1;
                for text in [&short, &long, &page] {
                    assert!(text.contains(&written), "{name:?} without {written}");
                }
            }
            assert!(flags > 0, "{name:?} has --help at least");
            for flag in ["-h", "--help"] {
                let words = ["mksum"].into_iter().chain(name.as_deref()).chain([flag]);
                let error = Args::try_parse_from(words).expect_err("help is no command line to be run");
                assert_eq!(error.kind(), clap::error::ErrorKind::DisplayHelp, "{name:?} {flag}");
            }
        }
    }

    #[test]
    fn every_path_is_read_as_a_url_of_a_file_too() {
        for name in commands() {
            let command = grammar_of(name.as_deref()).unwrap();
            for flag in command.get_arguments() {
                // Its path is one within the directory.
                let is_entry = name.as_deref() == Some("prove") && flag.get_id() == "path";
                let is_plain = format!("{:?}", flag.get_value_parser()) == "ValueParser::path_buf";
                assert_eq!(is_plain, is_entry, "{name:?}: {flag}");
            }
        }
    }

    #[test]
    fn help_is_plain_english() {
        for name in commands() {
            let text = grammar_of(name.as_deref()).unwrap().render_long_help().to_string().to_lowercase();
            let words: Vec<_> = text.split(|letter: char| !letter.is_alphabetic()).collect();
            for mannered in ["tell", "tells", "told", "whoever", "nobody", "pass over"] {
                assert!(!words.contains(&mannered) && !text.contains("pass over"), "{name:?}: '{mannered}'");
            }
        }
    }
}
