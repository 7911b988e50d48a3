//! What a mistyped name may have meant.

/// The name that has most letters and digits in common with a lowercase word, in any order, if they are more than four fifths of both:
/// typing errors swap, change, add and leave out, and `sha-256` is `sha256`.
///
/// Crates that compare texts would make the modules for WebAssembly larger by half a kilobyte.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut found = None;
    let mut best = (4, 5);
    for name in names {
        let mut score = (0, 0);
        for letter in b'0'..=b'z' {
            // No name is nearly as long.
            let count = |text: &str| text.bytes().take(64).filter(|&byte| byte == letter).count();
            let (one, other) = (count(word), count(name));
            score = (score.0 + 2 * one.min(other), score.1 + one + other);
        }
        if score.0 * best.1 > best.0 * score.1 {
            (best, found) = (score, Some(name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::Spec;
    use alloc::string::{String, ToString};

    #[test]
    fn a_mistyped_format_has_the_nearest() {
        let refused = |text: &str| text.parse::<Spec>().unwrap_err().to_string();
        assert_eq!(refused("sha265"), "unknown format 'sha265': did you mean sha256?");
        assert_eq!(refused("SHA-265"), "unknown format 'SHA-265': did you mean sha256?");
        assert_eq!(refused("rfc6961:sha256"), "unknown format 'rfc6961': did you mean rfc6962?");
        for unlike in ["", "x", "\u{e9}\u{e9}", &String::from_utf8(alloc::vec![b'a'; 1 << 20]).unwrap()] {
            assert!(refused(unlike).contains("': expected one of rfc6962, plain, "), "{unlike:.40}");
        }
    }
}
