//! How much of a directory was verified, and when.

use crate::error::Error;
use crate::store::Catalogue;
use serde::{Serialize, Serializer};

/// The files of a catalogue that were verified since they were kept: read again, and compared with their roots.
///
/// As JSON, `checks` of `spec/json.md`, without the directory's path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename = "checks")]
pub struct Coverage {
    /// The files that have roots.
    pub files: u64,
    /// The sum of the files' lengths, in bytes.
    pub bytes: u64,
    /// The files that were verified.
    pub verified_files: u64,
    /// The bytes that were verified, with the verified parts of long files.
    pub verified_bytes: u64,
    /// The least recent verification of those files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest: Option<Check>,
    /// The most recent one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<Check>,
}

/// The time of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Seconds since 1970.
    pub seconds: i64,
    /// The day in UTC: `2026-03-01`.
    pub day: String,
}

impl Serialize for Check {
    /// Writes the seconds.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.seconds)
    }
}

impl Catalogue {
    /// Returns how much was verified, and when, from the rows alone.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn coverage(&self) -> Result<Coverage, Error> {
        let text = "SELECT count(*), ifnull(sum(size), 0), ifnull(sum(checked), 0), \
                    ifnull(sum(iif(checked, size, progress)), 0), min(iif(checked, time, NULL)), max(iif(checked, time, NULL)), \
                    date(min(iif(checked, time, NULL)), 'unixepoch'), date(max(iif(checked, time, NULL)), 'unixepoch') \
                    FROM (SELECT entry.size AS size, min(\"by\" IN ('verify', 'repair')) AS checked, min(verified) AS time, \
                    min(progress) AS progress FROM root JOIN entry USING (path) GROUP BY path)";
        let check = |seconds: Option<i64>, day: Option<String>| Some(Check { seconds: seconds?, day: day? });
        let read = |row: &rusqlite::Row<'_>| {
            let number = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
            Ok(Coverage {
                files: number(0)?,
                bytes: number(1)?,
                verified_files: number(2)?,
                verified_bytes: number(3)?,
                oldest: check(row.get(4)?, row.get(6)?),
                newest: check(row.get(5)?, row.get(7)?),
            })
        };
        self.db.query_row(text, [], read).map_err(|error| self.fail(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, place, update, verify};
    use mksum_io::Options;
    use std::fs;

    #[test]
    fn what_was_verified_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        for (name, length) in [("a", 1), ("b", 2), ("c", 3)] {
            fs::write(folder.path().join(name), vec![0; length]).unwrap();
        }
        let mut catalogue = Catalogue::create(&place(folder.path()), &mut || {}).unwrap();
        catalogue.add_formats(&["sha256".parse().unwrap(), "md5".parse().unwrap()]).unwrap();
        assert_eq!(catalogue.coverage().unwrap(), Coverage::default());
        let options = Options { threads: 1, ..Options::new() };
        update(&mut catalogue, folder.path(), &options, &mut |_| {}).unwrap();
        let kept = catalogue.coverage().unwrap();
        assert_eq!(kept, Coverage { files: 3, bytes: 6, ..Coverage::default() });
        let json = |coverage: &Coverage| serde_json::to_string(coverage).unwrap();
        assert_eq!(json(&kept), r#"{"kind":"checks","files":3,"bytes":6,"verified_files":0,"verified_bytes":0}"#);
        verify(&mut catalogue, folder.path(), &options, Effort::Share(0.01), &mut |_| {}).unwrap();
        let once = catalogue.coverage().unwrap();
        assert_eq!((once.verified_files, once.verified_bytes), (1, 1));
        verify(&mut catalogue, folder.path(), &options, Effort::All, &mut |_| {}).unwrap();
        let all = catalogue.coverage().unwrap();
        assert_eq!((all.verified_files, all.verified_bytes), (3, 6));
        let check = Some(Check { seconds: 9, day: "1970-01-01".into() });
        assert!(
            json(&Coverage { newest: check, ..Coverage::default() }).ends_with(r#""verified_bytes":0,"newest":9}"#)
        );
        let (oldest, newest) = (all.oldest.unwrap(), all.newest.unwrap());
        assert!(oldest.seconds <= newest.seconds && oldest.day.len() == 10 && oldest.day <= newest.day);
    }
}
