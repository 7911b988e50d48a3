//! Numbers on the command line.

use std::ops::RangeInclusive;

/// Reads a whole number in a range.
pub fn number<N: TryFrom<u64> + Clone + Send + Sync + 'static>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse::<u64>().ok().filter(|number| range.contains(number));
        number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| match (range.start(), range.end()) {
            (least, &u64::MAX) => format!("expected a whole number from {least} on"),
            (least, most) => format!("expected a whole number from {least} to {most}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_in_their_range() {
        let of = |text: &str| number::<u16>(1..=4096)(text);
        assert_eq!((of("1"), of("4096")), (Ok(1), Ok(4096)));
        for wrong in ["", "0", "4097", "-1", "x", "1.5", "99999999999999999999"] {
            assert_eq!(of(wrong), Err("expected a whole number from 1 to 4096".into()));
        }
        assert_eq!(number::<u64>(0..=u64::MAX)("x"), Err("expected a whole number from 0 on".into()));
    }
}
