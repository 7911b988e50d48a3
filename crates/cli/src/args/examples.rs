//! What people type: the short help, and examples of each command for its help and its man page.

/// The short help: the commands by what they are for.
pub const SUMMARY: &str = "\
Print, check and keep the Merkle roots of files.

Usage: mksum [-r] [-f FORMAT]... FILE...    print the root of each file
       mksum -c [LIST]...                   check the files that a list names
       mksum --expect SUM FILE              compare with a published sum
       mksum COMMAND [OPTION]... [ARG]...

Look after  keep      keep the tree of a file, or a catalogue of a directory
            verify    report damaged ranges
            repair    fetch only the damaged ranges from a copy
            get       fetch a file from untrusted mirrors
            copy, serve, mount, torrent    read copies back; publish files
            status    report what is new, changed, moved or gone
            update    bring a catalogue up to date
            diff      report how files, directories or lists differ
            import, export          take roots from lists, or print them
Prove       prove, check-proof      that a file contains some bytes
            log       keep an append-only log with proofs (mksum log -h)
Cluster     plan, map, missing, join     hash in parts, on many machines
Expert      merklize  compute all nodes of a tree, on a GPU too
            formats, which, devices, completions, man

'mksum help' shows all options and examples, 'mksum help COMMAND' those of a
command. Everywhere: -q, -v, -C DIR, --color, --no-progress; mostly: --json.
";

/// Examples of the commands: what is typed, and what for.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "keep",
        &[
            ("mksum keep disk.img", "keep the tree in disk.img.mkt"),
            ("mksum keep --update disk.img", "read only what was appended, and say what changed"),
            ("mksum keep -r photos", "keep a catalogue of all files in photos"),
            (
                "mksum keep big.iso --publish pub --from https://HOST/pub",
                "write what mirrors need, and print the 'mksum get' line",
            ),
        ],
    ),
    (
        "verify",
        &[
            ("mksum verify disk.img", "compare a file with its kept tree"),
            ("mksum verify --range 0..1MiB disk.img", "read and compare only these bytes"),
            ("mksum verify -r --budget 30m photos", "half an hour, least recently verified data first"),
        ],
    ),
    (
        "status",
        &[
            ("mksum status photos", "what is new, changed, moved or gone"),
            ("mksum status --json photos", "the same as JSON, an object per entry"),
        ],
    ),
    (
        "update",
        &[
            ("mksum update photos", "read what is new or changed"),
            ("mksum update -c photos.cat /mnt/photos", "with a catalogue that lies elsewhere"),
        ],
    ),
    (
        "import",
        &[
            ("mksum import photos SHA256SUMS", "take the sums of a list"),
            ("mksum import -f md5 photos old.txt", "of a list whose lines name no hash"),
        ],
    ),
    (
        "export",
        &[
            ("mksum export photos > SUMS", "a list for 'mksum -c'"),
            ("mksum export -f sha256 --to bagit bag > manifest-sha256.txt", "a BagIt manifest"),
        ],
    ),
    (
        "diff",
        &[
            ("mksum diff photos backup", "two directories that have catalogues"),
            ("mksum diff photos SHA256SUMS", "a directory and a list"),
            ("mksum diff old.img new.img", "the ranges in which two files with kept trees differ"),
        ],
    ),
    (
        "get",
        &[
            ("mksum get https://a.example/f https://b.example/f --root ROOT -o f", "from two mirrors at once"),
            ("mksum get https://a.example/f.tar --root ROOT -o - | tar x", "pass on verified bytes only"),
            ("mksum get -c SHA256SUMS --from https://a.example/24.04 desktop.iso", "a file of a trusted list"),
            ("mksum get https://a.example/photos --root dir:ROOT -o photos", "a directory that has a catalogue"),
        ],
    ),
    (
        "torrent",
        &[
            ("mksum torrent big.iso -o big.torrent", "a torrent of version 2"),
            (
                "mksum torrent --hybrid --web-seed https://host/ photos -o photos.torrent",
                "a directory, for all programs",
            ),
        ],
    ),
    (
        "copy",
        &[
            ("mksum copy big.img /backup/", "hash it while it is copied, and read the copy back"),
            ("mksum copy -r --keep photos /backup/photos", "a directory, with the tree of each copy beside it"),
            ("mksum copy -r photos s3://bucket/photos", "objects, each read back from the store"),
        ],
    ),
    (
        "serve",
        &[
            ("mksum serve photos", "a directory, at http://127.0.0.1:8080/"),
            ("mksum serve big.iso --listen 0.0.0.0:80", "a file and its outboard, for the whole network"),
            ("mksum serve photos --verify", "no damaged leaf of a file that has an outboard"),
            ("mksum serve https://HOST/pub/ --verify --cache leaves", "a proxy: the verified files of another server"),
        ],
    ),
    (
        "mount",
        &[
            ("mksum mount big.iso /mnt", "/mnt/big.iso, verified through big.iso.mkt"),
            (
                "mksum mount photos /mnt --replica /backup/photos",
                "a directory with a catalogue, damaged leaves from a copy",
            ),
            ("mksum mount https://HOST/photos/ /mnt --root dir:...", "a directory on a server that you do not trust"),
        ],
    ),
    (
        "repair",
        &[
            ("mksum repair disk.img --from https://example.com/disk.img", "fetch only the damaged ranges"),
            ("mksum repair -r photos --from /mnt/backup/photos", "all damaged files of a catalogue"),
        ],
    ),
    (
        "prove",
        &[
            ("mksum prove big.iso --range 0..4096 > proof", "that the file contains these bytes"),
            ("mksum prove log --consistency 1000000 > proof", "that the file has only grown"),
            ("mksum prove -f dir photos --path a.jpg > proof", "that the directory contains a file"),
        ],
    ),
    (
        "check-proof",
        &[
            ("mksum check-proof ROOT proof bytes", "that these bytes are in the file with this root"),
            ("mksum check-proof --length 5GB ROOT proof bytes", "in a file of this length"),
        ],
    ),
    (
        "plan",
        &[
            ("mksum plan -r s3://bucket/data/ > PLAN", "the parts of all objects"),
            ("mksum plan --tasks 100 huge.bin > PLAN", "for 100 tasks"),
        ],
    ),
    (
        "map",
        &[
            ("mksum map PLAN > LEDGER", "hash all parts"),
            ("mksum map --task 7 PLAN > LEDGER.7", "hash those of one task"),
        ],
    ),
    ("missing", &[("mksum missing PLAN LEDGER | mksum map >> LEDGER", "hash what is not hashed yet")]),
    (
        "join",
        &[
            ("mksum join --plan PLAN LEDGER.0 LEDGER.1", "the roots, from the digests of all parts"),
            ("mksum join -f dir a=/mnt/1/a b=/mnt/2/b", "one root of a directory in parts"),
        ],
    ),
    (
        "merklize",
        &[
            ("mksum merklize leaves.bin -o nodes.bin", "all nodes over the digests in a file"),
            ("mksum merklize --random 2^25 --device auto", "how fast a GPU is"),
        ],
    ),
    (
        "log",
        &[
            ("mksum log init ledger --origin example.com/ledger", "make a log, and print its public key"),
            ("mksum log import ledger entries.jsonl", "append each line, and sign a checkpoint"),
            ("mksum log prove ledger 7 > 7.tlog-proof", "prove that entry 7 is in it"),
            ("mksum log check 7.tlog-proof --key KEY --entry 7.json", "check the proof, offline"),
            ("mksum log follow https://example.com/ledger mirror --key KEY", "mirror it; catch forks"),
            ("mksum log fsck ledger", "check every entry and every tile"),
        ],
    ),
    (
        "formats",
        &[
            ("mksum formats", "all formats"),
            ("mksum formats blake3", "one of them"),
            ("mksum formats --json", "the same as JSON"),
        ],
    ),
    (
        "which",
        &[
            ("mksum which d41d8cd98f00b204e9800998ecf8427e", "32 digits: MD5, and what else"),
            ("mksum which 'GlTJ5bEzFyk=' file.iso", "the format in which the file has this sum"),
        ],
    ),
    (
        "devices",
        &[("mksum devices", "CPU kernels and GPUs"), ("mksum devices -v", "with the kernels chosen for few messages")],
    ),
    ("help", &[("mksum help verify", "the help of a command")]),
    ("man", &[("mksum man keep | man -l -", "read a page"), ("mksum man --directory man1", "write all pages")]),
    ("completions", &[("mksum completions zsh > _mksum", "for zsh")]),
];

/// The examples of a command, as a part of its help.
pub fn of(command: &str) -> String {
    let Some((_, examples)) = EXAMPLES.iter().find(|(name, _)| *name == command) else { return String::new() };
    let lines: Vec<_> = examples.iter().map(|(typed, what)| format!("  {typed}\n      {what}")).collect();
    format!("Examples:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::super::{Args, grammar};
    use super::*;
    use clap::Parser;

    #[test]
    fn the_summary_fits_a_screen_and_has_every_command() {
        assert!(SUMMARY.lines().count() <= 24, "{} lines", SUMMARY.lines().count());
        assert!(SUMMARY.lines().all(|line| line.chars().count() < 80));
        for command in grammar().get_subcommands() {
            let words = SUMMARY.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
            assert!(words.into_iter().any(|word| word == command.get_name()), "{}", command.get_name());
        }
    }

    #[test]
    fn every_command_has_examples_that_it_understands() {
        for command in grammar().get_subcommands() {
            let name = command.get_name();
            let (_, examples) = EXAMPLES.iter().find(|(example, _)| *example == name).expect(name);
            for (typed, _) in *examples {
                for part in typed.split(" | ").filter(|part| part.starts_with("mksum")) {
                    let line = part.split(" >").next().unwrap_or(part).split(' ');
                    assert!(Args::try_parse_from(line).is_ok(), "{part}");
                }
                assert!(typed.starts_with(&format!("mksum {name}")) && typed.len() < 76, "{typed}");
            }
        }
    }
}
