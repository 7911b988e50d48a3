//! The flags of `mksum get`.

use super::groups::rate;
use super::hints::format;
use super::kept::foreign;
use super::numbers::number;
use super::paths::{input, path, place};
use super::{Choices, Common, Reading, Signature};
use clap::ValueHint;
use mksum::outboard::ForeignFormat;
use mksum::parse_size;
use mksum_cli::choice::Choice;
use mksum_io::Input;
use std::path::PathBuf;

/// `mksum get`.
#[derive(Debug, clap::Args)]
pub struct Get {
    /// Copies of one file or directory: URLs (https://..., s3://BUCKET/KEY, ...) or paths; none is trusted. With --check: names in the
    /// list
    ///
    /// With an outboard, ranges are fetched from all of them at once, and a range that is wrong is fetched from another one; without,
    /// one after the other is tried. Credentials are those of 'mksum repair'. With --check, these are the files to be fetched, by their
    /// paths in the list or the ends of these [default: all].
    #[arg(value_name = "URL", required_unless_present = "check", value_parser = place(), value_hint = ValueHint::Url)]
    pub mirrors: Vec<Input>,
    /// Trusted root or sum of the file, in any form that mksum prints or --expect reads, or a line of a sum file; 'dir:...' of a
    /// directory
    ///
    /// A directory's root ('mksum -f dir DIR') is compared with that of its catalogue on a mirror ('mksum keep -r'), which has the roots
    /// of all files. Then they are fetched into the folder of --output, and folders and links made.
    ///
    /// Without it, the sum that the server states itself (Repr-Digest, Digest, a checksum of the store) decides: it shows damage on the way,
    /// not what a server replaced. If it states none, nothing is fetched. A root without the name of its format is a root of the default
    /// format, a SHA-256 or another usual sum of its length; --format decides.
    #[arg(long, value_name = "ROOT", conflicts_with = "check")]
    pub root: Option<String>,
    /// Fetch the files of this trusted list of sums; a path, a URL, or '-' for standard input
    ///
    /// Any list that 'mksum -c' reads, or a catalogue. It is trusted as --root is: take it from another server than the files, or verify
    /// its signature with --key.
    #[arg(short, long, value_name = "SUMS", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub check: Option<Input>,
    /// With --check: URL or path of a folder with the files of the list; may be repeated [default: the folder of SUMS, if that is a URL]
    #[arg(long, value_name = "URL", value_parser = place(), requires = "check", value_hint = ValueHint::Url)]
    pub from: Vec<Input>,
    #[command(flatten)]
    pub signature: Signature,
    /// File to be written; '-' is standard output, which gets verified bytes only. With --check, or a directory's root: the folder
    /// [default with --check: .]
    ///
    /// Until it is whole, the file is FILE.part, which the next run resumes, and FILE is as it was. If FILE is right already, nothing
    /// is fetched; otherwise its good leaves are used.
    #[arg(
        short,
        long,
        value_name = "FILE",
        required_unless_present = "check",
        value_parser = input(),
        value_hint = ValueHint::FilePath
    )]
    pub output: Option<Input>,
    /// Path or URL of the outboard, which is not trusted; may be repeated [default: URL.mkt of each URL]
    #[arg(
        long,
        value_name = "PLACE",
        value_parser = place(),
        value_hint = ValueHint::AnyPath,
        conflicts_with = "check"
    )]
    pub outboard: Vec<Input>,
    /// The outboards are those of another program, in this format: blake3, fsverity, dmverity:...; or obao4, iroh's for blake3
    ///
    /// By default URL.obao, URL.fsverity, URL.verity or URL.obao4 of each URL.
    #[arg(long, value_name = "FORMAT", value_parser = foreign, conflicts_with_all = ["check", "no_outboard"])]
    pub foreign: Option<ForeignFormat>,
    /// Path or URL of a directory's catalogue, which is not trusted; may be repeated [default: URL/.mksum/catalogue of each URL]
    #[arg(
        long,
        value_name = "PLACE",
        value_parser = place(),
        value_hint = ValueHint::AnyPath,
        conflicts_with = "check"
    )]
    pub catalogue: Vec<Input>,
    /// Use no outboard: hash the whole file as it comes
    #[arg(long, conflicts_with_all = ["outboard", "seed"])]
    pub no_outboard: bool,
    /// Use the good leaves of this older file; may be repeated
    #[arg(long, value_name = "OLD", value_parser = path(), value_hint = ValueHint::FilePath, conflicts_with = "check")]
    pub seed: Vec<PathBuf>,
    /// Length of the file, from the source of the trusted root
    #[arg(long, value_name = "N", value_parser = parse_size, conflicts_with = "check")]
    pub length: Option<u64>,
    /// Also print this sum or root of each file, of its verified bytes: sha256, blake3, btv2, ...; may be repeated
    ///
    /// It is computed while the bytes come. Where they do not come in order, or a part of the file is there already, the file is read
    /// once more, and a message says so. Lines are those of 'mksum -f': with --quiet, nothing else is printed. With '-o -', they are on standard error.
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub also: Vec<Choice>,
    /// Number of requests at a time, over all mirrors
    #[arg(long, value_name = "N", default_value = "8", value_parser = number::<usize>(1..=256))]
    pub connections: usize,
    /// Fetch at most this many bytes per second, for example 10MB
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub limit_rate: Option<u64>,
    /// Print one JSON object for each file (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub choices: Choices,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}
