//! --stored: compares objects with the sums that their stores have of them.

use crate::args::Run;
use crate::exit::{Exit, usage};
use crate::print::{print, report_error};
use crate::report;
use crate::tool::Tool;
use crate::walk::Rules;
use base64ct::{Base64, Encoding};
use mksum::ordered::ordered;
use mksum::{ClaimedRoot, Root, Spec};
use mksum_cli::choice::Choice;
use mksum_cli::name::Shown;
use mksum_io::{Hashed, Input, Job, StoredSums, Url, hash_items};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// A sum that a store has of an object.
struct Claim {
    /// The name of the header.
    name: String,
    /// The header's value.
    text: String,
    /// What it may mean: several where the store does not say whether it is the sum of the object or of its parts.
    claimed: Vec<ClaimedRoot>,
    /// The formats that it may be in: several if the part size is not known.
    specs: Vec<Spec>,
}

/// The roots that a sum may mean, and their formats.
type Claimed = (Vec<ClaimedRoot>, Vec<Spec>);

/// The objects whose sums are asked for at a time, and the requests that run at once.
const ASKED: usize = 256;
const ASKING: usize = 32;

/// Prints the roots that agree, and fails where one does not, or nothing can be compared.
pub fn run(tool: &Tool, args: &Run) -> Exit {
    let Some(objects) = tool.options.objects.clone() else {
        return usage(&"this build of mksum has no network client");
    };
    let rules = match Rules::new(&args.directories, Some(objects.clone())) {
        Ok(rules) => rules,
        Err(reason) => return usage(&reason),
    };
    tool.console.use_json(args.json);
    let _progress = tool.progress(|| [None].into_iter());
    tool.console.flush_regularly();
    let wanted: Vec<_> =
        if args.choices.any() { tool.formats.iter().map(|choice| choice.spec().clone()).collect() } else { Vec::new() };
    let mut walk = rules.walk(&args.files).filter_map(|input| match input {
        Ok(Input::Url(url)) => Some(url),
        Ok(input) => {
            tool.console.error(&input, &"--stored compares objects in stores, by their URLs");
            None
        }
        Err((path, reason)) => {
            tool.console.error(&path, &reason);
            None
        }
    });
    // The stores are asked side by side, as many objects at a time.
    let mut asked = VecDeque::new();
    let answers = std::iter::from_fn(|| {
        if asked.is_empty() {
            let urls: Vec<_> = walk.by_ref().take(ASKED).collect();
            let ask = |(): &mut (), url: Url| (objects.stored(&url), url);
            asked = ordered(urls.len().min(ASKING), ASKED, urls.into_iter(), || (), ask, |answers| answers.collect());
        }
        asked.pop_front()
    });
    let jobs = answers.filter_map(|(stored, url)| {
        let stored = match stored {
            Ok(stored) => stored,
            Err(error) => {
                report_error(&tool.console, &error);
                return None;
            }
        };
        let claims = claims(&stored);
        if claims.is_empty() {
            let names: Vec<_> = stored.sums.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            let names =
                if names.is_empty() { "it has none".to_string() } else { format!("it has {}", names.join(", ")) };
            tool.console.error(&url, &format_args!("the store has no sum of it that can be compared: {names}"));
            return None;
        }
        let mut specs = wanted.clone();
        for spec in claims.iter().flat_map(|claim| &claim.specs) {
            if !specs.contains(spec) {
                specs.push(spec.clone());
            }
        }
        let mut job = Job::new(url.into(), specs);
        job.version = Some((stored.version, stored.len));
        Some((Some(job), claims))
    });
    hash_items(jobs, &tool.options, |claims, hashed| {
        let Hashed { job, result, took } = hashed.expect("each has a job");
        tool.options.meter.finish_file();
        match result {
            Ok(roots) => {
                let roots: Vec<_> = roots.into_iter().filter_map(Result::ok).collect();
                compare(tool, args, job, (&roots, &wanted), &claims, took.as_secs_f64());
            }
            Err(error) => report_error(&tool.console, &error),
        }
        ControlFlow::Continue(())
    });
    if args.common.verbose {
        report::traffic(tool);
    }
    tool.console.exit()
}

fn compare(tool: &Tool, args: &Run, job: &Job, (roots, wanted): (&[Root], &[Spec]), claims: &[Claim], seconds: f64) {
    let url = &job.input;
    for root in roots.iter().filter(|root| wanted.contains(root.spec())) {
        print(tool, args, url, root, seconds);
    }
    for claim in claims {
        let mut found = roots.iter().filter(|root| claim.specs.contains(root.spec()));
        match found.clone().find(|root| claim.claimed.iter().any(|claimed| root.matches(claimed))) {
            Some(root) => {
                if !wanted.contains(root.spec()) {
                    print(tool, args, url, root, seconds);
                }
                tool.console.note(&format_args!("{}: {} agrees ({})", Shown(url), claim.name, root.spec()));
            }
            None => {
                let ours = found.next().map_or_else(|| "nothing".into(), |root| format!("{root} ({})", root.spec()));
                let (name, theirs) = (&claim.name, &claim.text);
                let tried = match claim.specs.len() {
                    1 => String::new(),
                    count => format!(", and none of {count} part sizes fits"),
                };
                tool.console.differ(
                    url,
                    &format_args!("{name} differs{tried}:\n  the store has {theirs}\n  found         {ours}"),
                );
            }
        }
    }
}

/// The sums of an object that can be compared.
fn claims(stored: &StoredSums) -> Vec<Claim> {
    let mut claims = Vec::new();
    let value = |wanted: &str| stored.sums.iter().find(|(name, _)| name == wanted).map(|(_, text)| &text[..]);
    // S3 says whether a sum is that of the object or of its parts. Its kin may not, nor write the number of parts: the ETag has it.
    let kind = value("x-amz-checksum-type");
    let number = value("etag").and_then(|etag| etag.rfind('-').map(|at| &etag[at..])).unwrap_or_default();
    for (name, text) in &stored.sums {
        let mut add = |text: &str, claim: Option<Claimed>| {
            let (name, text) = (name.clone(), text.to_string());
            claims.extend(claim.map(|(claimed, specs)| Claim { name, text, claimed, specs }));
        };
        match &name[..] {
            "etag" => add(text, etag(text, stored.len)),
            "content-md5" => add(text, sum("md5", text)),
            // GCS has several in one header.
            "x-goog-hash" => text.split(',').map(str::trim).for_each(|part| {
                let claim = part.split_once('=').filter(|(name, _)| ["md5", "crc32c"].contains(name));
                add(part, claim.and_then(|(format, text)| sum(format, text)));
            }),
            _ => {
                let Some(format) = name.strip_prefix("x-amz-checksum-") else { continue };
                let format = &format.replace("xxhash", "xxh");
                let full = if text.contains('-') { text.clone() } else { format!("{text}{number}") };
                let of_parts =
                    composite(&format!("s3:{format}"), &full, stored.len).filter(|_| kind != Some("FULL_OBJECT"));
                let whole = sum(format, text).filter(|_| kind != Some("COMPOSITE"));
                let (claimed, specs): (Vec<_>, Vec<_>) = whole.into_iter().chain(of_parts).unzip();
                let found: Claimed = (claimed.concat(), specs.concat());
                add(text, Some(found).filter(|(claimed, _)| !claimed.is_empty()));
            }
        }
    }
    claims
}

/// The MD5 of an object, or of its parts; none if it is something else.
fn etag(text: &str, len: u64) -> Option<Claimed> {
    let spec: Spec = "md5".parse().ok()?;
    match spec.claimed_root(text) {
        Ok(claimed) => Some((vec![claimed], vec![spec])),
        Err(_) => composite("s3:md5", text, len),
    }
}

/// A sum in base64.
fn sum(format: &str, text: &str) -> Option<Claimed> {
    let spec: Spec = format.parse().ok()?;
    let claimed = spec.claimed_root(&base16ct::lower::encode_string(&Base64::decode_vec(text).ok()?)).ok()?;
    Some((vec![claimed], vec![spec]))
}

/// A sum of the sums of parts.
fn composite(format: &str, text: &str, len: u64) -> Option<Claimed> {
    let choice: Choice = format.parse().ok()?;
    let claimed = choice.spec().claimed_root(text).ok()?;
    let specs = choice.candidates(len, &claimed);
    Some((vec![claimed], specs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_stores_are_read_as_each_writes_them() {
        let read = |name: &str, value: &str| {
            let sums = vec![(name.to_string(), value.to_string())];
            let claims = claims(&StoredSums { len: 20 << 20, version: String::new(), sums });
            claims.iter().map(|claim| claim.specs[0].to_string()).collect::<Vec<_>>()
        };
        let (hex, base64) = ("8474cb1b0e5ab0edb8589142647eb461", "hHTLGw5asO24WJFCZH60YQ==");
        assert_eq!(read("etag", hex), ["md5"]);
        assert_eq!(read("etag", &format!("{hex}-3")), ["s3:md5:8MiB"]);
        assert_eq!(read("content-md5", base64), ["md5"]);
        assert_eq!(read("x-goog-hash", &format!("crc32c=AAAAAA==,md5={base64}")), ["crc32c", "md5"]);
        assert_eq!(read("x-amz-checksum-md5", base64), ["md5"]);
        for crc in ["crc32", "crc32c"] {
            assert_eq!(read(&format!("x-amz-checksum-{crc}"), "AAAAAA=="), [crc]);
            assert_eq!(read(&format!("x-amz-checksum-{crc}"), "AAAAAA==-3"), [format!("s3:{crc}:8MiB")]);
        }
        assert_eq!(read("x-amz-checksum-crc64nvme", "AAAAAAAAAAA="), ["crc64nvme"]);
        assert_eq!(read("x-amz-checksum-xxhash64", "NjsCpCQIofY="), ["xxh64"]);
        assert_eq!(read("x-amz-checksum-xxhash3", "kR+rpzIf4aA="), ["xxh3"]);
        assert_eq!(read("x-amz-checksum-xxhash128", base64), ["xxh128"]);
        assert!(read("x-amz-checksum-xxhash64", "NjsCpCQIofY=-3").is_empty());
        let sha256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        assert_eq!(read("x-amz-checksum-sha256", sha256), ["sha256"]);
        assert_eq!(read("x-amz-checksum-sha256", &format!("{sha256}-3")), ["s3:sha256:8MiB"]);
        let parts = [
            ("etag", format!("{hex}-3")),
            ("x-amz-checksum-type", "COMPOSITE".into()),
            ("x-amz-checksum-crc32", "AAAAAA==".into()),
        ];
        let sums = parts.map(|(name, value)| (name.to_string(), value)).to_vec();
        let found = claims(&StoredSums { len: 20 << 20, version: String::new(), sums });
        assert_eq!(found[1].specs[0].to_string(), "s3:crc32:8MiB");
        for (name, value) in
            [("etag", "0x8D4BCC2E4835CD0"), ("etag", ""), ("x-amz-checksum-type", "FULL_OBJECT"), ("content-md5", "x")]
        {
            assert!(read(name, value).is_empty(), "{name}: {value}");
        }
    }
}
