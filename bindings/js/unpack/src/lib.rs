//! LZMA (Igor Pavlov's "LZMA specification", 2015), for the modules that `bindings/js` has inlined: they are a fifth smaller
//! than by DEFLATE. As WebAssembly this runs at once at a speed that JavaScript reaches after tens of milliseconds, and
//! libraries bring streams, checksums and an allocator along.
#![cfg_attr(target_family = "wasm", no_std)]

/// The file is damaged, or longer than [`unpack`]'s output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// Where the models of each kind of bit begin, one kind after another: by state, by state and position, by length …
const MATCH: usize = 0;
const REP: usize = MATCH + 12 * 16;
const REP_OLDER: usize = REP + 12;
const REP_OLDER_1: usize = REP_OLDER + 12;
const REP_OLDER_2: usize = REP_OLDER_1 + 12;
const REP_LONG: usize = REP_OLDER_2 + 12;
const SLOT: usize = REP_LONG + 12 * 16;
const DISTANCE: usize = SLOT + 4 * 64;
const ALIGN: usize = DISTANCE + 115;
const LENGTH: usize = ALIGN + 16;
const LENGTHS: usize = 2 + 2 * 16 * 8 + 256;
const REP_LENGTH: usize = LENGTH + LENGTHS;
const LITERAL: usize = REP_LENGTH + LENGTHS;
/// The models, and more: those of literals are for up to 4 bits of context. A power of two, so that an index is within it
/// by a mask, and nothing here can panic: what words a panic has is most of a small module.
const MODELS: usize = 1 << 14;
const _: () = assert!(LITERAL + (0x300 << 4) <= MODELS);

/// The range coder.
struct Bits<'a> {
    packed: &'a [u8],
    at: usize,
    range: u32,
    code: u32,
    /// The chance of a zero after each context, in parts of 2^11.
    models: [u16; MODELS],
}

impl Bits<'_> {
    fn next(&mut self) {
        if self.range < 1 << 24 {
            self.range <<= 8;
            // Zeros behind the end, until that is looked for.
            self.code = self.code << 8 | u32::from(self.packed.get(self.at).copied().unwrap_or(0));
            self.at += 1;
        }
    }

    /// A bit by its model, which learns.
    #[inline(never)]
    fn bit(&mut self, model: usize) -> usize {
        let own = &mut self.models[model % MODELS];
        let zero = *own;
        let bound = (self.range >> 11) * u32::from(zero);
        let one = self.code >= bound;
        if one {
            self.range -= bound;
            self.code -= bound;
            *own = zero - (zero >> 5);
        } else {
            self.range = bound;
            *own = zero + ((2048 - zero) >> 5);
        }
        self.next();
        one.into()
    }

    /// So many bits, the highest first, each by a model of those before it.
    fn tree(&mut self, from: usize, bits: u32) -> usize {
        let mut value = 1;
        for _ in 0..bits {
            value = value << 1 | self.bit(from + value);
        }
        value - (1 << bits)
    }

    /// The same, the lowest first.
    fn turned(&mut self, from: usize, bits: u32) -> usize {
        let (mut value, mut before) = (0, 1);
        for place in 0..bits {
            let one = self.bit(from + before);
            before = before << 1 | one;
            value |= one << place;
        }
        value
    }

    /// So many bits, each as often one as zero.
    fn even(&mut self, bits: u32) -> usize {
        let mut value = 0;
        for _ in 0..bits {
            self.range >>= 1;
            let one = self.code >= self.range;
            if one {
                self.code -= self.range;
            }
            value = value << 1 | usize::from(one);
            self.next();
        }
        value
    }

    /// A length, less 2.
    fn length(&mut self, from: usize, place: usize) -> usize {
        if self.bit(from) == 0 {
            self.tree(from + 2 + place * 8, 3)
        } else if self.bit(from + 1) == 0 {
            8 + self.tree(from + 130 + place * 8, 3)
        } else {
            16 + self.tree(from + 258, 8)
        }
    }
}

/// Writes the bytes of a file with LZMA's header, which tells how many they are, to the begin of `out`: returns how many.
///
/// # Errors
/// If there is no room for them, or the file is damaged so that this shows: there is no sum over the bytes.
pub fn unpack(packed: &[u8], out: &mut [u8]) -> Result<usize, Damaged> {
    let (header, rest) = packed.split_first_chunk::<13>().ok_or(Damaged)?;
    let [properties, _, _, _, _, size @ ..] = *header;
    let size = usize::try_from(u64::from_le_bytes(size)).map_err(|_| Damaged)?;
    let out = out.get_mut(..size).ok_or(Damaged)?;
    let properties = u32::from(properties);
    let (literal_context, literal_place, places) = (properties % 9, properties / 9 % 5, properties / 45);
    // The first byte is always zero.
    let code = u32::from_be_bytes(*rest.get(1..).and_then(<[u8]>::first_chunk).ok_or(Damaged)?);
    if places > 4 || literal_context + literal_place > 4 {
        return Err(Damaged);
    }
    let mut bits = Bits { packed: rest, at: 5, range: !0, code, models: [1 << 10; MODELS] };

    let (mut done, mut state) = (0, 0);
    // Zero before the first byte, which damaged files may ask for.
    let before = |out: &[u8], at: usize, distance: usize| {
        at.checked_sub(distance + 1).and_then(|at| out.get(at)).copied().unwrap_or(0)
    };
    // The last distances, less 1: the latest first.
    let mut last = [0; 4];
    while done < size {
        if bits.at > rest.len() {
            return Err(Damaged);
        }
        let place = done & ((1 << places) - 1);
        if bits.bit(MATCH + state * 16 + place) == 0 {
            let context = (done & ((1 << literal_place) - 1)) << literal_context;
            let from = LITERAL + 0x300 * (context + (usize::from(before(out, done, 0)) >> (8 - literal_context)));
            let mut symbol = 1;
            if state >= 7 {
                // After a match, by the byte that would have gone on with it, until they differ.
                let mut expected = usize::from(before(out, done, last[0])) << 1;
                while symbol < 256 {
                    let one = expected >> 8 & 1;
                    expected <<= 1;
                    symbol = symbol << 1 | bits.bit(from + ((1 + one) << 8) + symbol);
                    if symbol & 1 != one {
                        break;
                    }
                }
            }
            while symbol < 256 {
                symbol = symbol << 1 | bits.bit(from + symbol);
            }
            if let Some(out) = out.get_mut(done) {
                *out = symbol as u8;
            }
            done += 1;
            state = match state {
                0..4 => 0,
                4..10 => state - 3,
                _ => state - 6,
            };
            continue;
        }
        let mut len = 0;
        if bits.bit(REP + state) == 1 {
            if bits.bit(REP_OLDER + state) == 0 {
                if bits.bit(REP_LONG + state * 16 + place) == 0 {
                    // One byte.
                    len = 1;
                    state = if state < 7 { 9 } else { 11 };
                }
            } else if bits.bit(REP_OLDER_1 + state) == 0 {
                last.swap(0, 1);
            } else {
                if bits.bit(REP_OLDER_2 + state) == 1 {
                    last.swap(2, 3);
                }
                last.swap(1, 2);
                last.swap(0, 1);
            }
            if len == 0 {
                len = 2 + bits.length(REP_LENGTH, place);
                state = if state < 7 { 8 } else { 11 };
            }
        } else {
            len = 2 + bits.length(LENGTH, place);
            state = if state < 7 { 7 } else { 10 };
            let slot = bits.tree(SLOT + 64 * (len - 2).min(3), 6);
            let more = (slot as u32 / 2).wrapping_sub(1);
            let distance = match slot {
                0..4 => slot,
                4..14 => {
                    let first = (2 | slot & 1) << more;
                    first + bits.turned(DISTANCE + first - slot, more)
                }
                _ => {
                    let high = bits.even(more - 4) << 4;
                    ((2 | slot & 1) << more) + high + bits.turned(ALIGN, 4)
                }
            };
            last = [distance, last[0], last[1], last[2]];
        }
        if last[0] >= done || len > size - done {
            return Err(Damaged);
        }
        for at in done..done + len {
            // What is copied may be what was just written.
            let byte = before(out, at, last[0]);
            if let Some(out) = out.get_mut(at) {
                *out = byte;
            }
        }
        done += len;
    }
    if bits.at > rest.len() { Err(Damaged) } else { Ok(size) }
}

/// What the other side calls.
#[cfg(target_family = "wasm")]
mod abi {
    use core::{cell::UnsafeCell, panic::PanicInfo};

    /// The most bytes of a packed module, and of one unpacked.
    const PACKED: usize = 1 << 18;
    const MODULE: usize = 1 << 20;

    #[repr(C)]
    struct Buffer {
        packed: UnsafeCell<[u8; PACKED]>,
        module: UnsafeCell<[u8; MODULE]>,
    }

    // SAFETY: there is one thread.
    unsafe impl Sync for Buffer {}

    static BUFFER: Buffer = Buffer { packed: UnsafeCell::new([0; PACKED]), module: UnsafeCell::new([0; MODULE]) };

    /// The bytes of room for the packed module; it comes out behind them.
    #[unsafe(no_mangle)]
    extern "C" fn room() -> usize {
        PACKED
    }

    /// Where the packed module goes.
    #[unsafe(no_mangle)]
    extern "C" fn packed() -> *mut u8 {
        BUFFER.packed.get().cast()
    }

    /// Unpacks the first `len` bytes: returns how many come out, or 0 if they are damaged.
    #[unsafe(no_mangle)]
    extern "C" fn unpack(len: usize) -> usize {
        // SAFETY: one thread, and this is the only function that has them.
        let (packed, module) = unsafe { (&*BUFFER.packed.get(), &mut *BUFFER.module.get()) };
        packed.get(..len).map_or(0, |packed| super::unpack(packed, module).unwrap_or(0))
    }

    #[panic_handler]
    fn trap(_: &PanicInfo<'_>) -> ! {
        core::arch::wasm32::unreachable()
    }
}
