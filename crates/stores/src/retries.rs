//! How often a request is repeated, at every store.

use object_store::{BackoffConfig, RetryConfig};
use std::ffi::OsStr;
use std::time::Duration;

/// The first pause between two requests, and the longest; each is twice as long as the one before.
pub const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];

/// The longest pause that a busy server may ask for with `Retry-After`: it comes before the one above.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The time that a request may take with all repetitions.
pub const LIMIT: Duration = Duration::from_secs(180);

/// Returns the number of times that a request is made at most: AWS_MAX_ATTEMPTS, as for the tools of S3.
///
/// # Errors
/// If that is not a number, as words.
pub fn attempts() -> Result<usize, String> {
    attempts_of(std::env::var_os("AWS_MAX_ATTEMPTS").as_deref())
}

fn attempts_of(given: Option<&OsStr>) -> Result<usize, String> {
    let Some(text) = given.map(OsStr::to_string_lossy).filter(|text| !text.is_empty()) else { return Ok(8) };
    match text.parse() {
        Ok(attempts @ 1..=100) => Ok(attempts),
        _ => Err(format!("AWS_MAX_ATTEMPTS is '{text}': expected how often a request is made, from 1 to 100")),
    }
}

/// Returns the retry rules of the clients of `object_store`.
///
/// # Errors
/// As [`attempts`].
pub fn retries() -> Result<RetryConfig, String> {
    let [init_backoff, max_backoff] = PAUSES;
    Ok(RetryConfig {
        backoff: BackoffConfig { init_backoff, max_backoff, base: 2.0 },
        max_retries: attempts()? - 1,
        retry_timeout: LIMIT,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_a_number() {
        let of = |text: &str| attempts_of(Some(OsStr::new(text)));
        assert_eq!((attempts_of(None), of(""), of("1"), of("100")), (Ok(8), Ok(8), Ok(1), Ok(100)));
        for wrong in ["x", "0", "-1", "101", "1.5", " 3"] {
            assert!(of(wrong).unwrap_err().contains(wrong));
        }
    }
}
