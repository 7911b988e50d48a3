//! --stored: compares objects with the sums that their stores have of them.

use crate::args::Run;
use crate::claims::{Claim, claims};
use crate::exit::{Ended, refuse};
use crate::print::{print, report_error};
use crate::report;
use crate::tool::Tool;
use mksum::ordered::ordered;
use mksum::{Root, Spec};
use mksum_cli::name::Shown;
use mksum_io::{Hashed, Input, Job, Url, hash_items};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// The objects whose sums are asked for at a time, and the requests that run at once.
const ASKED: usize = 256;
const ASKING: usize = 32;

/// Prints the roots that agree, and fails where one does not, or nothing can be compared.
pub fn run(tool: &Tool, args: &Run) -> Ended {
    let Some(objects) = tool.options.objects.clone() else {
        return refuse(&"this build of mksum has no network client");
    };
    let rules = tool.rules(&args.directories)?;
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
    Ok(tool.console.exit())
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
