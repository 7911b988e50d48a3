//! `--key`: verifies the signature of a sum file before any of its lines counts.

use crate::args::Signature;
use crate::exit::Exit;
use crate::tool::Tool;
use mksum_cli::name::Shown;
use mksum_cli::sumfile::Holds;
use mksum_io::{Input, open_regular};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is printed about a signature.
#[cfg_attr(not(feature = "signatures"), expect(dead_code, reason = "no signature is verified"))]
pub struct Says {
    /// Whether one that is valid gets a JSON object, and a line of words.
    pub json: bool,
    pub words: bool,
    /// What another one means.
    pub otherwise: &'static str,
}

/// The bytes of a sum file whose signature is valid; `None` if the flags name no key.
///
/// # Errors
/// If it is not signed by that key: the reason was reported.
#[cfg(feature = "signatures")]
pub fn read<R: Read>(
    tool: &Tool,
    signature: &Signature,
    (list, open): (&Input, impl FnOnce() -> io::Result<R>),
    says: Says,
) -> Result<Option<Arc<[u8]>>, Exit> {
    let Some(key) = &signature.key else { return Ok(None) };
    match verified::list((list, open()), signature.sig.as_deref(), key) {
        Ok((bytes, signed)) => {
            if says.json {
                tool.console.print_json(list, verified::Record::new(&signed));
            }
            if says.words {
                tool.console.note(&format_args!("{}: {signed}", Shown(list)));
            }
            Ok(Some(bytes.into()))
        }
        Err(why) => {
            tool.console.error(list, &format_args!("{why}; {}", says.otherwise));
            Err(Exit::Unauthenticated)
        }
    }
}

/// Refuses `--key`, since nothing here verifies signatures.
#[cfg(not(feature = "signatures"))]
pub fn read<R: Read>(
    _: &Tool,
    signature: &Signature,
    _: (&Input, impl FnOnce() -> io::Result<R>),
    _: Says,
) -> Result<Option<Arc<[u8]>>, Exit> {
    match signature.key {
        None => Ok(None),
        Some(_) => Err(crate::exit::usage(&"--key: this build of mksum verifies no signatures")),
    }
}

#[cfg(feature = "signatures")]
mod verified {
    use crate::bounded::bounded;
    use mksum_cli::name::Shown;
    use mksum_cli::signature::{Keys, LONGEST, Signed, embedded, verify};
    use mksum_io::{Input, reason};
    use serde::Serialize;
    use std::fs;
    use std::io::{self, Read};
    use std::path::Path;

    /// The longest list that is held in memory, in bytes: a million lines are less than half of it.
    const LONGEST_LIST: usize = 256 << 20;

    /// A list without its signature, and who signed it.
    pub fn list<R: Read>(
        (place, reader): (&Input, io::Result<R>),
        sig: Option<&Path>,
        key: &Path,
    ) -> Result<(Vec<u8>, Signed), String> {
        let named = |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", Shown(path));
        let keys = match key.to_str().map(|word| Keys::parse(word.as_bytes())) {
            // The key itself.
            Some(Ok(keys)) => keys,
            _ => {
                let text = file(key).map_err(|error| named(key, &reason(&error)))?;
                Keys::parse(&text).map_err(|error| named(key, &error))?
            }
        };
        let list = reader.and_then(|reader| bounded(reader, LONGEST_LIST));
        let list = list.map_err(|error| reason(&error))?;
        if let Some(sig) = sig {
            let signature = file(sig).map_err(|error| named(sig, &reason(&error)))?;
            let signed = verify(&list, &signature, &keys).map_err(|error| named(sig, &error))?;
            return Ok((list, signed));
        }
        let missing = || match place.file().and_then(super::beside) {
            Some((sig, true)) => {
                format!("the list holds no signature: is it {}? Name its file with --sig", Shown(&sig))
            }
            _ => "the list holds no signature: name its file with --sig".into(),
        };
        let (signature, message) = embedded(&list).ok_or_else(missing)?;
        let signed = verify(message, signature, &keys).map_err(|error| error.to_string())?;
        Ok((message.to_vec(), signed))
    }

    /// The bytes of a file of keys or signatures: those that are too long are no such file.
    fn file(path: &Path) -> io::Result<Vec<u8>> {
        if fs::metadata(path)?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        bounded(fs::File::open(path)?, LONGEST)
    }

    /// A valid signature, as JSON.
    #[derive(Serialize)]
    pub struct Record<'a> {
        kind: &'static str,
        program: &'static str,
        key: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        signer: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        comment: Option<&'a str>,
    }

    impl<'a> Record<'a> {
        pub fn new(signed: &'a Signed) -> Self {
            let Signed { program, key, signer, comment } = signed;
            Record { kind: "signature", program, key, signer: signer.as_deref(), comment: comment.as_deref() }
        }
    }
}

/// What is to be done about a signature that lies beside a sum file, or in it, and was not verified.
pub fn hint(sum_file: &Path, held: Option<Holds>) -> Option<String> {
    let list = Shown(sum_file);
    match held {
        Some(Holds::Pgp) => return Some(format!("its PGP signature was not checked: gpg --verify {list}")),
        Some(Holds::Signify) => return Some("its signature was not checked: give the public key with --key".into()),
        None => {}
    }
    beside(sum_file).map(|(sig, known)| match known {
        true => format!("the signature beside it was not checked: --sig {} --key KEY", Shown(&sig)),
        false => format!("the signature beside it was not checked: gpg --verify {} {list}", Shown(&sig)),
    })
}

/// The signature that lies beside a sum file, if there is one, and whether it is none of PGP.
fn beside(sum_file: &Path) -> Option<(PathBuf, bool)> {
    ["minisig", "sig", "asc", "gpg", "sign"].iter().find_map(|end| {
        let mut name = sum_file.file_name()?.to_os_string();
        name.push(format!(".{end}"));
        let (sig, mut begin) = (sum_file.with_file_name(name), Vec::new());
        open_regular(&sig).ok()?.take(18).read_to_end(&mut begin).ok()?;
        let known = begin == b"untrusted comment:" || begin == b"-----BEGIN SSH SIG";
        Some((sig, known))
    })
}
