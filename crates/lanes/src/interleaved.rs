//! Several vectors in step as one lane type.

use crate::{lane::Lane, overlay::Overlay};

/// Several vectors as one, hashed in step: while one waits for a result, the next one's operation begins.
macro_rules! interleaved {
    ($(#[$doc:meta])* $name:ident: $count:literal, $($at:tt)*) => {
        $(#[$doc])*
        #[allow(dead_code)] // Machines without vectors interleave nothing.
        #[derive(Clone, Copy)]
        pub(crate) struct $name<L>([L; $count]);

        impl<L: Lane> Lane for $name<L> {
            type Word = L::Word;
            const LANES: usize = $count * L::LANES;
            type Each<T: Copy> = [L::Each<T>; $count];

            #[inline(always)]
            unsafe fn broadcast(word: L::Word) -> Self {
                // SAFETY: the instruction set is promised.
                $name([unsafe { L::broadcast(word) }; $count])
            }

            #[inline(always)]
            unsafe fn load(from: *const L::Word) -> Self {
                // SAFETY: the instruction set and the words of all vectors are promised; they lie one after another.
                unsafe { $name([$(L::load(from.add($at * L::LANES))),*]) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut L::Word) {
                // SAFETY: room for the words of all vectors is promised; they lie one after another.
                unsafe { $(self.0[$at].store(to.add($at * L::LANES));)* }
            }

            #[inline(always)]
            unsafe fn read8<const BIG: bool>(pointers: *const *const u8, offset: isize) -> [Self; 8] {
                // SAFETY: the instruction set is promised, and a pointer for each lane: those of a vector, then those of the next.
                let parts = unsafe { [$(L::read8::<BIG>(pointers.add($at * L::LANES), offset)),*] };
                let mut all = [$name([parts[0][0]; $count]); 8];
                let mut word = 0;
                while word < 8 {
                    all[word] = $name([$(parts[$at][word]),*]);
                    word += 1;
                }
                all
            }

            #[inline(always)]
            unsafe fn read_lines(pointers: *const *const u8, offset: isize) -> [Self; 16] {
                // SAFETY: the instruction set is promised, and a pointer for each lane: those of a vector, then those of the next.
                let parts = unsafe { [$(L::read_lines(pointers.add($at * L::LANES), offset)),*] };
                let mut all = [$name([parts[0][0]; $count]); 16];
                let mut word = 0;
                while word < 16 {
                    all[word] = $name([$(parts[$at][word]),*]);
                    word += 1;
                }
                all
            }

            #[inline(always)]
            unsafe fn read1<const BIG: bool>(pointers: *const *const u8, offset: isize) -> Self {
                // SAFETY: as in `read8`, with one word behind each pointer.
                unsafe { $name([$(L::read1::<BIG>(pointers.add($at * L::LANES), offset)),*]) }
            }

            #[inline(always)]
            unsafe fn write8<const BIG: bool>(words: &[Self; 8], out: *mut u8, stride: usize) {
                $(
                    let mut part = [words[0].0[$at]; 8];
                    let mut word = 0;
                    while word < 8 {
                        part[word] = words[word].0[$at];
                        word += 1;
                    }
                    // SAFETY: room for each lane is promised: this vector's lanes come after those of the vectors before it.
                    unsafe { L::write8::<BIG>(&part, out.add($at * L::LANES * stride), stride) };
                )*
            }

            #[inline(always)]
            unsafe fn overlay(overlay: Overlay) {
                // SAFETY: the instruction set is promised, and the overlay's promises for all lanes: `skip` leaves out those of the
                // vectors before.
                unsafe { $(L::overlay(overlay.skip($at * L::LANES));)* }
            }

            #[inline(always)]
            fn pin(self) -> Self {
                $name([$(self.0[$at].pin()),*])
            }

            #[inline(always)]
            fn fence(self) -> Self {
                $name([$(self.0[$at].fence()),*])
            }

            #[inline(always)]
            fn rotr_in(&mut self, bits: u32) {
                $(self.0[$at].rotr_in(bits);)*
            }

            #[inline(always)]
            fn fence_in(&mut self) {
                $(self.0[$at].fence_in();)*
            }

            each_vector!($name [$($at)*] in: add_in xor_in);
            each_vector!($name [$($at)*] bits: rotr shr);
            each_vector!($name [$($at)*] other: add sub xor and not_and);
            each_vector!($name [$($at)*] others: xor3 choose majority majority_once xor_not_and);
        }
    };
}

/// Methods that do the same with each vector. They take another vector in place, a number of bits, another vector, or two others.
macro_rules! each_vector {
    ($name:ident $at:tt in: $($method:ident)*) => { $(each_vector!(@in $name $at $method);)* };
    ($name:ident $at:tt bits: $($method:ident)*) => { $(each_vector!(@bits $name $at $method);)* };
    ($name:ident $at:tt other: $($method:ident)*) => { $(each_vector!(@other $name $at $method);)* };
    ($name:ident $at:tt others: $($method:ident)*) => { $(each_vector!(@others $name $at $method);)* };
    (@in $name:ident [$($at:tt)*] $method:ident) => {
        #[inline(always)]
        fn $method(&mut self, other: &Self) {
            $(self.0[$at].$method(&other.0[$at]);)*
        }
    };
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
