//! Google's service account: what is wrong with it, by the name of its variable, and without its key.

use crate::failure::Fault;
use crate::profile::Environment;
use crate::settings;
use mksum_io::reason;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey as Key};
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read};

/// The longest file of a service account, in bytes: Google's have 2,400.
const LONGEST: u64 = 1 << 16;
const DO: &str = "download a new key of the account (gcloud iam service-accounts keys create FILE)";

/// Refuses what the client would panic with, or quote although it is a secret.
/// Returns where the credentials are, for errors of the client.
///
/// # Errors
/// If the service account or the token is malformed.
pub fn check(builder: &GoogleCloudStorageBuilder, environment: Environment<'_>) -> Result<&'static str, Fault> {
    let refused = |why: String| Err(Fault::Refused(why));
    if let Some(token) = builder.get_config_value(&Key::BearerToken) {
        settings::credential("GOOGLE_BEARER_TOKEN", Some(token))?;
    }
    let path = builder.get_config_value(&Key::ServiceAccount);
    let names = ["GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH", "SERVICE_ACCOUNT"];
    let name = names.into_iter().find(|name| environment(name) == path).unwrap_or(names[0]);
    let (name, text) = match (path, builder.get_config_value(&Key::ServiceAccountKey)) {
        (Some(_), Some(_)) => return refused(format!("{name} and GOOGLE_SERVICE_ACCOUNT_KEY are both set: unset one")),
        (Some(path), None) if path.trim_start().starts_with('{') => {
            return refused(format!("{name} is a key: expected the path of its file; set GOOGLE_SERVICE_ACCOUNT_KEY"));
        }
        (Some(path), None) => match read(&path) {
            Ok(text) => (name, text),
            Err(error) => return refused(format!("{name} is '{path}': the file cannot be read: {}", reason(&error))),
        },
        (None, Some(key)) => ("GOOGLE_SERVICE_ACCOUNT_KEY", key),
        (None, None) => {
            let is_set = builder.get_config_value(&Key::ApplicationCredentials).is_some();
            return Ok(if is_set {
                "GOOGLE_APPLICATION_CREDENTIALS"
            } else {
                "gcloud's application_default_credentials.json"
            });
        }
    };
    let malformed = |why: String| refused(format!("{name} is not the JSON of a service account: {why}: {DO}"));
    let account: Value = match serde_json::from_str(&text) {
        Ok(account) => account,
        Err(error) => return malformed(error.to_string()),
    };
    for field in ["client_email", "private_key", "private_key_id"] {
        if !account[field].is_string() {
            return malformed(format!("the text '{field}' is missing"));
        }
    }
    let url = account.get("gcs_base_url").and_then(Value::as_str);
    settings::endpoint(&format!("gcs_base_url in {name}"), url.map(String::from))?;
    Ok(name)
}

/// Why the client does not take credentials; they are in `place`.
pub fn refusal(place: &str, why: &str) -> Option<String> {
    let is_about = ["service account", "pem file", "RSA key"].iter().any(|words| why.contains(words));
    is_about.then(|| format!("the credentials in {place} cannot be used: {why}: {DO}"))
}

fn read(path: &str) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    match text.len() as u64 > LONGEST {
        true => Err(io::Error::other(format!("it has more than {LONGEST} bytes"))),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: &str = r#"{"client_email": "a@b", "private_key": "k", "private_key_id": "1"}"#;

    /// What `check` says of these variables.
    fn of(variables: &[(Key, &str)]) -> Result<&'static str, String> {
        let mut builder = GoogleCloudStorageBuilder::new();
        for (key, value) in variables {
            builder = builder.with_config(*key, *value);
        }
        check(&builder, &|_| None).map_err(|fault| match fault {
            Fault::Refused(why) => why,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn what_the_client_would_panic_with_is_refused() {
        assert_eq!(of(&[(Key::ServiceAccountKey, ACCOUNT)]), Ok("GOOGLE_SERVICE_ACCOUNT_KEY"));
        for wrong in ["", "x y", "mailto:x", "http://h/a b"] {
            let text = ACCOUNT.replace('{', &format!(r#"{{"gcs_base_url": "{wrong}", "#));
            let why = of(&[(Key::ServiceAccountKey, &text)]).unwrap_err();
            assert!(
                why.starts_with(&format!("the endpoint '{wrong}' (gcs_base_url in GOOGLE_SERVICE_ACCOUNT_KEY)")),
                "{why}"
            );
        }
        assert!(of(&[(Key::BearerToken, "a\nb")]).unwrap_err().starts_with("GOOGLE_BEARER_TOKEN"));
    }

    #[test]
    fn a_malformed_account_is_refused_by_the_name_of_its_variable() {
        for wrong in ["", "{", "[]", "null", "7", "{}", r#"{"private_key": 7}"#, &"[".repeat(100_000)] {
            let why = of(&[(Key::ServiceAccountKey, wrong)]).unwrap_err();
            assert!(why.starts_with("GOOGLE_SERVICE_ACCOUNT_KEY is not the JSON of a service account: "), "{why}");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("account.json");
        std::fs::write(&file, "{}").unwrap();
        let why = of(&[(Key::ServiceAccount, file.to_str().unwrap())]).unwrap_err();
        assert!(why.contains("GOOGLE_SERVICE_ACCOUNT is not the JSON of a service account: the text"), "{why}");
        std::fs::write(&file, " ".repeat(70_000)).unwrap();
        for (path, words) in [(&file, "more than 65536 bytes"), (&folder.path().join("none"), "cannot be read")] {
            let why = of(&[(Key::ServiceAccount, path.to_str().unwrap())]).unwrap_err();
            assert!(why.starts_with("GOOGLE_SERVICE_ACCOUNT is '") && why.contains(words), "{why}");
        }
        let why = of(&[(Key::ServiceAccountKey, ACCOUNT), (Key::ServiceAccount, "x")]).unwrap_err();
        assert!(why.ends_with("are both set: unset one"), "{why}");
    }

    #[test]
    fn a_key_in_the_place_of_a_path_is_not_printed() {
        let why = of(&[(Key::ServiceAccount, ACCOUNT)]).unwrap_err();
        assert_eq!(
            why,
            "GOOGLE_SERVICE_ACCOUNT is a key: expected the path of its file; set GOOGLE_SERVICE_ACCOUNT_KEY"
        );
    }
}
