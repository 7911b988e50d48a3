//! Where many messages lie: runs of messages.

/// Messages of equal length: runs of `run` messages each, the last one shorter where `count` says so.
///
/// Messages that lie `stride` bytes apart are runs of one. Chunks that lie one after another in each of some messages are runs,
/// and so are the pairs of nodes of each of some trees.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    /// The first message of the first run.
    pub base: *const u8,
    /// The distance between the first messages of two runs, in bytes.
    pub stride: usize,
    /// The number of messages in a run.
    pub run: usize,
    /// The distance between two messages of a run, in bytes.
    pub step: usize,
    /// The place of the grid's first message in its run: those before it belong to another grid.
    pub first: usize,
    /// The number of messages.
    pub count: usize,
    /// Whether what lies at these places is no message but a pointer to one.
    pub pointed: bool,
}

impl Grid {
    /// `count` messages, `stride` bytes apart.
    pub fn apart(base: *const u8, stride: usize, count: usize) -> Self {
        Grid { base, stride, run: 1, step: 0, first: 0, count, pointed: false }
    }

    /// `count` messages anywhere, to which so many pointers lie at `pointers`.
    pub fn anywhere(pointers: *const *const u8, count: usize) -> Self {
        Grid { pointed: true, ..Grid::apart(pointers.cast(), size_of::<*const u8>(), count) }
    }

    /// `count` messages in runs of `run`: the messages of a run are `step` bytes apart, the runs `stride` bytes.
    pub fn runs(base: *const u8, stride: usize, run: usize, step: usize, count: usize) -> Self {
        Grid { base, stride, run, step, first: 0, count, pointed: false }
    }

    /// The first message's address and the distance to the next one, in bytes, if all messages have that distance.
    #[allow(dead_code)] // Only BLAKE3 on x86 asks.
    pub fn evenly(&self) -> Option<(*const u8, usize)> {
        let base = self.base.wrapping_add(self.first * self.step);
        match self.run {
            _ if self.pointed => None,
            1 => Some((base, self.stride)),
            run if self.first + self.count <= run => Some((base, self.step)),
            _ => None,
        }
    }

    /// `count` of the messages, without the first `skipped` ones.
    pub fn part(self, skipped: usize, count: usize) -> Self {
        if skipped == 0 {
            return Grid { count, ..self };
        }
        let at = self.first + skipped;
        let base = self.base.wrapping_add(at / self.run * self.stride);
        Grid { base, first: at % self.run, count, ..self }
    }

    /// Whether messages of many blocks lie, at equal distances from their begins, in the same few cache sets.
    #[inline(always)]
    pub fn conflicts(&self) -> bool {
        self.run == 1 && self.stride > 0 && self.stride.is_multiple_of(2048)
    }
}
