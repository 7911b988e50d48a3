//! The lane trait: one vector holds the same word of several messages.

use crate::overlay::Overlay;

/// A machine word of a hash function: `u32` or `u64`.
pub(crate) trait Word: Lane<Word = Self> + Default + 'static {}

impl Word for u32 {}
impl Word for u64 {}

/// A vector with one word of each of [`LANES`](Lane::LANES) messages.
///
/// The functions that make a value from nothing are `unsafe`: their caller promises that the machine has the instruction set.
/// Every other operation takes a value, which is the proof of that, and is safe.
///
/// Implementations are `#[inline(always)]` and never `#[target_feature]`: the outermost function of a kernel carries the
/// feature. There are no closures, `array::from_fn` or `map` around them either: a closure does not inherit the feature, and each
/// operation would become a call.
pub(crate) trait Lane: Copy {
    /// The word.
    type Word: Word;

    /// The number of messages side by side.
    const LANES: usize;

    /// Memory for one value of each lane: `[T; LANES]`.
    type Each<T: Copy>: Copy;

    /// The same word in every lane.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn broadcast(word: Self::Word) -> Self;

    /// One word for each lane from consecutive memory of any alignment.
    ///
    /// # Safety
    /// The machine has the instruction set, and [`LANES`](Lane::LANES) words can be read.
    unsafe fn load(from: *const Self::Word) -> Self;

    /// Writes one word for each lane to consecutive memory of any alignment.
    ///
    /// # Safety
    /// [`LANES`](Lane::LANES) words can be written.
    unsafe fn store(self, to: *mut Self::Word);

    /// Reads 8 consecutive words of each message, `offset` bytes after its pointer: `out[i]` holds word `i` of each.
    /// `BIG` says that a word's first byte is its most significant one.
    ///
    /// # Safety
    /// The machine has the instruction set. There are [`LANES`](Lane::LANES) pointers, and 8 words `offset` bytes after each.
    unsafe fn read8<const BIG: bool>(pointers: *const *const u8, offset: isize) -> [Self; 8];

    /// Reads 16 consecutive words of each message.
    ///
    /// # Safety
    /// As for [`read8`](Lane::read8), with 16 words.
    #[inline(always)]
    unsafe fn read16<const BIG: bool>(pointers: *const *const u8, offset: isize) -> [Self; 16] {
        // SAFETY: the instruction set and the pointers are promised; the 16 words after each are twice 8.
        let halves = unsafe {
            let half = 8 * size_of::<Self::Word>() as isize;
            [Self::read8::<BIG>(pointers, offset), Self::read8::<BIG>(pointers, offset + half)]
        };
        let mut all = [halves[0][0]; 16];
        let mut at = 0;
        while at < 16 {
            all[at] = halves[at / 8][at % 8];
            at += 1;
        }
        all
    }

    /// The same, with words whose first byte is the least significant one, for messages that come from memory far away: as few loads as can be, even if more shuffles.
    ///
    /// # Safety
    /// As for [`read16`](Lane::read16).
    #[inline(always)]
    unsafe fn read_lines(pointers: *const *const u8, offset: isize) -> [Self; 16] {
        // SAFETY: the same promises.
        unsafe { Self::read16::<false>(pointers, offset) }
    }

    /// Reads one word of each message.
    ///
    /// # Safety
    /// As for [`read8`](Lane::read8), with one word.
    unsafe fn read1<const BIG: bool>(pointers: *const *const u8, offset: isize) -> Self;

    /// Writes 8 words of each message: those of lane `i` begin at `out + i * stride`.
    ///
    /// # Safety
    /// 8 words can be written there for each lane.
    unsafe fn write8<const BIG: bool>(words: &[Self; 8], out: *mut u8, stride: usize);

    /// Puts together a block for each lane.
    ///
    /// # Safety
    /// The machine has the instruction set; the overlay's promises hold for [`LANES`](Lane::LANES) messages.
    #[inline(always)]
    unsafe fn overlay(overlay: Overlay) {
        // SAFETY: the caller's promise about the overlay, for as many messages.
        unsafe { overlay.write(Self::LANES) }
    }

    /// The same value, at this point of the program: keeps the compiler from undoing the order in which interleaved
    /// vectors are written. It costs no instruction.
    #[inline(always)]
    fn pin(self) -> Self {
        self
    }

    /// As [`pin`](Lane::pin), and no value that is fenced later comes before this one: so vectors in step stay in step. Where the compiler
    /// may, it does all of one vector before the next, which needs fewer registers, and nothing is hashed while a result is awaited.
    #[inline(always)]
    fn fence(self) -> Self {
        self.pin()
    }

    /// The same word in every lane.
    #[inline(always)]
    fn splat(self, word: Self::Word) -> Self {
        // SAFETY: `self` is the proof that the machine has the instruction set.
        unsafe { Self::broadcast(word) }
    }

    /// Adds `other`, wrapping. In place, as the three below: the compiler takes time that is quadratic in the number of copies of interleaved
    /// vectors to find that none is needed.
    #[inline(always)]
    fn add_in(&mut self, other: &Self) {
        *self = self.add(*other);
    }

    /// Takes the exclusive or with `other`.
    #[inline(always)]
    fn xor_in(&mut self, other: &Self) {
        *self = self.xor(*other);
    }

    /// Rotates right by `bits`.
    #[inline(always)]
    fn rotr_in(&mut self, bits: u32) {
        *self = self.rotr(bits);
    }

    /// [`fence`](Lane::fence), in place.
    #[inline(always)]
    fn fence_in(&mut self) {
        *self = self.fence();
    }

    /// `self + other`, wrapping.
    fn add(self, other: Self) -> Self;
    /// `self - other`, wrapping.
    fn sub(self, other: Self) -> Self;
    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;
    /// `self & other`.
    fn and(self, other: Self) -> Self;
    /// `!self & other`.
    fn not_and(self, other: Self) -> Self;
    /// Rotated right by `bits`: at least 1, and less than a word has.
    fn rotr(self, bits: u32) -> Self;
    /// Shifted right by `bits`.
    fn shr(self, bits: u32) -> Self;

    /// Rotated left.
    #[inline(always)]
    fn rotl(self, bits: u32) -> Self {
        self.rotr(8 * size_of::<Self::Word>() as u32 - bits)
    }

    /// `self ^ b ^ c`.
    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }

    /// The bits of `yes` where `self` has a one, and those of `no` elsewhere.
    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        yes.xor(no).and(self).xor(no)
    }

    /// [`choose`](Lane::choose), added to `sum`.
    #[inline(always)]
    fn choose_added(self, yes: Self, no: Self, sum: Self) -> Self {
        sum.add(self.choose(yes, no))
    }

    /// The bits that at least two of the three have.
    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        self.xor(b).and(b.xor(c)).xor(b)
    }

    /// [`majority`](Lane::majority), in hashes where the next one shares no operation with it.
    #[inline(always)]
    fn majority_once(self, b: Self, c: Self) -> Self {
        self.majority(b, c)
    }

    /// `self ^ (!b & c)`.
    #[inline(always)]
    fn xor_not_and(self, b: Self, c: Self) -> Self {
        self.xor(b.not_and(c))
    }
}
