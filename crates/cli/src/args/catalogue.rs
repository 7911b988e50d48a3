//! The commands for catalogues of directories.
#![cfg_attr(not(feature = "catalogue"), allow(dead_code))] // They are refused.

use super::paths::{path, place};
use super::{Choices, Common, Reading};
use clap::{ValueEnum, ValueHint};
use mksum_io::Input;
use std::path::PathBuf;

/// A directory that has a catalogue.
#[derive(Debug, clap::Args)]
pub struct Catalogued {
    /// A directory that has a catalogue (mksum keep -r DIR)
    #[arg(value_name = "DIR", default_value = ".", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// Path of the catalogue [default: DIR/.mksum/catalogue]
    #[arg(short, long, value_name = "PATH", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub catalogue: Option<PathBuf>,
    /// Print one JSON object per line (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub common: Common,
}

/// `mksum status`.
#[derive(Debug, clap::Args)]
pub struct Status {
    #[command(flatten)]
    pub catalogued: Catalogued,
    /// Report how much was verified, and when, instead of what differs: as text, or as metrics for Prometheus
    ///
    /// A file counts if it was read again and compared since it was kept. --checks=prometheus is for the textfile collector of
    /// node_exporter; --json prints an object.
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub checks: Option<Checks>,
}

/// The form of a report about verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Checks {
    /// A line
    Text,
    /// Metrics in Prometheus's text format
    Prometheus,
}

/// `mksum update`.
#[derive(Debug, clap::Args)]
pub struct Update {
    #[command(flatten)]
    pub catalogued: Catalogued,
    /// Take the content of this file or folder as it is now, although it seems damaged; may be repeated
    ///
    /// PATH is relative to DIR; '.' is all of it, also where nothing is left that the catalogue has. Files are read even if their size,
    /// mtime and inode show no change.
    #[arg(long, value_name = "PATH", value_parser = path(), conflicts_with = "dry_run")]
    pub accept_changes: Vec<PathBuf>,
    /// Report what differs and how much would be read; nothing is read or written
    #[arg(long)]
    pub dry_run: bool,
    /// Append the root of the directory to the log in FOLDER, once the catalogue is up to date ('mksum log init' makes one)
    #[arg(long, value_name = "FOLDER", conflicts_with = "dry_run", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub log: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// `mksum import`.
#[derive(Debug, clap::Args)]
pub struct Import {
    /// A directory; a catalogue is made for it if it has none
    #[arg(value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// Sum files, manifests, lines of --json, or other catalogues; their paths are those below DIR
    #[arg(value_name = "LIST", required = true, value_parser = place(), value_hint = ValueHint::AnyPath)]
    pub lists: Vec<Input>,
    #[command(flatten)]
    pub choices: Choices,
    /// Path of the catalogue [default: DIR/.mksum/catalogue]
    #[arg(short, long, value_name = "PATH", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub catalogue: Option<PathBuf>,
    /// Report what would be imported; nothing is written
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object per line (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub common: Common,
}

/// `mksum export`.
#[derive(Debug, clap::Args)]
pub struct Export {
    /// A catalogue, or a directory that has one
    #[arg(value_name = "CATALOGUE", default_value = ".", value_parser = path(), value_hint = ValueHint::AnyPath)]
    pub from: PathBuf,
    /// The form: sums (mksum -c checks them in the directory), bagit (a manifest), mhl (ASC MHL, of film sets) or json
    ///
    /// Without -f, sums and json have all formats of the catalogue. A bag's manifest has one: the first that is a plain sum, as of
    /// 'mksum keep -r -f sha512'. ASC MHL has those of c4, sha1, md5, xxh128, xxh3 and xxh64.
    #[arg(long, value_name = "FORM", default_value = "sums")]
    pub to: Form,
    #[command(flatten)]
    pub choices: Choices,
    #[command(flatten)]
    pub common: Common,
}

/// What a catalogue is exported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Lines of a sum file
    Sums,
    /// Lines of a BagIt manifest
    Bagit,
    /// An ASC MHL manifest, of film sets
    Mhl,
    /// One JSON object per entry
    Json,
}
