//! Transactions, each with the digest of all rows, and the checks of rows by it.

use crate::digest::{Change, STATE, State, TABLES, Table, Tally, Walk};
use crate::error::Error;
use crate::store::Catalogue;
use rusqlite::{Params, params};

impl Catalogue {
    /// Begins a transaction: all that is written until [`Catalogue::commit`] is there afterwards, or nothing.
    pub(crate) fn begin(&self) -> Result<(), Error> {
        self.unspanned.take();
        self.own.failed.set(false);
        self.db.execute_batch("BEGIN IMMEDIATE").map_err(|error| self.fail(error))?;
        self.own.state.set(self.read_state()?);
        Ok(())
    }

    /// Ends a transaction.
    ///
    /// # Errors
    /// If a statement in it failed, or the log cannot be written: then nothing was written.
    pub(crate) fn commit(&self) -> Result<(), Error> {
        // SQLite itself ends a transaction that the disk has no room for.
        let done = if self.own.failed.get() || self.db.is_autocommit() {
            Err(Error::refused(self.input(), "a transaction failed: nothing of it was written"))
        } else {
            self.write_state().and_then(|()| self.db.execute_batch("COMMIT")).map_err(|error| self.fail(error))
        };
        if done.is_err() && !self.db.is_autocommit() {
            // The connection ends it at the latest.
            let _ = self.db.execute_batch("ROLLBACK");
        }
        done
    }

    /// Runs a statement that writes or removes rows of a table and returns them.
    pub(crate) fn change(&self, table: Table, change: Change, text: &str, values: impl Params) -> Result<(), Error> {
        let run = || {
            let (mut statement, mut state) = (self.db.prepare_cached(text)?, self.own.state.get());
            let mut rows = statement.query(values)?;
            while let Some(row) = rows.next()? {
                self.own.count(&mut state.tally, (table, row), change)?;
            }
            self.own.state.set(state);
            Ok(())
        };
        run().map_err(|error| {
            self.own.failed.set(true);
            self.fail(error)
        })
    }

    fn read_state(&self) -> Result<State, Error> {
        let text = "SELECT walk, rows, digest, (SELECT count(*) FROM state) FROM state LIMIT 1";
        let found = self.db.query_row(text, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        let (walk, rows, digest, count): (i64, i64, Vec<u8>, i64) = match found {
            Err(rusqlite::Error::QueryReturnedNoRows) => return Err(self.damaged("it has lost its digest")),
            found => found.map_err(|error| self.fail(error))?,
        };
        let walk = [Walk::None, Walk::Begun, Walk::Ended, Walk::Unread].into_iter().find(|&known| known as i64 == walk);
        match (walk, u64::try_from(rows), <[u8; 16]>::try_from(digest)) {
            (Some(walk), Ok(rows), Ok(digest)) if count == 1 => {
                let sum = u128::from_le_bytes(digest).wrapping_sub(walk as u128);
                Ok(State { walk, tally: Tally { rows, sum } })
            }
            _ => Err(self.damaged("its digest has a form that none has")),
        }
    }

    fn write_state(&self) -> rusqlite::Result<()> {
        let State { walk, tally } = self.own.state.get();
        let text = "UPDATE state SET walk = ?1, rows = ?2, digest = ?3";
        // It covers this row, too.
        let digest = tally.sum.wrapping_add(walk as u128).to_le_bytes();
        let values = params![walk as i64, tally.rows as i64, digest];
        self.db.prepare_cached(text)?.execute(values).map(drop)
    }

    /// Remembers what has read the directory, in a transaction of its own.
    pub(crate) fn set_walk(&self, walk: Walk) -> Result<(), Error> {
        self.begin()?;
        self.own.state.set(State { walk, ..self.own.state.get() });
        self.commit()
    }

    /// Counts all rows.
    fn tally(&self) -> Result<Tally, Error> {
        let mut tally = Tally::default();
        let mut count = || {
            for table in TABLES {
                let mut statement = self.db.prepare(&format!("SELECT * FROM {}", table.name()))?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    self.own.count(&mut tally, (table, row), Change::Added)?;
                }
            }
            Ok(())
        };
        count().map_err(|error| self.fail(error))?;
        Ok(tally)
    }

    /// Checks that its rows are those that were written, all of them, and that it has formats. Returns what has read the directory.
    ///
    /// A catalogue of version 2 has no digest of itself: what its spans say of the rows is compared.
    ///
    /// # Errors
    /// If rows are lost or were changed by anything but mksum, one is damaged, or there are no formats.
    pub fn check_rows(&self) -> Result<Walk, Error> {
        let walk = match self.is_old {
            true => self.check_spans()?,
            false => {
                let (state, found) = (self.read_state()?, self.tally()?);
                if found != state.tally {
                    self.check_each()?;
                    let (expected, found) = (state.tally.rows, found.rows);
                    let rows = if found == expected { String::new() } else { format!(" ({found} of {expected} rows)") };
                    return Err(self.damaged(&format!("its rows are not those that mksum wrote{rows}")));
                }
                state.walk
            }
        };
        match self.formats.is_empty() {
            true => Err(Error::refused(self.input(), "it has no formats yet: run 'mksum keep -r' to finish it")),
            false => Ok(walk),
        }
    }

    /// Checks the rows as [`Catalogue::check_rows`] does, and that they are those of the whole directory.
    ///
    /// # Errors
    /// If they are not.
    pub fn check_whole(&self) -> Result<(), Error> {
        match self.check_rows()? {
            Walk::Ended => Ok(()),
            Walk::Unread => Err(self.unread()),
            Walk::Begun | Walk::None => Err(self.unfinished()),
        }
    }

    /// Checks the rows as [`Catalogue::check_rows`] does, and that they are those of a directory that was read to its end or of a list
    /// that was imported. Returns what to report after a list of them: that entries which could not be read are missing.
    ///
    /// # Errors
    /// If they are not.
    pub fn check_list(&self) -> Result<Option<Error>, Error> {
        match self.check_rows()? {
            Walk::Ended => Ok(None),
            Walk::Unread => Ok(Some(self.unread())),
            Walk::None if !self.is_empty()? => Ok(None),
            Walk::Begun | Walk::None => Err(self.unfinished()),
        }
    }

    fn unread(&self) -> Error {
        let why = "entries of the directory could not be read, or changed meanwhile, and are missing ('mksum status' lists them): run \
                   'mksum update' of it once they can be read";
        Error::refused(self.input(), why)
    }

    fn unfinished(&self) -> Error {
        let why = "the directory was not read to its end, so that files may be missing: run 'mksum update' of it first";
        Error::refused(self.input(), why)
    }

    /// Checks each row by itself.
    fn check_each(&self) -> Result<(), Error> {
        self.rows().try_for_each(|row| self.roots(&row?).map(drop))
    }

    /// Gives a catalogue of version 2 a digest of itself, after its rows were checked as well as they can be.
    pub(crate) fn upgrade(&mut self) -> Result<(), Error> {
        self.db.execute_batch("BEGIN IMMEDIATE").map_err(|error| self.fail(error))?;
        self.check_pages()?;
        self.check_each()?;
        let state = State { walk: self.check_spans()?, tally: self.tally()? };
        self.own.state.set(state);
        let write = || {
            self.db
                .execute_batch(&format!("{STATE}; INSERT INTO state VALUES (0, 0, X''); PRAGMA user_version = 3"))?;
            self.write_state()?;
            self.db.execute_batch("COMMIT")
        };
        write().map_err(|error| self.fail(error))?;
        self.is_old = false;
        Ok(())
    }

    pub(crate) fn damaged(&self, why: &str) -> Error {
        let how = "restore it from a copy, or move it away and keep the directory again";
        Error::refused(self.input(), format_args!("the catalogue is damaged: {why}: {how}"))
    }
}
