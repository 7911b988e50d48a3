//! A decompressor for LZMA (Igor Pavlov's "LZMA specification", 2015), for the modules inlined in `bindings/js`, which are a
//! fifth smaller than with DEFLATE. WebAssembly runs it at once at a speed that JavaScript reaches after tens of milliseconds.
//! Libraries would add streams, checksums and an allocator.
#![cfg_attr(target_family = "wasm", no_std)]

/// The error of a file that is damaged or longer than the output of [`unpack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// The offsets of the models of each kind of bit: by state, by state and position, by length …
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
/// The number of models, with up to 4 bits of context for literals. It is rounded up to a power of two, so that masked
/// indices are in bounds and nothing can panic: panic messages would be most of this small module.
const MODELS: usize = 1 << 14;
const _: () = assert!(LITERAL + (0x300 << 4) <= MODELS);

/// The range decoder.
struct Bits<'a> {
    packed: &'a [u8],
    at: usize,
    range: u32,
    code: u32,
    /// The probability of a zero bit in each context, as a fraction of 2^11.
    models: [u16; MODELS],
}

impl Bits<'_> {
    fn next(&mut self) {
        if self.range < 1 << 24 {
            self.range <<= 8;
            // Zeros after the end; the caller checks for the end later.
            self.code = self.code << 8 | u32::from(self.packed.get(self.at).copied().unwrap_or(0));
            self.at += 1;
        }
    }

    /// Decodes a bit with its model, and adapts the model.
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

    /// Decodes `bits` bits, the highest first, with models that depend on the bits before.
    fn tree(&mut self, from: usize, bits: u32) -> usize {
        let mut value = 1;
        for _ in 0..bits {
            value = value << 1 | self.bit(from + value);
        }
        value - (1 << bits)
    }

    /// Decodes `bits` bits, the lowest first, with models that depend on the bits before.
    fn reverse_tree(&mut self, from: usize, bits: u32) -> usize {
        let (mut value, mut before) = (0, 1);
        for place in 0..bits {
            let one = self.bit(from + before);
            before = before << 1 | one;
            value |= one << place;
        }
        value
    }

    /// Decodes `bits` equiprobable bits.
    fn direct(&mut self, bits: u32) -> usize {
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

    /// Decodes a length minus 2.
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

/// Decompresses a file with LZMA's header to the start of `out`. Returns the number of bytes, which the header contains.
///
/// # Errors
/// If `out` is too short, or damage to the file is detected. Not all damage is, because there is no checksum.
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
    // Bytes before the first are zero; damaged files may refer to them.
    let before = |out: &[u8], at: usize, distance: usize| {
        at.checked_sub(distance + 1).and_then(|at| out.get(at)).copied().unwrap_or(0)
    };
    // The last distances minus 1, the latest first.
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
                // After a match, the context includes the byte that would continue it, until they differ.
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
                    // A single byte.
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
                    first + bits.reverse_tree(DISTANCE + first - slot, more)
                }
                _ => {
                    let high = bits.direct(more - 4) << 4;
                    ((2 | slot & 1) << more) + high + bits.reverse_tree(ALIGN, 4)
                }
            };
            last = [distance, last[0], last[1], last[2]];
        }
        if last[0] >= done || len > size - done {
            return Err(Damaged);
        }
        for at in done..done + len {
            // The source may overlap the bytes just written.
            let byte = before(out, at, last[0]);
            if let Some(out) = out.get_mut(at) {
                *out = byte;
            }
        }
        done += len;
    }
    if bits.at > rest.len() { Err(Damaged) } else { Ok(size) }
}

/// The functions that JavaScript calls.
#[cfg(target_family = "wasm")]
mod abi {
    use core::{cell::UnsafeCell, panic::PanicInfo};

    /// The size limits of a compressed and of a decompressed module, in bytes.
    const PACKED: usize = 1 << 18;
    const MODULE: usize = 1 << 20;

    #[repr(C)]
    struct Buffer {
        packed: UnsafeCell<[u8; PACKED]>,
        module: UnsafeCell<[u8; MODULE]>,
    }

    // SAFETY: there is only one thread.
    unsafe impl Sync for Buffer {}

    static BUFFER: Buffer = Buffer { packed: UnsafeCell::new([0; PACKED]), module: UnsafeCell::new([0; MODULE]) };

    /// Returns the length of the input buffer. The output follows it.
    #[unsafe(no_mangle)]
    extern "C" fn room() -> usize {
        PACKED
    }

    /// Returns the address of the input buffer.
    #[unsafe(no_mangle)]
    extern "C" fn packed() -> *mut u8 {
        BUFFER.packed.get().cast()
    }

    /// Decompresses the first `len` bytes. Returns the length of the output, or 0 if the input is damaged.
    #[unsafe(no_mangle)]
    extern "C" fn unpack(len: usize) -> usize {
        // SAFETY: there is one thread, and no other function creates references to these buffers.
        let (packed, module) = unsafe { (&*BUFFER.packed.get(), &mut *BUFFER.module.get()) };
        packed.get(..len).map_or(0, |packed| super::unpack(packed, module).unwrap_or(0))
    }

    #[panic_handler]
    fn trap(_: &PanicInfo<'_>) -> ! {
        core::arch::wasm32::unreachable()
    }
}
