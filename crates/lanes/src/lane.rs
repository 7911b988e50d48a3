//! The lane trait: one vector holds the same word of several messages.

use crate::kernel::{Overlay, PITCH};

/// A machine word of a hash function: `u32` or `u64`.
pub(crate) trait Word: Lane<Word = Self> + Default + 'static {}

impl Word for u32 {}
impl Word for u64 {}

/// A vector with one word of each of [`LANES`](Lane::LANES) messages.
///
/// The functions that make a value from nothing are `unsafe`: the caller promises the instruction set. Every other
/// operation takes a value, and a value is the proof that the promise was kept; so those are safe.
///
/// Implementations are `#[inline(always)]` and never `#[target_feature]`: the outermost function of a kernel carries the
/// feature. No closures, `array::from_fn` or `map` around them either: a closure does not inherit the feature, and each
/// operation would become a call.
pub(crate) trait Lane: Copy {
    /// The word.
    type Word: Word;

    /// The number of messages side by side.
    const LANES: usize;

    /// One value a lane, in memory: `[T; LANES]`.
    type Each<T: Copy>: Copy;

    /// The same word in every lane.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn broadcast(word: Self::Word) -> Self;

    /// One word per lane from consecutive memory of any alignment.
    ///
    /// # Safety
    /// The machine has the instruction set, and [`LANES`](Lane::LANES) words can be read.
    unsafe fn load(from: *const Self::Word) -> Self;

    /// Writes one word per lane to consecutive memory of any alignment.
    ///
    /// # Safety
    /// [`LANES`](Lane::LANES) words can be written.
    unsafe fn store(self, to: *mut Self::Word);

    /// Reads 8 consecutive words of each message, at `offset` bytes from its row: `out[i]` holds word `i` of each.
    /// `BIG` says that a word's first byte is its most significant one.
    ///
    /// # Safety
    /// The machine has the instruction set; `rows` are [`LANES`](Lane::LANES) pointers with 8 words there.
    unsafe fn rows8<const BIG: bool>(rows: *const *const u8, offset: isize) -> [Self; 8];

    /// Reads 16 words of each message.
    ///
    /// # Safety
    /// As [`rows8`](Lane::rows8), with 16 words at each row.
    #[inline(always)]
    unsafe fn rows16<const BIG: bool>(rows: *const *const u8, offset: isize) -> [Self; 16] {
        // SAFETY: the caller's promise.
        let halves = unsafe {
            let half = 8 * size_of::<Self::Word>() as isize;
            [Self::rows8::<BIG>(rows, offset), Self::rows8::<BIG>(rows, offset + half)]
        };
        let mut all = [halves[0][0]; 16];
        let mut at = 0;
        while at < 16 {
            all[at] = halves[at / 8][at % 8];
            at += 1;
        }
        all
    }

    /// Reads one word of each message.
    ///
    /// # Safety
    /// As [`rows8`](Lane::rows8), with one word at each row.
    unsafe fn rows1<const BIG: bool>(rows: *const *const u8, offset: isize) -> Self;

    /// Writes 8 words of each message: those of lane `i` begin at `out + i * stride`.
    ///
    /// # Safety
    /// 8 words can be written there for each lane.
    unsafe fn store8<const BIG: bool>(words: &[Self; 8], out: *mut u8, stride: usize);

    /// Lays bytes of each message over a template.
    ///
    /// # Safety
    /// As [`Overlay`] says.
    #[inline(always)]
    unsafe fn overlay(overlay: Overlay) {
        let Overlay { template, rows, offset, from, end, to, len } = overlay;
        let mut lane = 0;
        while lane < Self::LANES {
            // SAFETY: the caller's promise.
            unsafe {
                let to = to.add(lane * PITCH);
                let row = (*rows.add(lane)).wrapping_offset(offset);
                core::ptr::copy_nonoverlapping(template, to, len);
                core::ptr::copy_nonoverlapping(row.wrapping_add(from), to.add(from), end - from);
            }
            lane += 1;
        }
    }

    /// The same value, at this point of the program: keeps the compiler from undoing the order in which interleaved
    /// vectors are written. It costs no instruction.
    #[inline(always)]
    fn pin(self) -> Self {
        self
    }

    /// The same word in every lane.
    #[inline(always)]
    fn splat(self, word: Self::Word) -> Self {
        // SAFETY: `self` is the proof.
        unsafe { Self::broadcast(word) }
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
    /// Rotated right by `bits`, less than a word's and not 0.
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

    /// `yes` where `self` has a one, `no` elsewhere.
    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        yes.xor(no).and(self).xor(no)
    }

    /// [`choose`](Lane::choose), added to `sum`.
    #[inline(always)]
    fn choose_added(self, yes: Self, no: Self, sum: Self) -> Self {
        sum.add(self.choose(yes, no))
    }

    /// The bit that at least two of the three have.
    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        self.xor(b).and(b.xor(c)).xor(b)
    }

    /// [`majority`](Lane::majority), where the next one has nothing in common with it.
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

/// Several vectors as one, hashed in step: while one waits for a result, the next one's operation begins.
macro_rules! interleaved {
    ($(#[$doc:meta])* $name:ident: $count:literal, $($at:tt)*) => {
        $(#[$doc])*
        #[allow(dead_code)] // Where there are no vectors.
        #[derive(Clone, Copy)]
        pub(crate) struct $name<L>([L; $count]);

        impl<L: Lane> Lane for $name<L> {
            type Word = L::Word;
            const LANES: usize = $count * L::LANES;
            type Each<T: Copy> = [L::Each<T>; $count];

            #[inline(always)]
            unsafe fn broadcast(word: L::Word) -> Self {
                // SAFETY: the caller's promise.
                $name([unsafe { L::broadcast(word) }; $count])
            }

            #[inline(always)]
            unsafe fn load(from: *const L::Word) -> Self {
                // SAFETY: the caller's promise: the vectors' words lie one after another.
                unsafe { $name([$(L::load(from.add($at * L::LANES))),*]) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut L::Word) {
                // SAFETY: as for `load`.
                unsafe { $(self.0[$at].store(to.add($at * L::LANES));)* }
            }

            #[inline(always)]
            unsafe fn rows8<const BIG: bool>(rows: *const *const u8, offset: isize) -> [Self; 8] {
                // SAFETY: the caller's promise: the vectors' rows lie one after another.
                let parts = unsafe { [$(L::rows8::<BIG>(rows.add($at * L::LANES), offset)),*] };
                let mut all = [$name([parts[0][0]; $count]); 8];
                let mut word = 0;
                while word < 8 {
                    all[word] = $name([$(parts[$at][word]),*]);
                    word += 1;
                }
                all
            }

            #[inline(always)]
            unsafe fn rows1<const BIG: bool>(rows: *const *const u8, offset: isize) -> Self {
                // SAFETY: as for `rows8`.
                unsafe { $name([$(L::rows1::<BIG>(rows.add($at * L::LANES), offset)),*]) }
            }

            #[inline(always)]
            unsafe fn store8<const BIG: bool>(words: &[Self; 8], out: *mut u8, stride: usize) {
                $(
                    let mut part = [words[0].0[$at]; 8];
                    let mut word = 0;
                    while word < 8 {
                        part[word] = words[word].0[$at];
                        word += 1;
                    }
                    // SAFETY: the caller's promise.
                    unsafe { L::store8::<BIG>(&part, out.add($at * L::LANES * stride), stride) };
                )*
            }

            #[inline(always)]
            unsafe fn overlay(overlay: Overlay) {
                // SAFETY: the caller's promise: the vectors' rows lie one after another.
                unsafe { $(L::overlay(overlay.skip($at * L::LANES));)* }
            }

            #[inline(always)]
            fn pin(self) -> Self {
                $name([$(self.0[$at].pin()),*])
            }

            each_vector!($name [$($at)*] bits: rotr shr);
            each_vector!($name [$($at)*] other: add sub xor and not_and);
            each_vector!($name [$($at)*] others: xor3 choose majority majority_once xor_not_and);
        }
    };
}

/// Methods that do the same with each vector: of a number of bits, of another vector, of two others.
macro_rules! each_vector {
    ($name:ident $at:tt bits: $($method:ident)*) => { $(each_vector!(@bits $name $at $method);)* };
    ($name:ident $at:tt other: $($method:ident)*) => { $(each_vector!(@other $name $at $method);)* };
    ($name:ident $at:tt others: $($method:ident)*) => { $(each_vector!(@others $name $at $method);)* };
    (@bits $name:ident [$($at:tt)*] $method:ident) => {
        #[inline(always)]
        fn $method(self, bits: u32) -> Self {
            $name([$(self.0[$at].$method(bits)),*])
        }
    };
    (@other $name:ident [$($at:tt)*] $method:ident) => {
        #[inline(always)]
        fn $method(self, other: Self) -> Self {
            $name([$(self.0[$at].$method(other.0[$at])),*])
        }
    };
    (@others $name:ident [$($at:tt)*] $method:ident) => {
        #[inline(always)]
        fn $method(self, b: Self, c: Self) -> Self {
            $name([$(self.0[$at].$method(b.0[$at], c.0[$at])),*])
        }
    };
}

interleaved! {
    /// Two vectors in step.
    Two: 2, 0 1
}
interleaved! {
    /// Three vectors in step: for MD5, whose every operation waits for the one before.
    Three: 3, 0 1 2
}
