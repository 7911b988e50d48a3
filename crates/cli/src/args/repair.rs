//! The flags of `mksum repair`.

use super::paths::{input, path, place};
use super::{Common, Directories, Reading};
use clap::ValueHint;
use mksum_io::Input;
use std::path::PathBuf;

/// `mksum repair`.
#[derive(Debug, clap::Args)]
pub struct Repair {
    /// Files that have an outboard, or with --recursive directories of such files
    #[arg(value_name = "FILE", required = true, value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub files: Vec<Input>,
    /// An intact copy: a file, or the URL of an object (https://..., s3://BUCKET/KEY); with --recursive a directory of copies
    ///
    /// May be repeated: each copy is asked for what those before it lack or have damaged too. Only damaged ranges are fetched, with range
    /// requests if the server has them, and each is checked against the outboard before it is written. A file that is damaged is read twice:
    /// to find the ranges, and as a whole when they are repaired. With --recursive, the copy of DIR/a/b is COPY/a/b. For stores, credentials and endpoint come from the
    /// environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL, or a profile: AWS_PROFILE. For
    /// https, certificates are those that the system trusts, or those in SSL_CERT_FILE; logins are in ~/.netrc.
    #[arg(long, value_name = "COPY", required = true, value_parser = place(), value_hint = ValueHint::AnyPath)]
    pub from: Vec<Input>,
    /// With --recursive: path of the directory's catalogue [default: DIR/.mksum/catalogue, if it exists]
    #[arg(short, long, value_name = "PATH", requires = "recursive", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub catalogue: Option<PathBuf>,
    /// Path of the outboard [default: FILE.mkt]
    #[arg(short = 'o', long, value_name = "PATH", value_parser = place(), value_hint = ValueHint::FilePath)]
    pub outboard: Option<Input>,
    /// Report the damaged ranges and the bytes that would be fetched for them; nothing is fetched or written
    #[arg(long)]
    pub dry_run: bool,
    /// Compare with this root instead of trusting the outboard's
    #[arg(long, value_name = "ROOT")]
    pub root: Option<String>,
    /// Print one JSON object per line (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub directories: Directories,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}
