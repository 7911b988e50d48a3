//! Conditional requests (RFC 9110, 13).

use crate::tag::Tag;
use hyper::{HeaderMap, StatusCode, header};
use std::time::{SystemTime, UNIX_EPOCH};

/// The status of a response without a body that the conditions of a request ask for, if any.
pub fn precluded(headers: &HeaderMap, tag: &Tag, modified: Option<SystemTime>) -> Option<StatusCode> {
    if let Some(list) = list(headers, header::IF_MATCH)
        && list.trim() != "*"
        && !tag.is_strongly_in(&list)
    {
        return Some(StatusCode::PRECONDITION_FAILED);
    }
    let is_same = match list(headers, header::IF_NONE_MATCH) {
        Some(list) => tag.is_in(&list),
        None => {
            let since = headers.get(header::IF_MODIFIED_SINCE).and_then(|since| since.to_str().ok());
            let since = since.and_then(|since| httpdate::parse_http_date(since).ok());
            matches!((since, modified), (Some(since), Some(modified)) if seconds(modified) <= seconds(since))
        }
    };
    is_same.then_some(StatusCode::NOT_MODIFIED)
}

/// Whether a range is sent: there is no `If-Range`, or it has the strong tag of the file. A date, which is not precise enough, does
/// not match.
pub fn allows_range(headers: &HeaderMap, tag: &Tag) -> bool {
    list(headers, header::IF_RANGE).is_none_or(|list| tag.is_strongly_in(&list))
}

/// The values of a header as one list; what is not text matches nothing.
fn list(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    let values: Vec<_> = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default()).collect();
    (!values.is_empty()).then(|| values.join(","))
}

/// The whole seconds of a time, as the dates of HTTP have them.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
