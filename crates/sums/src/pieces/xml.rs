//! XML of a known namespace, element by element.

use crate::name::printable;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;
use std::fmt::Display;

/// The elements that lie in one another, at most.
const DEEPEST: usize = 16;

/// An end of an element.
pub(super) enum Tag<'a> {
    /// The beginning, with the attributes.
    Start(&'a BytesStart<'a>),
    /// The end, with the text since the last tag, without white space around it.
    End(&'a str),
}

/// Is shown an end of an element, and the names from the outermost element to it.
type Each<'a> = dyn FnMut(&[&str], Tag<'_>) -> Result<(), String> + 'a;

/// Shows `each` both ends of every element, with the names from the outermost element to this one: `""` for an element of another namespace.
/// The outermost must be `root` of `namespace`.
///
/// # Errors
/// If the bytes are no such document, or as `each`: the offset in bytes and the reason, as words.
pub(super) fn walk(bytes: &[u8], (root, namespace): (&str, &str), each: &mut Each<'_>) -> Result<(), String> {
    let text = str::from_utf8(bytes).map_err(|error| format!("byte {}: expected UTF-8", error.valid_up_to()))?;
    let mut reader = NsReader::from_str(text);
    let (mut path, mut text): (Vec<String>, String) = (Vec::new(), String::new());
    loop {
        let at = reader.buffer_position();
        let fail = |why: &dyn Display| Err(format!("byte {at}: {why}"));
        let (found, event) = match reader.read_resolved_event() {
            Ok(read) => read,
            Err(error) => return fail(&printable(&error.to_string())),
        };
        let is_ours = matches!(found, ResolveResult::Bound(name) if name.0 == namespace.as_bytes());
        let is_empty = matches!(event, Event::Empty(_));
        match event {
            Event::Start(start) | Event::Empty(start) => {
                let name = match is_ours {
                    true => String::from_utf8_lossy(start.local_name().as_ref()).into_owned(),
                    false => String::new(),
                };
                if path.is_empty() && name != root {
                    return fail(&format_args!("expected the element {root} of {namespace}"));
                }
                path.push(name);
                text.clear();
                if path.len() > DEEPEST {
                    return fail(&"elements are nested more than 16 deep");
                }
                let opened: Vec<_> = path.iter().map(String::as_str).collect();
                each(&opened, Tag::Start(&start)).or_else(|why| fail(&why))?;
                if is_empty {
                    each(&opened, Tag::End("")).or_else(|why| fail(&why))?;
                    path.pop();
                }
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::DocType(_) => return fail(&"a document type is not read"),
            Event::Text(part) => match part.xml_content(XmlVersion::Explicit1_0) {
                Ok(part) => text.push_str(&part),
                Err(error) => return fail(&error),
            },
            Event::CData(part) => match part.decode() {
                Ok(part) => text.push_str(&part),
                Err(error) => return fail(&error),
            },
            Event::GeneralRef(name) => match reference(&name) {
                Some(letter) => text.push_str(&letter),
                None => return fail(&"an entity that XML does not define"),
            },
            Event::End(_) => {
                let opened: Vec<_> = path.iter().map(String::as_str).collect();
                each(&opened, Tag::End(text.trim())).or_else(|why| fail(&why))?;
                path.pop();
                text.clear();
            }
            Event::Eof if path.is_empty() => return Ok(()),
            Event::Eof => return fail(&"the file ends within an element"),
        }
    }
}

/// The value of an attribute.
pub(super) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = start.try_get_attribute(name).ok()??;
    found.normalized_value(XmlVersion::Explicit1_0).ok().map(Into::into)
}

/// The letter of an entity or of a number.
fn reference(name: &BytesRef<'_>) -> Option<String> {
    if let Ok(Some(letter)) = name.resolve_char_ref() {
        return Some(letter.into());
    }
    resolve_predefined_entity(&name.decode().ok()?).map(Into::into)
}
