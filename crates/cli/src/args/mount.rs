//! The flags of `mksum mount`.

use super::Common;
use super::kept::foreign;
use super::paths::{path, place};
use clap::{ValueEnum, ValueHint};
use mksum::outboard::ForeignFormat;
use mksum_io::Input;
use std::path::PathBuf;

/// `mksum mount`.
#[derive(Debug, clap::Args)]
pub struct Mount {
    /// File or URL with an outboard or root, or a directory, bucket or URL with a catalogue
    ///
    /// A file is shown as MOUNTPOINT/NAME. The entries of a directory are those of its catalogue ('mksum keep -r'): a URL is a directory if
    /// it ends in a slash, or --root is that of one.
    #[arg(value_name = "SOURCE", value_parser = place(), value_hint = ValueHint::AnyPath)]
    pub source: Input,
    /// Empty directory where it is mounted
    #[arg(value_name = "MOUNTPOINT", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub point: PathBuf,
    /// Trusted root of the file, or of the directory ('dir:...')
    ///
    /// Then neither the files nor their outboards and catalogue need be trusted. Without it, the outboard or the catalogue is: damage is found,
    /// but not a file that was replaced together with its outboard.
    #[arg(long, value_name = "ROOT")]
    pub root: Option<String>,
    /// Path or URL of the file's outboard [default: SOURCE.mkt]
    ///
    /// A file that has none, and has at most 64 MiB, is verified as a whole against --root.
    #[arg(long, value_name = "PLACE", value_parser = place(), value_hint = ValueHint::AnyPath)]
    pub outboard: Option<Input>,
    /// The outboard is that of another program, in this format: blake3, fsverity, dmverity:...; or obao4, iroh's for blake3
    ///
    /// By default SOURCE.obao, SOURCE.fsverity, SOURCE.verity or SOURCE.obao4.
    #[arg(long, value_name = "FORMAT", value_parser = foreign)]
    pub foreign: Option<ForeignFormat>,
    /// Path or URL of the directory's catalogue [default: SOURCE/.mksum/catalogue]
    #[arg(long, value_name = "PLACE", value_parser = place(), value_hint = ValueHint::AnyPath, conflicts_with_all = ["outboard", "foreign"])]
    pub catalogue: Option<Input>,
    /// Copy of SOURCE that is asked for bytes that are damaged or cannot be read; may be repeated
    ///
    /// Its bytes are verified, too.
    #[arg(long, value_name = "COPY", value_parser = place(), value_hint = ValueHint::AnyPath)]
    pub replica: Vec<Input>,
    /// What is done about damaged bytes that no replica has (eio), or that one has (repair)
    #[arg(long, value_name = "WHAT", value_enum, default_value = "eio")]
    pub on_bad: OnBad,
    #[command(flatten)]
    pub common: Common,
}

/// What is done about damaged bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnBad {
    /// A read of them fails (EIO); the file stays as it is
    Eio,
    /// The bytes of a replica are also written to the file
    Repair,
}
