//! The flags of `mksum repair`.

use super::Reading;
use clap::ValueHint;
use std::path::PathBuf;

/// `mksum repair`.
#[derive(Debug, clap::Args)]
pub struct Repair {
    /// A file that has an outboard
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// A good copy: a file, http://..., https://... or s3://BUCKET/KEY
    ///
    /// Only what is damaged is fetched, with range requests, and nothing that is fetched is believed. For S3 the
    /// environment has what Amazon's tools want there: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION,
    /// AWS_ENDPOINT_URL.
    #[arg(long, value_name = "GOOD", value_hint = ValueHint::AnyPath)]
    pub from: PathBuf,
    /// The file's outboard [default: FILE.mkt]
    #[arg(short = 'o', long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub outboard: Option<PathBuf>,
    /// The root that the file should have; without it the outboard's own is taken
    #[arg(long, value_name = "ROOT")]
    pub root: Option<String>,
    /// Print one JSON object for each range, and one for the file
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// How the file is read.
    #[command(flatten)]
    pub reading: Reading,
}
