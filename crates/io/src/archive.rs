//! A directory as a Nix archive, which is one chain: its files are read one after the other.

use crate::entries::{Entries, EntryKind, KEPT_FOLDER, Listed};
use crate::open::{Opened, Waiting, open_with};
use crate::stream::{Bytes, hash_stream};
use crate::{Error, File, Input, Options, Refusal};
use mksum::directory::{Archive, DirectorySpec, Leaves, Member};
use mksum::{Spec, formats::Family};
use std::path::Path;
use std::{fs, vec};

/// The errors in a listing that are reported, at the most.
const MOST: usize = 20;

/// The finished leaves of a directory in a format of archives. Holds the names of all entries: those of a folder come before the next name
/// in it, which is not the order of paths.
///
/// # Errors
/// If any entry cannot be read, is a pipe, a socket or a device, or changes meanwhile: the first reasons.
pub(crate) fn hash_archive(directory: &Path, spec: &DirectorySpec, options: &Options) -> Result<Leaves, Vec<Error>> {
    let input = Input::from(directory);
    let fail = |error| vec![error];
    let skip = Box::new(|path: &[u8], _: &dyn Fn() -> _, _: &_| path == KEPT_FOLDER.as_bytes());
    let mut entries = Entries::checked(directory, skip).map_err(fail)?;
    let (mut members, mut errors) = (Vec::new(), Vec::new());
    for entry in entries.by_ref() {
        options.stop.check(&input).map_err(fail)?;
        match entry {
            Ok(listed) if listed.facts.kind == EntryKind::Special => {
                errors.push(Error::refused(&listed.place, Refusal::Special));
            }
            Ok(listed) => members.push(listed),
            Err(unlisted) => errors.push(unlisted.error),
        }
    }
    if !errors.is_empty() {
        errors.truncate(MOST);
        return Err(errors);
    }
    members.sort_unstable_by(|one, other| Archive::order(&one.path).cmp(Archive::order(&other.path)));
    let (count, sizes) = (members.len() as u64, members.iter().map(|member| member.facts.size).sum());
    options.meter.expect(sizes);
    let (archive, begin) = Archive::begin();
    let mut reading =
        Reading { members: members.into_iter(), archive: Some(archive), framing: begin, file: None, options };
    let hash = Spec::new(Family::named("sha256").expect("a row of the table"));
    let roots = hash_stream(&mut reading, None, &input, &[hash], options).map_err(fail)?;
    let root = roots.expect("a stream is read once").remove(0).map_err(fail)?;
    entries.take_stamps().map_or(Ok(()), |stamps| stamps.check()).map_err(fail)?;
    Ok(Leaves::of_archive(spec, root.digest(), count))
}

/// The bytes of an archive, in order.
struct Reading<'a> {
    members: vec::IntoIter<Listed>,
    /// `None` when its last bytes are in `framing`.
    archive: Option<Archive>,
    /// The bytes up to the next content.
    framing: Vec<u8>,
    /// The file whose content comes after these, and the number of its bytes that were read.
    file: Option<(File, Listed, u64)>,
    options: &'a Options,
}

impl Bytes for Reading<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut len = 0;
        while len < buffer.len() {
            let room = &mut buffer[len..];
            if !self.framing.is_empty() {
                let more = self.framing.len().min(room.len());
                room[..more].copy_from_slice(&self.framing[..more]);
                self.framing.drain(..more);
                len += more;
            } else if let Some((file, _, done)) = &mut self.file
                && *done < file.len()
            {
                self.options.stop.check(file.input())?;
                let more = (file.len() - *done).min(room.len() as u64) as usize;
                file.fill(*done, &mut room[..more])?;
                *done += more as u64;
                len += more;
            } else if !self.advance()? {
                break;
            }
        }
        Ok(len)
    }
}

impl Reading<'_> {
    /// Goes on to the next member, or to the end; `false` behind that.
    fn advance(&mut self) -> Result<bool, Error> {
        if let Some((file, listed, _)) = self.file.take() {
            file.finish()?;
            listed.facts.check(&listed.place)?;
            self.options.meter.finish_file();
        }
        let Some(archive) = &mut self.archive else { return Ok(false) };
        let Some(listed) = self.members.next() else {
            self.framing = self.archive.take().map(Archive::end).unwrap_or_default();
            return Ok(true);
        };
        let place = Input::from(&listed.place);
        let text;
        let member = match listed.facts.kind {
            EntryKind::Link => {
                let link = fs::read_link(&listed.place).map_err(|error| Error::Open { path: place.clone(), error })?;
                text = link.into_os_string().into_encoded_bytes();
                Member::Link(&text)
            }
            EntryKind::Directory => Member::Directory,
            EntryKind::File | EntryKind::Special => Member::File { len: listed.facts.size, mode: listed.facts.mode },
        };
        let pushed = archive.push(&listed.path, member);
        self.framing = pushed.map_err(|error| Error::Changed { path: place.clone(), how: error.to_string() })?;
        if let Member::File { len, .. } = member {
            match open_with(&place, None, Waiting::Never, self.options)? {
                Opened::File(file) if file.len() == len => self.file = Some((*file, listed, 0)),
                _ => {
                    let how = "it is not the file that was listed".into();
                    return Err(Error::Changed { path: place, how });
                }
            }
        }
        Ok(true)
    }
}
