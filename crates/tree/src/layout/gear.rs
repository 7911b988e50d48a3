//! The words of the gear hash: what each value of a byte adds. They are a parameter of Xet's chunking, whose specification names the
//! default table of the crate gearhash (0.1.4; MIT or Apache-2.0). `gear.txt` has them in hex, a line each, for other programs too.

/// The word of each value of a byte.
pub(super) static WORDS: [u64; 256] = words(include_bytes!("gear.txt"));

/// Reads words of 16 hex digits.
const fn words(text: &[u8]) -> [u64; 256] {
    let (mut words, mut digits, mut at) = ([0; 256], 0, 0);
    while at < text.len() {
        if let Some(digit) = (text[at] as char).to_digit(16) {
            words[digits / 16] = words[digits / 16] << 4 | digit as u64;
            digits += 1;
        }
        at += 1;
    }
    assert!(digits == 16 * 256, "256 words");
    words
}
