//! How often a request is repeated, at every store.

use object_store::{BackoffConfig, RetryConfig};
use std::time::Duration;

/// The first pause between two requests, and the longest; each is twice as long as the one before.
pub const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];

/// The time that a request may take with all repetitions.
pub const LIMIT: Duration = Duration::from_secs(180);

/// How often a request is made: as often as AWS_MAX_ATTEMPTS says to the tools of S3.
pub fn attempts() -> usize {
    let attempts = std::env::var("AWS_MAX_ATTEMPTS").ok().and_then(|text| text.parse::<usize>().ok());
    attempts.unwrap_or(8).clamp(1, 100)
}

/// The same for the clients of `object_store`.
pub fn retries() -> RetryConfig {
    let [init_backoff, max_backoff] = PAUSES;
    RetryConfig {
        backoff: BackoffConfig { init_backoff, max_backoff, base: 2.0 },
        max_retries: attempts() - 1,
        retry_timeout: LIMIT,
    }
}
