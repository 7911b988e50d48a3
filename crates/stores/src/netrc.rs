//! Logins of web servers in a file of the user, `~/.netrc`, where no other user sees them.

use crate::profile::{Environment, read};
use std::fmt;
use std::io::ErrorKind;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::str::Chars;

/// The logins of a netrc file, in its order.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Netrc(Vec<Entry>);

#[derive(Clone, Default, PartialEq, Eq)]
struct Entry {
    /// The host; `None` in the entry `default`.
    host: Option<String>,
    user: Option<String>,
    password: Option<String>,
}

impl fmt::Debug for Netrc {
    /// Shows no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Netrc({} entries)", self.0.len())
    }
}

impl Netrc {
    /// Reads the file that `NETRC` names, or else `~/.netrc`; without a file, there are no logins.
    ///
    /// # Errors
    /// If the file is not a netrc file, or the one that `NETRC` names cannot be read; as words, without any of its own.
    pub fn read(environment: Environment<'_>) -> Result<Netrc, String> {
        let asked = environment("NETRC").map(PathBuf::from);
        let home = || environment("HOME").or_else(|| environment("USERPROFILE"));
        let Some(path) = asked.clone().or_else(|| Some(Path::new(&home()?).join(".netrc"))) else {
            return Ok(Netrc::default());
        };
        match read(&path) {
            Ok(text) => Netrc::parse(&text).map_err(|why| format!("{}: {why}", path.display())),
            // A home without one, or one that this user may not read.
            Err(error)
                if asked.is_none() && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) =>
            {
                Ok(Netrc::default())
            }
            Err(error) => Err(format!("the file of logins {} cannot be read: {error}", path.display())),
        }
    }

    /// Reads the text of a netrc file. Macros of ftp are skipped, and comments: what follows `#` in the place of a keyword.
    ///
    /// # Errors
    /// The line that is wrong and what was expected there; its words may be secrets.
    pub fn parse(text: &str) -> Result<Netrc, String> {
        let mut words = Words { rest: text.chars().peekable(), line: 1 };
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(keyword) = words.next()? {
            let line = words.line;
            let expected = |what: &str| format!("line {line}: expected {what}");
            let mut value = || words.next()?.ok_or_else(|| expected(&format!("a word after '{keyword}'")));
            match &keyword[..] {
                "machine" => entries.push(Entry { host: Some(value()?), ..Entry::default() }),
                "default" => entries.push(Entry::default()),
                "macdef" => {
                    value()?;
                    words.skip_macro();
                }
                "login" | "password" | "account" => {
                    let value = Some(value()?);
                    let entry = entries.last_mut().ok_or_else(|| expected("'machine' or 'default' first"))?;
                    match &keyword[..] {
                        "login" => entry.user = value,
                        "password" => entry.password = value,
                        _ => {}
                    }
                }
                comment if comment.starts_with('#') => drop(words.skip_line()),
                _ => return Err(expected("'machine', 'default', 'login', 'password', 'account' or 'macdef'")),
            }
        }
        Ok(Netrc(entries))
    }

    /// The user of a host and the password, if there is one: of the first `machine` with its name, or `default` before that.
    pub fn login(&self, host: &str) -> Option<(&str, Option<&str>)> {
        let is_of = |entry: &&Entry| entry.host.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(host));
        let entry = self.0.iter().find(is_of)?;
        Some((entry.user.as_deref()?, entry.password.as_deref()))
    }
}

/// The words of a text, from left to right: between white space, or in quotes.
struct Words<'a> {
    rest: Peekable<Chars<'a>>,
    line: usize,
}

impl Words<'_> {
    fn take(&mut self) -> Option<char> {
        let letter = self.rest.next()?;
        self.line += usize::from(letter == '\n');
        Some(letter)
    }

    fn next(&mut self) -> Result<Option<String>, String> {
        while self.rest.peek().is_some_and(|letter| letter.is_whitespace()) {
            self.take();
        }
        let mut word = String::new();
        if self.rest.next_if_eq(&'"').is_some() {
            let line = self.line;
            loop {
                match self.take() {
                    Some('"') => return Ok(Some(word)),
                    Some('\\') => word.extend(self.take()),
                    Some(letter) => word.push(letter),
                    None => return Err(format!("line {line}: expected '\"' at the end of a word in quotes")),
                }
            }
        }
        // The white space after it stays: the line is the word's own.
        while let Some(letter) = self.rest.next_if(|letter| !letter.is_whitespace()) {
            word.push(letter);
        }
        Ok(Some(word).filter(|word| !word.is_empty()))
    }

    /// Skips the rest of a line; returns whether it was empty.
    fn skip_line(&mut self) -> bool {
        let mut is_empty = true;
        while let Some(letter) = self.take().filter(|letter| *letter != '\n') {
            is_empty &= letter == '\r';
        }
        is_empty
    }

    /// Skips the lines of a macro, which an empty line ends.
    fn skip_macro(&mut self) {
        self.skip_line();
        while self.rest.peek().is_some() && !self.skip_line() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const TEXT: &str = "\
# for tests
machine one.example login me password #a:b\\c account x
machine Two.Example
\tlogin \"with space\"
\tpassword \"q\\\"\\\\\" # the end
macdef init
cd /tmp
machine evil login in-a-macro

machine two.example login second password second
machine bare password alone
machine ::1 login only-a-user
default login anonymous password guest
machine late login never password never
";

    #[test]
    fn the_first_entry_of_a_host_has_its_login() {
        let netrc = Netrc::parse(TEXT).unwrap();
        for (host, login) in [
            ("one.example", Some(("me", Some("#a:b\\c")))),
            ("two.example", Some(("with space", Some("q\"\\")))),
            ("bare", None),
            ("::1", Some(("only-a-user", None))),
            ("late", Some(("anonymous", Some("guest")))),
            ("evil", Some(("anonymous", Some("guest")))),
        ] {
            assert_eq!(netrc.login(host), login, "{host}");
        }
        assert_eq!(Netrc::parse(&TEXT.replace('\n', "\r\n")), Ok(netrc.clone()));
        assert_eq!(format!("{netrc:?}"), "Netrc(7 entries)");
        assert_eq!(Netrc::parse("").unwrap().login("one.example"), None);
    }

    #[test]
    fn what_is_wrong_is_its_line_and_never_its_words() {
        for (text, why) in [
            ("machine a login me\npassword my secret", "line 2: expected 'machine', 'default', 'login',"),
            ("\nlogin secret", "line 2: expected 'machine' or 'default' first"),
            ("machine", "line 1: expected a word after 'machine'"),
            ("machine a\npassword\n\n", "line 2: expected a word after 'password'"),
            ("machine a password\n \"secret\nmachine b", "line 2: expected '\"' at the end of a word in quotes"),
            ("secret", "line 1: expected 'machine'"),
        ] {
            let found = Netrc::parse(text).unwrap_err();
            assert!(found.starts_with(why) && !found.contains("secret"), "{found}");
        }
    }

    #[test]
    fn the_file_is_the_users_or_the_one_that_is_named() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".netrc");
        let (usual, own) = (home.path().to_str().unwrap(), path.to_str().unwrap());
        let with = |name: &'static str, value: &str| {
            let value = value.to_string();
            Netrc::read(&move |asked| (asked == name).then(|| value.clone()))
        };
        assert_eq!(with("HOME", usual), Ok(Netrc::default()));
        assert!(with("NETRC", own).unwrap_err().starts_with(&format!("the file of logins {own} cannot be read: ")));
        fs::write(&path, TEXT).unwrap();
        for found in [with("HOME", usual), with("USERPROFILE", usual), with("NETRC", own)] {
            assert_eq!(found, Netrc::parse(TEXT));
        }
        assert_eq!(with("OTHER", own), Ok(Netrc::default()));
        for wrong in [b"machine a\n\xff".to_vec(), vec![b' '; (1 << 20) + 1]] {
            fs::write(&path, wrong).unwrap();
            assert!(
                with("HOME", usual).unwrap_err().starts_with(&format!("the file of logins {own} cannot be read: "))
            );
        }
        fs::write(&path, "x").unwrap();
        assert!(with("HOME", usual).unwrap_err().starts_with(&format!("{own}: line 1: expected ")));
    }
}
