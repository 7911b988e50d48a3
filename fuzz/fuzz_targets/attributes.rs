//! Attributes of files with any value: no panic, and what is read is what was written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum::Spec;
use mksum_io::Attribute;

const FORMATS: [&str; 6] = ["rfc6962", "s3:md5:5MiB", "crc32c", "blake3", "fsverity:sha512:1KiB", "sha256"];

fuzz_target!(|input: (&str, (u64, i64, u32), u8, &[u8], (u16, u8))| {
    let (text, (size, seconds, nanoseconds), formats, content, (at, flip)) = input;
    if let Ok(attribute) = Attribute::parse(text) {
        assert_eq!(attribute.to_string(), text);
    }
    let chosen = FORMATS.iter().enumerate().filter(|(number, _)| formats >> number & 1 == 1);
    let specs = chosen.map(|(_, name)| name.parse::<Spec>().expect("a format"));
    let roots: Vec<_> = specs.filter_map(|spec| spec.root(content).ok().map(|root| (spec, (&root).into()))).collect();
    let attribute = Attribute { size, modified: (seconds, nanoseconds % 1_000_000_000), roots };
    let mut value = attribute.to_string().into_bytes();
    assert_eq!(
        Attribute::parse(&attribute.to_string()).ok(),
        Some(attribute.clone()).filter(|it| !it.roots.is_empty())
    );
    // A changed byte is an error or another attribute.
    let at = usize::from(at) % value.len();
    value[at] ^= flip;
    if let Ok(changed) = str::from_utf8(&value) {
        assert!(flip == 0 || Attribute::parse(changed).ok() != Some(attribute));
    }
});
