//! `mksum torrent`: a torrent of a file or directory.

use crate::args::Torrent as Args;
use crate::exit::Ended;
use crate::figures::{bytes, grouped};
use crate::print::report_transfer;
use crate::tool::Tool;
use mksum_cli::name::Shown;
use mksum_get::{Error, MadeTorrent, NewTorrent, make_torrent};
use mksum_io::Replacement;
use serde::Serialize;

/// Writes the torrent.
pub fn run(tool: &Tool, args: &Args) -> Ended {
    let console = &tool.console;
    console.use_json(args.json);
    let mut wanted = NewTorrent::default();
    (wanted.piece, wanted.is_hybrid, wanted.is_private) = (args.piece, args.hybrid, args.private);
    (wanted.web_seeds, wanted.announce) = (args.web_seed.clone(), args.announce.clone());
    let progress = tool.progress(|| [Some(0)].into_iter());
    let made = make_torrent(&args.input, &wanted, &tool.options).and_then(|made| {
        let file = Replacement::create(&args.output)?;
        file.write_at(&made.bytes, 0)?;
        file.finish()?;
        Ok::<_, Error>(made)
    });
    drop(progress);
    match made {
        Ok(made) => report(tool, args, &made),
        Err(error) => report_transfer(console, &error),
    }
    Ok(console.exit())
}

fn report(tool: &Tool, args: &Args, made: &MadeTorrent) {
    let console = &tool.console;
    for path in &made.left_out {
        console.note(&format_args!("{}: not a file: left out", Shown(path)));
    }
    if args.json {
        let MadeTorrent { magnet, files, len, piece, kept, .. } = made;
        let (v1, v2) = (made.v1.as_ref().map(ToString::to_string), made.v2.to_string());
        let record = Record {
            kind: "torrent",
            info_hash_v1: v1,
            info_hash: v2,
            magnet,
            files: *files,
            bytes: *len,
            piece: *piece,
            kept: *kept,
        };
        return console.print_json(&args.output, record);
    }
    let line = |text: &str| console.print_verdict(Shown(&args.output).to_string().as_bytes(), text);
    if let Some(v1) = &made.v1 {
        line(&format!("info-hash of v1 {v1}"));
    }
    line(&format!("info-hash of v2 {}", made.v2));
    line(&made.magnet);
    let files = if made.files == 1 { "1 file".into() } else { format!("{} files", grouped(made.files)) };
    let kept = if made.kept == 0 {
        String::new()
    } else {
        format!(", {} not read: the kept tree has the pieces", grouped(made.kept))
    };
    if !args.common.quiet {
        console.note(&format_args!(
            "{}: {files}, {}, pieces of {}{kept}",
            Shown(&args.output),
            bytes(made.len),
            bytes(made.piece)
        ));
    }
}

/// The result, as JSON.
#[derive(Serialize)]
struct Record<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    info_hash_v1: Option<String>,
    info_hash: String,
    magnet: &'a str,
    files: u64,
    bytes: u64,
    piece: u64,
    kept: u64,
}
