//! A replica in an S3 bucket: a signed URL (Signature Version 4) and range requests.

use super::http::Remote;
use super::refused;
use crate::Error;
use rusty_s3::{Bucket, Credentials, S3Action, UrlStyle};
use std::env;
use std::path::Path;
use std::time::Duration;

/// The time for which a signed URL is valid: longer than a request takes.
const VALID: Duration = Duration::from_secs(3600);

/// The object `s3://BUCKET/KEY`; without credentials in the environment, requests are anonymous.
pub(super) fn object(place: &Path, text: &str) -> Result<Remote, Error> {
    let rest = text.strip_prefix("s3://").unwrap_or(text);
    let (name, key) = rest
        .split_once('/')
        .filter(|(name, key)| !name.is_empty() && !key.is_empty())
        .ok_or_else(|| refused(place, "expected s3://BUCKET/KEY".into()))?;
    let variable = |names: &[&str]| names.iter().find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
    let region = variable(&["AWS_REGION", "AWS_DEFAULT_REGION"]).unwrap_or_else(|| "us-east-1".into());
    let own = variable(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]);
    // A name with dots does not fit the server's certificate.
    let style = if own.is_some() || name.contains('.') { UrlStyle::Path } else { UrlStyle::VirtualHost };
    let endpoint = own.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
    let url =
        endpoint.parse().map_err(|error| refused(place, format!("the endpoint '{endpoint}' is not a URL: {error}")))?;
    let bucket = Bucket::new(url, style, name.to_string(), region);
    let bucket = bucket.map_err(|error| refused(place, format!("the bucket '{name}': {error}")))?;
    let (key, credentials) = (key.to_string(), Credentials::from_env());
    let signed = move || bucket.get_object(credentials.as_ref(), &key).sign(VALID).to_string();
    Ok(Remote::signed(place.into(), Box::new(signed)))
}
