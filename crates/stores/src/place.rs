//! URLs of objects, taken apart.

use mksum_io::Url;
use std::str::FromStr;

/// The place of an object: its store, and its key there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub store: Store,
    /// The object's name in its store; percent signs as they are.
    pub key: String,
    /// The version, if the URL names one.
    pub version: Option<String>,
}

/// A bucket, a container or a web server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Store {
    /// The bucket of this name.
    S3(String),
    /// The bucket of this name.
    Google(String),
    /// The URL of the container.
    Azure(String),
    /// The URL of the file system.
    Hdfs(String),
    /// The URL of the object itself.
    Web(String),
    /// The number of the store among those that this process was [given](crate::Given).
    Given(String),
}

/// The longest URL of an object in a store, in bytes: the client panics with one that does not fit into the head of a request, where
/// each byte may take three. The longest names that stores have are those of HDFS, of 8000 bytes.
pub const LONGEST: usize = 16 << 10;

impl Place {
    /// Reads a URL: `s3://BUCKET/KEY[?versionId=ID]`, `gs://BUCKET/KEY[?generation=N]`, `az://CONTAINER/KEY[?versionId=ID]`,
    /// `abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/KEY`, `hdfs://HOST:PORT/PATH`, `https://HOST/PATH`.
    ///
    /// # Errors
    /// If it is none, as words.
    pub fn read(url: &Url) -> Result<Place, String> {
        let (text, version) = url.key_and_version();
        let (scheme, rest) = text.split_once("://").ok_or("not a URL")?;
        if let "http" | "https" = scheme {
            if url.is_masked() {
                return Err("a secret of it was left out where it was printed: write it in the URL again".into());
            }
            let url = url::Url::from_str(text).map_err(|error| format!("not a URL: {error}"))?;
            return Ok(Place { store: Store::Web(url.into()), key: "object".into(), version: None });
        }
        if url.as_str().len() > LONGEST {
            return Err(format!("its name is longer than {LONGEST} bytes, which no store has"));
        }
        let (root, key) = rest.split_once('/').unwrap_or((rest, ""));
        if scheme == "hdfs" {
            // Without a host, it is the default file system of Hadoop's configuration.
            return Ok(Place { store: Store::Hdfs(format!("hdfs://{root}")), key: key.into(), version: None });
        }
        if scheme == "store" {
            // Paths of file systems begin with a slash.
            return Ok(Place {
                store: Store::Given(root.into()),
                key: key.trim_start_matches('/').into(),
                version: None,
            });
        }
        if root.is_empty() {
            return Err(format!("expected {scheme}://{}/KEY", if scheme == "az" { "CONTAINER" } else { "BUCKET" }));
        }
        // Others would not be part of a URL.
        if let Some(wrong) =
            root.chars().find(|letter| !letter.is_ascii_graphic() || "%?#\"<>\\^`{|}".contains(*letter))
        {
            return Err(format!("{wrong:?} cannot be in the name of a bucket or container"));
        }
        let store = match scheme {
            "s3" => Store::S3(root.into()),
            "gs" => Store::Google(root.into()),
            _ => Store::Azure(format!("{scheme}://{root}")),
        };
        Ok(Place { store, key: key.into(), version: version.map(Into::into) })
    }

    /// The key, of one object.
    ///
    /// # Errors
    /// If the client cannot ask for such a name: it would ask for another one.
    pub fn object(&self) -> Result<&str, String> {
        let refuse =
            |why: &str| Err(format!("the client of the store cannot ask for {why}: copy the object to another name"));
        match &self.key[..] {
            "" => Err(match &self.store {
                Store::Hdfs(_) => "expected hdfs://HOST:PORT/PATH".into(),
                Store::Azure(_) => "expected the name of an object after the container's".into(),
                _ => "expected the name of an object after the bucket's".into(),
            }),
            key if key.ends_with('/') => refuse("a name that ends with '/' (-r hashes the objects below it)"),
            key if key.starts_with('/') || key.contains("//") => refuse("a name with an empty part ('//')"),
            key if key.split('/').any(|part| part == "." || part == "..") => refuse("a name with the part '.' or '..'"),
            key if key.contains(|letter: char| letter.is_ascii_control()) => refuse("a name with a control character"),
            key => Ok(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_store_an_object_and_perhaps_a_version() {
        let read = |text: &str| Place::read(&Url::parse(text).unwrap()).unwrap();
        let place = |store, key: &str, version: Option<&str>| Place {
            store,
            key: key.into(),
            version: version.map(Into::into),
        };
        assert_eq!(read("s3://b/a/b c?d#%25"), place(Store::S3("b".into()), "a/b c?d#%25", None));
        assert_eq!(read("s3://b/a?x?versionId=v1"), place(Store::S3("b".into()), "a?x", Some("v1")));
        assert_eq!(read("gs://b/a?generation=7"), place(Store::Google("b".into()), "a", Some("7")));
        assert_eq!(read("az://c/a"), place(Store::Azure("az://c".into()), "a", None));
        assert_eq!(read("s3://b").key, "");
        assert_eq!(read("hdfs://h:1/a?generation=7"), place(Store::Hdfs("hdfs://h:1".into()), "a?generation=7", None));
        assert_eq!(read("store://1//a/b?generation=7"), place(Store::Given("1".into()), "a/b?generation=7", None));
        assert_eq!(read("hdfs:///a").store, Store::Hdfs("hdfs://".into()));
        assert_eq!(read("https://h/a//b?c=d").store, Store::Web("https://h/a//b?c=d".into()));
        for wrong in ["s3:///key", "https://", "s3://", "s3://a b/key", "gs://a?/b", "az:///c", "s3://é/key"] {
            assert!(Url::parse(wrong).is_none_or(|url| Place::read(&url).is_err()), "{wrong}");
        }
    }

    #[test]
    fn a_name_that_fits_into_no_request_is_refused() {
        let long = "a".repeat(64 << 10);
        for text in [format!("s3://b/{long}"), format!("az://{long}/k"), format!("gs://b/k?generation={long}")] {
            assert!(Place::read(&Url::parse(&text).unwrap()).unwrap_err().contains("longer than"));
        }
    }

    #[test]
    fn a_key_of_a_listing_is_read_back() {
        let bucket = Url::parse("s3://b").unwrap();
        let read = Place::read(&bucket.with_key("q?versionId=null")).unwrap();
        assert_eq!((&*read.key, read.version), ("q?versionId=null", None));
    }

    #[test]
    fn names_that_would_become_others_are_refused() {
        let place = |key: &str| Place::read(&Url::parse(&format!("s3://b/{key}")).unwrap()).unwrap();
        for key in ["", "a/", "/a", "a//b", "a/../b", "./a", "a\tb"] {
            assert!(place(key).object().is_err(), "{key}");
        }
        assert_eq!(place("a..b/.c").object(), Ok("a..b/.c"));
    }
}
