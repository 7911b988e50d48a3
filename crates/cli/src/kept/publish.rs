//! `mksum keep --publish`: what a mirror carries beside a file, and the line with which others fetch it.

use crate::args::Keep;
use crate::exit::{Ended, refuse};
use crate::print::report_transfer;
use crate::tool::Tool;
use mksum::ByOffset;
use mksum::formats::Binding;
use mksum_cli::name::{Shown, lossy};
use mksum_get::{Publish, Published, publish};
use mksum_io::outboard::Changes;
use mksum_io::{Input, Url};
use serde::Serialize;
use std::collections::HashSet;
use std::path::Path;

/// Publishes each file.
pub fn run(tool: &Tool, args: &Keep, folder: &Path) -> Ended {
    let console = &tool.console;
    console.use_json(args.json);
    let [choice] = &tool.formats[..] else { return refuse(&"keep takes one --format: an outboard has one tree") };
    if let Err(why) = choice.spec().supports(ByOffset::Outboard) {
        return refuse(&why);
    }
    let Some(mirrors) = args.from.iter().map(|place| place.url().cloned()).collect::<Option<Vec<Url>>>() else {
        return refuse(&"--from: with --publish, the URL at which DIR will be served: https://...");
    };
    let mut names = HashSet::new();
    if let Some(twin) = args.files.iter().find(|file| !names.insert(file.name())) {
        return refuse(&format_args!("{}: another file has the same name: publish it in another folder", Shown(twin)));
    }
    let mut wanted = Publish::new(choice.spec().clone(), folder.into(), mirrors);
    wanted.unit = args.keep_leaf;
    if args.accept_changes {
        wanted.changes = Changes::Accept;
    }
    let _progress = tool.progress(|| [Some(0)].into_iter());
    for input in &args.files {
        let Input::File(path) = input else {
            console.error(input, &"only files of this machine are published: fetch it first");
            continue;
        };
        match publish(path, &wanted, &tool.options) {
            Ok(done) => report(tool, args, (path, folder), &done),
            Err(error) => report_transfer(console, &error),
        }
        tool.options.meter.finish_file();
    }
    Ok(console.exit())
}

fn report(tool: &Tool, args: &Keep, (path, folder): (&Path, &Path), done: &Published) {
    let command = command(path, done);
    if !done.has_file && !args.common.quiet {
        let name = path.file_name().unwrap_or_default();
        tool.console.note(&format_args!(
            "{}: mirrors need the file itself, too: cp {} {}",
            Shown(folder),
            quoted(&lossy(path)),
            quoted(&lossy(&folder.join(name)))
        ));
    }
    if args.json {
        let written = done.written.iter().map(|path| lossy(path).into_owned()).collect();
        let (root, format) = (done.root.to_string(), done.root.spec().to_string());
        let record = Record { kind: "published", format, length: done.root.len(), root, written, command };
        return tool.console.print_json(path, record);
    }
    tool.console.print(format!("{command}\n").as_bytes());
}

/// The command that fetches the file.
fn command(path: &Path, done: &Published) -> String {
    let mut words = vec!["mksum".into(), "get".into()];
    words.extend(done.mirrors.iter().map(|url| quoted(url.as_str())));
    let root = &done.root;
    words.extend(["--root".into(), quoted(&format!("{}:{root}", root.spec()))]);
    if root.spec().family().binding() == Binding::Nothing {
        words.extend(["--length".into(), root.len().to_string()]);
    }
    let name = lossy(Path::new(path.file_name().unwrap_or_default()));
    let name = if name.starts_with('-') { format!("./{name}") } else { name.into_owned() };
    words.extend(["-o".into(), quoted(&name)]);
    words.join(" ")
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.into(), |word| word.into_owned())
}

/// The result, as JSON.
#[derive(Serialize)]
struct Record {
    kind: &'static str,
    format: String,
    length: u64,
    root: String,
    written: Vec<String>,
    command: String,
}
