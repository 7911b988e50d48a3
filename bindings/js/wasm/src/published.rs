//! Published sums: what the tool's parser makes of them, for the site's element and the modules with lists.

use crate::abi::buffer;
use crate::refusal::{Class, Refusal};
use crate::root_abi::answer;
use crate::spec::text_of;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use mksum_js_host::exports;
use mksum_sums::choice::Choice;
use mksum_sums::name;
use mksum_sums::published::Published;

/// Returns the fields of the input's first `len` bytes, of which each but the last ends in a newline.
pub(crate) fn fields<const COUNT: usize>(len: u32) -> Result<[&'static [u8]; COUNT], Refusal> {
    let all: Vec<_> = buffer(len).0.splitn(COUNT, |&byte| byte == b'\n').collect();
    all.try_into().map_err(|_| Refusal::new(Class::Argument, "too few fields"))
}

/// Returns a published sum and the formats in which a file of `len` bytes may have it, its fields one a line: the format that its text
/// names, if it names one; its number of parts, if it has one; its text; then for each format `usual` or `unusual`, a tab, the format, a
/// tab, and the root as the format prints it. Formats of directories are left out.
fn facts_of_published(published: &Published, len: u64) -> String {
    let Published { root, usual, unusual, is_named } = published;
    let name = match &usual[..] {
        [choice] if *is_named && unusual.is_empty() => choice.to_string(),
        _ => String::new(),
    };
    let parts = root.parts().map(|parts| parts.to_string()).unwrap_or_default();
    let mut text =
        format!("{name}\n{parts}\n{}", usual.first().map(|choice| root.text(choice.spec())).unwrap_or_default());
    for (word, choices) in [("usual", usual), ("unusual", unusual)] {
        for choice in choices.iter().filter(|choice| choice.directory().is_none()) {
            let specs = match root.parts() {
                // Where no part size fits, there is no format.
                Some(parts) if choice.guesses(root) => choice.spec().part_sizes(len, parts),
                _ => [choice.spec().clone()].into(),
            };
            specs.iter().for_each(|spec| text += &format!("\n{word}\t{spec}\t{}", root.text(spec)));
        }
    }
    text
}

exports! {
    /// Answers the formats that the sum in the input's first `len` bytes can be of: see `facts_of_published`. With `in_line`, it may stand
    /// in the line of a list. An error names what was expected.
    fn published(len: u32, in_line: u32, size: f64) -> u32 {
        answer(|_| {
            let text = text_of(buffer(len).0)?;
            let read = match in_line {
                0 => Published::alone(text).map_err(|why| why.to_string()),
                _ => Published::read(text, None),
            };
            let published = read.map_err(|why| Refusal::new(Class::Argument, name::printable(&why)))?;
            Ok(facts_of_published(&published, size as u64))
        })
    }

    /// Answers the root that the input's first `len` bytes give in a format, as the format prints it: its fields are the format and the
    /// root, in any form in which roots are published.
    fn root_given(len: u32) -> u32 {
        answer(|_| {
            let [format, root] = fields(len)?;
            let choice: Choice = text_of(format)?.parse()?;
            let published = Published::read(text_of(root)?, Some(&choice));
            let published = published.map_err(|why| Refusal::new(Class::Argument, why))?;
            Ok(published.root.text(choice.spec()))
        })
    }
}
