//! Profiles: the settings and credentials of S3 that the tools of AWS keep in two files.

use crate::failure::Fault;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The longest file of profiles that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// Variables of the environment, of which an empty one is none.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Adds what the profile says and the environment does not: `AWS_PROFILE`, or else `default`.
///
/// # Errors
/// If there is no such profile, a file of profiles cannot be read, or the profile finds its credentials in a way that is not known.
pub fn apply(mut builder: AmazonS3Builder, environment: Environment<'_>) -> Result<AmazonS3Builder, Fault> {
    let Some(profile) = Profile::find(environment).map_err(Fault::Refused)? else { return Ok(builder) };
    for (key, value) in profile.settings(environment).map_err(Fault::Refused)? {
        builder = builder.with_config(key, value);
    }
    Ok(builder)
}

/// The properties of a profile, by their names.
#[derive(Debug, Default)]
struct Profile {
    name: String,
    /// The files that have it.
    files: Vec<PathBuf>,
    properties: BTreeMap<String, String>,
}

impl Profile {
    /// The profile in both files; `None` if none was asked for, and there is no `default`.
    fn find(environment: Environment<'_>) -> Result<Option<Profile>, String> {
        let asked = environment("AWS_PROFILE");
        let home = environment("HOME").or_else(|| environment("USERPROFILE"));
        let place = |variable, name: &str| {
            let usual = || Some(Path::new(home.as_ref()?).join(".aws").join(name));
            environment(variable).map(PathBuf::from).or_else(usual)
        };
        let places = [
            (place("AWS_CONFIG_FILE", "config"), Headings::Config),
            // Of two credentials, those of the file that is for them.
            (place("AWS_SHARED_CREDENTIALS_FILE", "credentials"), Headings::Credentials),
        ];
        let name = asked.clone().unwrap_or_else(|| "default".into());
        let mut profile = Profile { name, ..Profile::default() };
        let mut searched = Vec::new();
        for (path, headings) in places {
            let Some(path) = path else { continue };
            let text = match read(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
                // Nobody asked for it: a home that this user may not read is none.
                Err(_) if asked.is_none() => String::new(),
                Err(error) => return Err(format!("the file of profiles {} cannot be read: {error}", path.display())),
            };
            searched.push(path.display().to_string());
            let found = properties(&text, headings, &profile.name);
            if let Some(properties) = found.map_err(|why| format!("{}: {why}", path.display()))? {
                profile.properties.extend(properties);
                profile.files.push(path);
            }
        }
        match asked {
            Some(name) if profile.files.is_empty() && name != "default" => {
                let searched = if searched.is_empty() { "no file".into() } else { searched.join(" and ") };
                Err(format!("there is no profile '{name}' (AWS_PROFILE): searched {searched}"))
            }
            _ => Ok((!profile.files.is_empty()).then_some(profile)),
        }
    }

    fn get(&self, name: &str) -> Option<&String> {
        self.properties.get(name).filter(|value| !value.is_empty())
    }

    /// Returns an error about this profile, with its name and files.
    fn refuse<T>(&self, why: &str) -> Result<T, String> {
        let files: Vec<_> = self.files.iter().map(|file| file.display().to_string()).collect();
        Err(format!("the profile '{}' in {} {why}", self.name, files.join(" and ")))
    }

    /// Returns the settings of the S3 client; those in the environment come first.
    fn settings(&self, environment: Environment<'_>) -> Result<Vec<(Key, String)>, String> {
        let is_set = |names: &[&str]| names.iter().any(|name| environment(name).is_some());
        let is_true = |name| environment(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let mut settings = Vec::new();
        if let Some(region) = self.get("region").filter(|_| !is_set(&["AWS_REGION", "AWS_DEFAULT_REGION"])) {
            settings.push((Key::Region, region.clone()));
        }
        let chosen = is_set(&["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"]);
        if !chosen && !is_true("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") {
            if self.get("services").is_some() {
                return self.refuse("has its endpoints in 'services', which is not supported: set endpoint_url in it");
            }
            settings.extend(self.get("endpoint_url").map(|url| (Key::Endpoint, url.clone())));
        }
        let known = is_set(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_WEB_IDENTITY_TOKEN_FILE"]);
        if !known && !is_true("AWS_SKIP_SIGNATURE") {
            settings.extend(self.credentials()?);
        }
        Ok(settings)
    }

    /// The credentials; none if the machine is to have them.
    fn credentials(&self) -> Result<Vec<(Key, String)>, String> {
        if let Some(role) = self.get("role_arn") {
            let Some(token) = self.get("web_identity_token_file") else {
                return self.unsupported("role_arn without web_identity_token_file");
            };
            let mut settings = vec![(Key::RoleArn, role.clone()), (Key::WebIdentityTokenFile, token.clone())];
            settings.extend(self.get("role_session_name").map(|name| (Key::RoleSessionName, name.clone())));
            return Ok(settings);
        }
        match (self.get("aws_access_key_id"), self.get("aws_secret_access_key")) {
            (Some(id), Some(secret)) => {
                let mut settings = vec![(Key::AccessKeyId, id.clone()), (Key::SecretAccessKey, secret.clone())];
                settings.extend(self.get("aws_session_token").map(|token| (Key::Token, token.clone())));
                return Ok(settings);
            }
            (Some(_), None) => return self.refuse("has aws_access_key_id and no aws_secret_access_key"),
            (None, Some(_)) => return self.refuse("has aws_secret_access_key and no aws_access_key_id"),
            (None, None) => {}
        }
        let others = ["credential_process", "sso_session", "sso_start_url", "login_session"];
        match others.into_iter().find(|name| self.get(name).is_some()) {
            Some(name) => self.unsupported(name),
            None => Ok(Vec::new()),
        }
    }

    fn unsupported<T>(&self, what: &str) -> Result<T, String> {
        let how = format!("eval \"$(aws configure export-credentials --profile {} --format env)\"", self.name);
        self.refuse(&format!(
            "has {what}, which is not supported: set its credentials in the environment first, with {how}"
        ))
    }
}

/// Reads a file of settings, of a bounded length.
pub fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    match text.len() as u64 > LONGEST {
        true => Err(io::Error::other(format!("it is longer than {LONGEST} bytes"))),
        false => Ok(text),
    }
}

/// The form of the headings of profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Headings {
    /// `[default]`, `[profile NAME]`; others are not profiles.
    Config,
    /// `[NAME]`.
    Credentials,
}

impl Headings {
    /// The profile that a section is; `None` if it is not one.
    fn profile(self, heading: &str) -> Option<&str> {
        match (self, heading) {
            (Headings::Credentials, name) | (Headings::Config, name @ "default") => Some(name),
            (Headings::Config, heading) => {
                let name = heading.strip_prefix("profile")?.strip_prefix(char::is_whitespace)?.trim();
                Some(name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name))
            }
        }
    }
}

/// The properties of a profile in a file; `None` if it is not there. A later value takes the place of an earlier one.
fn properties(text: &str, headings: Headings, name: &str) -> Result<Option<BTreeMap<String, String>>, String> {
    let mut found: Option<BTreeMap<String, String>> = None;
    let (mut within, mut is_first) = (false, true);
    for (line, number) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
        let is_nested = line.starts_with([' ', '\t']);
        // Comments begin a line, or follow white space.
        let end =
            line.match_indices(['#', ';']).map(|(at, _)| at).find(|&at| at == 0 || line[..at].ends_with([' ', '\t']));
        let line = line[..end.unwrap_or(line.len())].trim();
        if line.is_empty() {
            continue;
        }
        // It belongs to the property before it: `s3 =`, and its settings in the lines below.
        if is_nested && !is_first {
            continue;
        }
        if let Some(heading) = line.strip_prefix('[') {
            let heading = heading.strip_suffix(']').ok_or_else(|| format!("line {number}: expected ']' at its end"))?;
            within = headings.profile(heading.trim()) == Some(name);
            is_first = true;
            if within {
                found.get_or_insert_default();
            }
            continue;
        }
        let (key, value) =
            line.split_once('=').ok_or_else(|| format!("line {number}: expected [NAME] or KEY = VALUE"))?;
        is_first = false;
        if let Some(properties) = found.as_mut().filter(|_| within) {
            properties.insert(key.trim().to_ascii_lowercase(), value.trim().to_string());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// The settings of a home with these two files, and these variables.
    fn settings(config: &str, credentials: &str, variables: &[(&str, &str)]) -> Result<Vec<(Key, String)>, String> {
        let home = TempDir::new().unwrap();
        let folder = home.path().join(".aws");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("config"), config).unwrap();
        fs::write(folder.join("credentials"), credentials).unwrap();
        let path = home.path().to_str().unwrap();
        let environment = |name: &str| {
            let all = variables.iter().copied().chain([("HOME", path)]);
            all.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        let found = Profile::find(&environment).and_then(|profile| match profile {
            Some(profile) => profile.settings(&environment),
            None => Ok(Vec::new()),
        });
        found.map_err(|why| why.replace(path, "~"))
    }

    fn pairs(settings: &[(Key, &str)]) -> Result<Vec<(Key, String)>, String> {
        Ok(settings.iter().map(|(key, value)| (*key, (*value).to_string())).collect())
    }

    const CONFIG: &str = "\
[default]
region = here
[profile  other]  # as the command writes it
region=there ; not here
endpoint_url = http://localhost:1/#x
s3 =
  endpoint_url = http://nested
Aws_Access_Key_Id = of-config
aws_secret_access_key = of-config
[other]
region = not a profile
[profile \"with space\"]
region = space
[profile web]
role_arn = arn:aws:iam::1:role/r
web_identity_token_file = /token
role_session_name = me
[profile assumed]
role_arn = arn:aws:iam::1:role/r
source_profile = default
[profile process]
credential_process = program
[profile half]
aws_access_key_id = a
[profile services]
services = s
";
    const CREDENTIALS: &str = "\
[default]
aws_access_key_id = id
aws_secret_access_key = s+/=
[other]
aws_access_key_id = other-id
aws_secret_access_key = other-secret
aws_session_token = token
";

    #[test]
    fn a_profile_is_what_both_files_say_of_it() {
        let of = |variables: &[(&str, &str)]| settings(CONFIG, CREDENTIALS, variables);
        let default = [(Key::Region, "here"), (Key::AccessKeyId, "id"), (Key::SecretAccessKey, "s+/=")];
        assert_eq!(of(&[]), pairs(&default));
        assert_eq!(of(&[("AWS_PROFILE", "default")]), pairs(&default));
        let other = [
            (Key::Region, "there"),
            (Key::Endpoint, "http://localhost:1/#x"),
            (Key::AccessKeyId, "other-id"),
            (Key::SecretAccessKey, "other-secret"),
            (Key::Token, "token"),
        ];
        assert_eq!(of(&[("AWS_PROFILE", "other")]), pairs(&other));
        assert_eq!(of(&[("AWS_PROFILE", "with space")]), pairs(&[(Key::Region, "space")]));
        let web = [
            (Key::RoleArn, "arn:aws:iam::1:role/r"),
            (Key::WebIdentityTokenFile, "/token"),
            (Key::RoleSessionName, "me"),
        ];
        assert_eq!(of(&[("AWS_PROFILE", "web")]), pairs(&web));
    }

    #[test]
    fn the_environment_comes_first() {
        let of = |variable| settings(CONFIG, CREDENTIALS, &[("AWS_PROFILE", "other"), variable]);
        let keys = |found: Result<Vec<(Key, String)>, String>| {
            found.unwrap().into_iter().map(|(key, _)| key).collect::<Vec<_>>()
        };
        assert_eq!(keys(of(("AWS_ACCESS_KEY_ID", "x"))), [Key::Region, Key::Endpoint]);
        assert_eq!(keys(of(("AWS_SKIP_SIGNATURE", "true"))), [Key::Region, Key::Endpoint]);
        let credentials = [Key::AccessKeyId, Key::SecretAccessKey, Key::Token];
        assert_eq!(keys(of(("AWS_REGION", "x")))[1..], credentials);
        assert_eq!(keys(of(("AWS_ENDPOINT_URL", "x")))[1..], credentials);
        assert_eq!(keys(of(("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")))[1..], credentials);
    }

    #[test]
    fn a_profile_that_cannot_be_used_is_refused() {
        for (name, why) in [
            ("gone", "there is no profile 'gone' (AWS_PROFILE): searched ~/.aws/config and ~/.aws/credentials"),
            ("assumed", "the profile 'assumed' in ~/.aws/config has role_arn without web_identity_token_file"),
            ("process", "the profile 'process' in ~/.aws/config has credential_process, which is not supported"),
            ("half", "the profile 'half' in ~/.aws/config has aws_access_key_id and no aws_secret_access_key"),
            ("services", "the profile 'services' in ~/.aws/config has its endpoints in 'services'"),
        ] {
            let refused = settings(CONFIG, CREDENTIALS, &[("AWS_PROFILE", name)]).unwrap_err();
            assert!(refused.starts_with(why), "{refused}");
        }
        for (text, why) in [
            ("[default\n", "~/.aws/config: line 1: expected ']' at its end"),
            ("\n[default]\nregion\n", "~/.aws/config: line 3: expected [NAME] or KEY = VALUE"),
        ] {
            assert_eq!(settings(text, "", &[]), Err(why.to_string()));
        }
    }

    #[test]
    fn files_that_are_missing_or_not_asked_for_are_none() {
        assert_eq!(settings("", "", &[]), Ok(Vec::new()));
        assert_eq!(settings("", "", &[("AWS_PROFILE", "default")]), Ok(Vec::new()));
        let missing = [("AWS_CONFIG_FILE", "/nowhere/config"), ("AWS_SHARED_CREDENTIALS_FILE", "/nowhere/credentials")];
        assert_eq!(settings(CONFIG, CREDENTIALS, &missing), Ok(Vec::new()));
        let folders = [("AWS_CONFIG_FILE", "/"), ("AWS_SHARED_CREDENTIALS_FILE", "/")];
        assert_eq!(settings(CONFIG, CREDENTIALS, &folders), Ok(Vec::new()));
        let asked = settings(CONFIG, CREDENTIALS, &[folders[0], ("AWS_PROFILE", "other")]).unwrap_err();
        assert!(asked.starts_with("the file of profiles / cannot be read: "), "{asked}");
    }
}
