//! An outboard in a store, of which only the pages are fetched that a read needs.

use super::units::{Kept, Lookup, Units};
use crate::outboard::{Stored, opened};
use crate::{Error, File, Input};
use mksum::outboard::{Foreign, ForeignFormat, Outboard, OutboardError, ReadAt};
use std::sync::Arc;

/// The bytes of an outboard: a file of this machine, or pages of an object.
pub type OutboardBytes = Box<dyn ReadAt + Send>;

/// Opens the outboard of a file, and reads its header; of another program's tree, the highest digests.
pub fn open_outboard(
    place: &Input,
    foreign: Option<&ForeignFormat>,
    file: &File,
) -> Result<Outboard<OutboardBytes>, Error> {
    let options = file.options();
    let bytes: OutboardBytes = match place {
        Input::File(path) => Box::new(Stored::open(path)?),
        _ => Box::new(Pages { file: File::open_at_random(place.clone(), options)?, pages: Units::new(Pages::KEPT) }),
    };
    let Some(format) = foreign else { return opened(bytes, place) };
    let layout = format.layout(file.len()).map_err(|error| Error::from_join(error, file.input(), format.spec()))?;
    let tree = Foreign::open(bytes, layout).map_err(|error| Error::from_outboard(error, place))?;
    opened(Box::new(tree), place)
}

struct Pages {
    file: File,
    pages: Units,
}

impl Pages {
    /// The bytes of a page: ten levels of a binary tree.
    const PAGE: u64 = 64 << 10;
    /// The bytes that are kept at most.
    const KEPT: u64 = 8 << 20;

    fn page(&self, start: u64) -> Result<Kept, Error> {
        loop {
            match self.pages.claim(start) {
                Lookup::Kept(page) => return Ok(page),
                Lookup::Awaited => self.pages.wait(start),
                Lookup::Claimed(claim) => {
                    let mut bytes = self.pages.memory(Self::PAGE.min(self.file.len() - start), self.file.input())?;
                    self.file.fill_now(start, &mut bytes)?;
                    claim.keep(Arc::new(bytes));
                }
            }
        }
    }
}

impl ReadAt for Pages {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), mksum::Error> {
        let (mut at, mut rest) = (offset, buffer);
        while !rest.is_empty() {
            let from = (at % Self::PAGE) as usize;
            if at >= self.file.len() {
                return Err(OutboardError::Short { size: self.file.len() }.into());
            }
            let page = self.page(at - from as u64)?;
            let count = rest.len().min(page.len() - from);
            let out;
            (out, rest) = rest.split_at_mut(count);
            out.copy_from_slice(&page[from..][..count]);
            at += count as u64;
        }
        Ok(())
    }

    fn size(&self) -> u64 {
        self.file.len()
    }
}
