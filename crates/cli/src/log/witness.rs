//! `mksum log checkpoint --witness`: asks a witness to cosign the newest checkpoint (C2SP tlog-witness).

use super::print::Newest;
use super::trust::key;
use super::write::open;
use super::wrong::Wrong;
use crate::args::Trust;
use crate::tool::Tool;
use mksum_io::{Input, Url};
use mksum_log::{Folder, Published};

/// The most requests: the first says that the witness has seen nothing, and the witness may see another checkpoint between two of them.
const TRIES: usize = 4;

/// Asks a witness, adds its signature to the checkpoint, and prints that.
pub fn ask(tool: &Tool, log: &Input, place: &Input, trust: &Trust, json: bool) -> Result<(), Wrong> {
    let Some(directory) = log.file() else { return Err(Wrong::Usage("--witness needs the folder of the log".into())) };
    let Some(url) = place.url() else { return Err(Wrong::Usage("--witness needs a URL: http:// or https://".into())) };
    let key = key(tool, trust)?.ok_or_else(|| Wrong::Usage("--witness needs --key: its public key".into()))?;
    let published = Published::unverified(Folder::new(directory)).map_err(Wrong::of(log))?;
    let size = published.checkpoint().size();
    let failed = |why: String| Wrong::Failed(place.clone(), why);
    let url = Url::parse(&format!("{}/add-checkpoint", url.as_str().trim_end_matches('/')));
    let url = url.ok_or_else(|| Wrong::Usage("--witness needs a URL: http:// or https://".into()))?;
    let mut old = 0;
    for _ in 0..TRIES {
        let proof = published.consistency(old).map_err(Wrong::of(log))?;
        let (status, body) = post(&url, proof.to_string().into_bytes()).map_err(failed)?;
        let text = String::from_utf8_lossy(&body);
        old = match status {
            200 => return add(tool, log, text.lines(), &key, json),
            // The size that the witness has seen, or that of a moment ago.
            409 => match text.trim_end_matches('\n').parse() {
                Ok(seen) if seen > size => {
                    let why =
                        format!("the witness has seen {seen} entries, and the log has {size}: it was rolled back");
                    return Err(Wrong::Untrusted(log.clone(), why));
                }
                Ok(seen) => seen,
                Err(_) => return Err(failed(format!("409 without the size of a tree: {}", said(&text)))),
            },
            404 => return Err(failed("404: it knows no log of this origin, or it is no witness".into())),
            422 => {
                let why = format!("fork: the witness has seen another tree of {old} entries: {}", said(&text));
                return Err(Wrong::Untrusted(log.clone(), why));
            }
            status => return Err(failed(format!("{status}: {}", said(&text)))),
        };
    }
    Err(failed("the size that it has seen changes with each request: try again".into()))
}

/// Adds the signature by a key to the last checkpoint.
fn add<'a>(
    tool: &Tool,
    place: &Input,
    mut lines: impl Iterator<Item = &'a str>,
    key: &mksum_log::VerifierKey,
    json: bool,
) -> Result<(), Wrong> {
    let begin = format!("\u{2014} {} ", key.name());
    let line = lines.find(|line| line.starts_with(&begin)).ok_or_else(|| {
        Wrong::Untrusted(place.clone(), format!("the witness answers without a signature of {}", key.name()))
    })?;
    let mut log = open(tool, place.file().expect("the caller has the folder"))?;
    log.add_cosignature(line, key).map_err(Wrong::of(place))?;
    let checkpoint = log.checkpoint().map_err(Wrong::of(place))?.clone();
    match json {
        true => tool.console.print_json(place, Newest::new(&checkpoint, log.note(), None)),
        false => tool.console.print(log.note().to_string().as_bytes()),
    }
    Ok(())
}

/// The first words of an answer.
fn said(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(200)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

#[cfg(feature = "stores")]
fn post(url: &Url, body: Vec<u8>) -> Result<(u16, Vec<u8>), String> {
    let answer = mksum_stores::Stores::new().post(url, body).map_err(|error| error.to_string())?;
    Ok((answer.status, answer.body))
}

#[cfg(not(feature = "stores"))]
fn post(_: &Url, _: Vec<u8>) -> Result<(u16, Vec<u8>), String> {
    Err("this build of mksum has no client of web servers: build it with the feature stores".into())
}
