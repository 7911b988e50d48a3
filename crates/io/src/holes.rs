//! The digests of the holes of a sparse file, without reading them.

use crate::File;
use mksum::{Digest, Digests, Error, Found, Messages, Part, Role, Spec, Subtree, Subtrees};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file as a source of subtrees that does not read its holes, where equal bytes have equal digests at every offset.
pub(crate) struct Sparse<'a> {
    file: &'a File,
    holes: Option<Holes<'a>>,
}

impl<'a> Sparse<'a> {
    pub fn of(file: &'a File, spec: &Spec) -> Self {
        let holes = (file.is_sparse() && !spec.depends_on_start()).then(|| Holes { file, known: Mutex::default() });
        Sparse { file, holes }
    }
}

impl Subtrees for Sparse<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        match &self.holes {
            None => self.file.digest(spec, node, role),
            Some(holes) => (holes, self.file).digest(spec, node, role),
        }
    }

    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), Error> {
        match &self.holes {
            None => self.file.digests(spec, nodes, out),
            Some(holes) => (holes, self.file).digests(spec, nodes, out),
        }
    }

    fn scan(&self, spec: &Spec, part: Part) -> Result<Option<Found>, Error> {
        self.file.scan(spec, part)
    }
}

/// The holes of a sparse file: zero bytes, whose digests are computed once for each length and level.
struct Holes<'a> {
    file: &'a File,
    known: Mutex<HashMap<(u64, u32), Digest>>,
}

impl Holes<'_> {
    fn has(&self, node: Subtree) -> bool {
        self.file.reader.next_data(node.start).is_some_and(|data| data >= node.end())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(u64, u32), Digest>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subtrees for Holes<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        if role == Role::Root || !self.has(node) {
            return Ok(None);
        }
        let key = (node.len, node.level);
        let known = self.known().get(&key).copied();
        let digest = match known {
            Some(digest) => digest,
            None => spec.join(&Zeros(self), node, role)?,
        };
        self.file.options().meter.add(node.len);
        Ok(Some(digest))
    }
}

/// A source of zero bytes, as many as are asked for.
struct Zeros<'a, 'b>(&'a Holes<'b>);

impl Subtrees for Zeros<'_, '_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
        if let Some(digest) = self.0.known().get(&(node.len, node.level)) {
            return Ok(Some(*digest));
        }
        if node.level > 0 {
            return Ok(None);
        }
        let mut leaf = spec.leaf_hasher(&[node]);
        let mut rest = node.len;
        while rest > 0 {
            let slice = rest.min(ZEROS.len() as u64);
            leaf.update(Messages::one(&ZEROS[..slice as usize]));
            rest -= slice;
        }
        Ok(Some(leaf.finish_one(role)))
    }

    fn joined(&self, node: Subtree, digest: &Digest) {
        self.0.known().insert((node.len, node.level), *digest);
    }
}
