//! The digests of what was never written, without reading it.

use crate::File;
use crate::platform::next_data;
use mksum::{Error, Format, Messages, NodeHash, Role, Subtree, Subtrees};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file as a source of subtrees that does not read its holes, where a format lets zero bytes lie anywhere.
pub(crate) struct Sparse<'a, N: NodeHash> {
    file: &'a File,
    holes: Option<Holes<'a, N>>,
}

impl<'a, N: NodeHash> Sparse<'a, N> {
    pub fn of(file: &'a File, format: &Format<N>) -> Self {
        Sparse { file, holes: Holes::of(file, format) }
    }
}

impl<N: NodeHash> Subtrees<N> for Sparse<'_, N> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        match &self.holes {
            None => self.file.digest(format, node, role),
            Some(holes) => (holes, self.file).digest(format, node, role),
        }
    }

    fn digests(&self, format: &Format<N>, nodes: &[Subtree], out: &mut Vec<N::Digest>) -> Result<(), Error> {
        match &self.holes {
            None => self.file.digests(format, nodes, out),
            Some(holes) => (holes, self.file).digests(format, nodes, out),
        }
    }
}

/// The holes of a sparse file: zero bytes, whose digests are computed once for each length and level.
struct Holes<'a, N: NodeHash> {
    file: &'a File,
    known: Mutex<HashMap<(u64, u32), N::Digest>>,
}

impl<'a, N: NodeHash> Holes<'a, N> {
    /// The holes of `file`, if it has some and the format's digests do not depend on where they lie.
    fn of(file: &'a File, format: &Format<N>) -> Option<Self> {
        (file.is_sparse() && !format.nodes.depends_on_start()).then(|| Holes { file, known: Mutex::default() })
    }

    fn has(&self, node: Subtree) -> bool {
        next_data(&self.file.reader.file, node.start).is_some_and(|data| data >= node.end())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(u64, u32), N::Digest>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<N: NodeHash> Subtrees<N> for Holes<'_, N> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        if role == Role::Root || !self.has(node) {
            return Ok(None);
        }
        let key = (node.len, node.level);
        if let Some(digest) = self.known().get(&key) {
            self.file.reader.options.meter.add(node.len);
            return Ok(Some(digest.clone()));
        }
        let digest = format.join(&Zeros(self), node, role)?;
        self.known().insert(key, digest.clone());
        self.file.reader.options.meter.add(node.len);
        Ok(Some(digest))
    }
}

/// As many zero bytes as are asked for.
struct Zeros<'a, 'b, N: NodeHash>(&'a Holes<'b, N>);

impl<N: NodeHash> Subtrees<N> for Zeros<'_, '_, N> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
        if let Some(digest) = self.0.known().get(&(node.len, node.level)) {
            return Ok(Some(digest.clone()));
        }
        if node.level > 0 {
            return Ok(None);
        }
        let mut leaf = format.nodes.open_leaves(&[node.start]);
        let mut rest = node.len;
        while rest > 0 {
            let slice = rest.min(ZEROS.len() as u64);
            format.nodes.slices(&mut leaf, Messages::one(&ZEROS[..slice as usize]));
            rest -= slice;
        }
        let mut digest = Vec::new();
        format.nodes.close_leaves(leaf, &[&[]], role, &mut digest);
        Ok(digest.pop())
    }

    fn joined(&self, node: Subtree, digest: &N::Digest) {
        self.0.known().insert((node.len, node.level), digest.clone());
    }
}
