//! Times as people write them.

use std::time::Duration;

/// Reads a time: `500ms`, `90s`, `90`, `30m`, `30min` or `2h`.
///
/// # Errors
/// If it is none of these, or 0.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let milliseconds = match &text[digits..] {
        "ms" => Some(1),
        "s" | "" => Some(1000),
        "m" | "min" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let number = text[..digits].parse::<u64>().ok();
    let time = number.zip(milliseconds).and_then(|(number, unit)| number.checked_mul(unit));
    let time = time.filter(|time| (1..=1 << 42).contains(time));
    time.map(Duration::from_millis).ok_or("expected a time such as 90s, 30m or 2h".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("5ms"), Ok(Duration::from_millis(5)));
        assert_eq!(duration("30m"), Ok(Duration::from_secs(1800)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        assert!(["", "m", "0s", "1d", "-1s", "99999999999999999999s"].iter().all(|text| duration(text).is_err()));
    }
}
