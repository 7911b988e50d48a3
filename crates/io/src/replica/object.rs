//! A replica in a store.

use super::contract::Replica;
use crate::{Ahead, Error, Input, Object, Objects, Url};
use std::io::IoSliceMut;
use std::sync::Arc;

pub(super) struct Remote {
    place: Input,
    url: Url,
    objects: Arc<dyn Objects>,
    object: Option<Arc<dyn Object>>,
    /// The reason why the object could not be opened.
    failure: Option<String>,
    fetched: u64,
    /// The offset after the bytes that were fetched last.
    at: u64,
}

impl Remote {
    pub fn new(url: Url, objects: Arc<dyn Objects>) -> Self {
        Remote { place: url.clone().into(), url, objects, object: None, failure: None, fetched: 0, at: 0 }
    }
}

impl Replica for Remote {
    fn place(&self) -> &Input {
        &self.place
    }

    fn read(&mut self, start: u64, buffer: &mut [u8]) -> Result<(), Error> {
        if buffer.is_empty() {
            return Ok(());
        }
        let fail = |why| Error::Fetch { path: self.url.clone().into(), offset: start, why };
        // Of a server that is gone, the other ranges are not waited for.
        if let Some(why) = &self.failure {
            return Err(fail(why.clone()));
        }
        let end = start.saturating_add(buffer.len() as u64);
        let object = match &self.object {
            Some(object) => object.clone(),
            None => match self.objects.open(&self.url, start..end, Ahead::No) {
                Ok(object) => self.object.insert(object).clone(),
                Err(error) => {
                    let why = match error {
                        Error::Fetch { why, .. } => why,
                        error => error.to_string(),
                    };
                    self.failure = Some(why.clone());
                    return Err(fail(why));
                }
            },
        };
        if end > object.len() {
            return Err(fail(format!("the copy ends before these bytes: it has {} bytes", object.len())));
        }
        object.read(start, &mut [IoSliceMut::new(buffer)])?;
        // Of a server without range requests, all that comes before was fetched too.
        let first = match object.is_in_order() {
            true if self.at <= start => self.at,
            true => 0,
            false => start,
        };
        (self.fetched, self.at) = (self.fetched + (end - first), end);
        Ok(())
    }

    fn fetched(&self) -> u64 {
        self.fetched
    }
}
