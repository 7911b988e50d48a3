//! Whom to trust, and where the files of a log are.

use super::wrong::{Wrong, bytes};
use crate::args::Trust;
use crate::bounded::bounded;
use crate::tool::Tool;
use mksum_io::{Error, Input, Options, open_bytes};
use mksum_log::{Folder, Policy, Published, Source, VerifierKey};
use std::io::ErrorKind;

/// The longest key or policy that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// A log below a URL.
#[derive(Debug)]
pub struct Remote {
    base: Input,
    options: Options,
}

impl Source for Remote {
    fn read(&self, name: &str, at_most: usize) -> Result<Option<Vec<u8>>, mksum_log::Error> {
        let failed = |why: String| mksum_log::Error::Source { name: name.into(), why };
        let reader = match open_bytes(&self.base.join(name.as_ref()), &self.options) {
            Err(Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|error| failed(error.to_string()))?,
        };
        bounded(reader, at_most).map(Some).map_err(|error| failed(error.to_string()))
    }
}

/// The source of the log at a path or URL.
pub fn source(tool: &Tool, log: &Input) -> Box<dyn Source> {
    match log {
        Input::File(path) => Box::new(Folder::new(path)),
        other => Box::new(Remote { base: other.clone(), options: tool.options.clone() }),
    }
}

/// The policy that the flags ask for, if they do.
pub fn policy(tool: &Tool, trust: &Trust) -> Result<Option<Policy>, Wrong> {
    if let Some(path) = &trust.policy {
        let place = path.into();
        let text = bytes(&place, LONGEST, &tool.options)?;
        return Policy::parse(&text).map(Some).map_err(Wrong::of(&place));
    }
    Ok(key(tool, trust)?.map(Policy::from))
}

/// The policy that the flags ask for.
pub fn needed(tool: &Tool, trust: &Trust) -> Result<Policy, Wrong> {
    let policy = policy(tool, trust)?;
    policy.ok_or_else(|| {
        Wrong::Usage("say whom to trust: --key VKEY, as 'mksum log init' printed it, or --policy FILE".into())
    })
}

/// The key of --key: itself, or in a file.
pub fn key(tool: &Tool, trust: &Trust) -> Result<Option<VerifierKey>, Wrong> {
    let Some(given) = &trust.key else { return Ok(None) };
    let wrong = match given.parse() {
        Ok(key) => return Ok(Some(key)),
        Err(error) => error,
    };
    let place: Input = std::path::PathBuf::from(given).into();
    if given.contains('+') || !std::path::Path::new(given).exists() {
        return Err(Wrong::Usage(format!("--key: {wrong}; and there is no such file")));
    }
    let text = String::from_utf8_lossy(&bytes(&place, LONGEST, &tool.options)?).into_owned();
    text.trim_end().parse().map(Some).map_err(Wrong::of(&place))
}

/// The log at a place, with a checkpoint that is signed as the flags ask for, if they do.
pub fn open(tool: &Tool, log: &Input, trust: &Trust) -> Result<Published<Box<dyn Source>>, Wrong> {
    let source = source(tool, log);
    match policy(tool, trust)? {
        Some(policy) => Published::verified(source, &policy),
        None => Published::unverified(source),
    }
    .map_err(Wrong::of(log))
}
