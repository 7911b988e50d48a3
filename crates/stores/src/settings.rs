//! Settings of stores in the environment: what is wrong with them, by the names of their variables.

use crate::failure::Fault;
use crate::profile::Environment;
use http::{HeaderValue, Uri};
use std::error::Error;
use std::ffi::OsString;
use url::Url;

/// Variables that are URLs of servers: those that have credentials, and the emulator of Azure.
const URLS: [&str; 8] = [
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_ENDPOINT_URL_STS",
    "AWS_METADATA_ENDPOINT",
    "AZURE_AUTHORITY_HOST",
    "AZURE_MSI_ENDPOINT",
    "AZURE_STORAGE_AUTHORITY_HOST",
    "AZURITE_BLOB_STORAGE_URL",
    "IDENTITY_ENDPOINT",
];

/// Variables that become a part of a URL.
const PARTS: [&str; 6] = [
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_DEFAULT_REGION",
    "AWS_REGION",
    "GCE_METADATA_HOST",
    "GCE_METADATA_IP",
    "GCE_METADATA_ROOT",
];

/// Refuses what the client would take, and panic with later.
pub fn check(environment: Environment<'_>) -> Result<(), String> {
    for name in URLS {
        if let Some(url) = environment(name).filter(|url| !is_server(url)) {
            return Err(format!("{name} is '{url}': expected a URL, as in http://HOST:PORT or https://HOST"));
        }
    }
    for name in PARTS {
        let is_part =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~/:[]%?=&".contains(&byte));
        if let Some(text) = environment(name).filter(|text| !is_part(text)) {
            return Err(format!("{name} is '{text}': expected a part of a URL, without spaces, as in us-east-1"));
        }
    }
    Ok(())
}

/// Whether a text is the URL of a server.
fn is_server(url: &str) -> bool {
    // Both of the client's libraries read it.
    url.parse::<Uri>().is_ok()
        && url.parse::<Url>().is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// The words of the client's error, without the name of the store before them.
pub fn words(error: &object_store::Error) -> String {
    let said = error.source().map_or_else(|| error.to_string(), |source| source.to_string());
    said.split(" (os error").next().unwrap_or_default().to_string()
}

/// Why there is no client with these settings: its words, and the variables that have what they quote.
pub fn refusal(error: &object_store::Error, environment: impl Iterator<Item = (OsString, OsString)>) -> String {
    let words = words(error);
    let quoted = words.split_once('"').and_then(|(_, rest)| rest.split_once('"')).map(|(quoted, _)| quoted);
    let names = environment.filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        let is_setting = ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|prefix| name.starts_with(prefix));
        (is_setting && Some(value.to_str()?) == quoted).then_some(name)
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    let expected = match words.as_str() {
        words if words.ends_with("as boolean") => ": expected true or false",
        words if words.contains("Account must be specified") => {
            ": set AZURE_STORAGE_ACCOUNT_NAME, or name it in the URL, as in \
             abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/KEY"
        }
        words if words.contains("SecretAccessKey") => ": set AWS_SECRET_ACCESS_KEY with AWS_ACCESS_KEY_ID",
        words if words.contains("AccessKeyId") => ": set AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY",
        _ => "",
    };
    let whose = if names.is_empty() { String::new() } else { format!("{}: ", names.join(" or ")) };
    format!("the settings of the store cannot be used: {whose}{words}{expected}")
}

/// Checks the URL of a server, which `name` sets: the client would panic with another text.
pub fn endpoint(name: &str, url: Option<String>) -> Result<(), Fault> {
    let Some(url) = url else { return Ok(()) };
    match is_server(&url) {
        true => Ok(()),
        false => Err(Fault::Refused(format!(
            "the endpoint '{url}' ({name}) is no URL: expected http://HOST:PORT or https://HOST"
        ))),
    }
}

/// Checks a text that is sent as a header: the client would panic with another one.
pub fn credential(name: &str, text: Option<String>) -> Result<(), Fault> {
    match text.is_none_or(|text| HeaderValue::from_str(&text).is_ok()) {
        true => Ok(()),
        false => Err(Fault::Refused(format!("{name} has a newline or another character that cannot be sent"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_url_with_a_host() {
        let check = |url: &str| endpoint("AWS_ENDPOINT_URL", Some(url.into())).is_ok();
        for right in ["http://localhost", "https://s3.example.org", "http://127.0.0.1:9000/", "http://[::1]:80/path"] {
            assert!(check(right), "{right}");
        }
        for wrong in
            ["", "localhost", "127.0.0.1:1", "http://", "http://[", "http://a b", "ftp://h", "http://127.0.0.1:99999"]
        {
            assert!(!check(wrong), "{wrong}");
        }
        assert!(endpoint("AWS_ENDPOINT_URL", None).is_ok());
    }

    #[test]
    fn credentials_can_be_sent() {
        for (text, right) in [("AKIA/+=", true), ("a\nb", false), ("\r", false)] {
            assert_eq!(credential("AWS_SESSION_TOKEN", Some(text.into())).is_ok(), right, "{text:?}");
        }
    }

    #[test]
    fn what_the_client_would_panic_with_is_refused() {
        let of = |name: &str, value: &str| check(&|asked| (asked == name).then(|| value.to_string()));
        for (name, right, wrong) in [
            ("AWS_METADATA_ENDPOINT", "http://169.254.169.254", "x"),
            ("AZURE_AUTHORITY_HOST", "https://login.example.org", "x y"),
            ("AZURITE_BLOB_STORAGE_URL", "http://127.0.0.1:10000", "mailto:x"),
            ("AWS_REGION", "us-east-1", "us east"),
            ("GCE_METADATA_HOST", "metadata.google.internal:80", "a\nb"),
            ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials?id=1", "a b"),
        ] {
            assert_eq!(of(name, right), Ok(()));
            assert!(of(name, wrong).unwrap_err().starts_with(name));
        }
    }

    #[test]
    fn a_refusal_names_the_variable() {
        let variables =
            [("AWS_SKIP_SIGNATURE", "x"), ("OTHER", "x"), ("AWS_REGION", "y")].map(|(a, b)| (a.into(), b.into()));
        let error = object_store::Error::Generic { store: "Config", source: "failed to parse \"x\" as boolean".into() };
        assert_eq!(
            refusal(&error, variables.into_iter()),
            "the settings of the store cannot be used: AWS_SKIP_SIGNATURE: failed to parse \"x\" as boolean: expected true or false"
        );
    }
}
