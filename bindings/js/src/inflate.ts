// DEFLATE (RFC 1951) at once, for the inlined module: DecompressionStream answers later, which is too late for a first call.
// Of our own, as it is a third of what bundlers leave of a library, and does nothing before it is called.

/** The longest code, in bits. */
const LONGEST = 15;

/** The order in which the lengths of the codes for lengths are told (3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** The symbols of a code (3.2.2) by the next bits, each with its length below: `symbol << 4 | length`; 0 where none is. */
function decoder(lengths: Uint8Array): Uint16Array {
    const table = new Uint16Array(1 << lengths.reduce((most, length) => Math.max(most, length), 1));
    let code = 0;
    for (let length = 1; 1 << length <= table.length; length++) {
        for (let symbol = 0; symbol < lengths.length; symbol++) {
            if (lengths[symbol] !== length) continue;
            // Codes come with their highest bit first, and all else with its lowest.
            let first = 0;
            for (let bit = 0; bit < length; bit++) first |= ((code >> bit) & 1) << (length - 1 - bit);
            for (let at = first; at < table.length; at += 1 << length) table[at] = (symbol << 4) | length;
            code++;
        }
        code <<= 1;
    }
    return table;
}

/** Bits from bytes, the lowest first. Zeros follow the end, where a last code may be shorter than what is looked at. */
class Bits {
    readonly bytes: Uint8Array;
    at = 0;
    private bits = 0;
    private held = 0;

    constructor(bytes: Uint8Array) {
        this.bytes = bytes;
    }

    /** The next `count` bits, at most 15. */
    take(count: number): number {
        const value = this.look(count) & ((1 << count) - 1);
        this.drop(count);
        return value;
    }

    /** The next symbol. */
    symbol(table: Uint16Array): number {
        const entry = table[this.look(LONGEST) & (table.length - 1)]!;
        if (entry === 0 || this.at > this.bytes.length + 4) throw new RangeError("damaged");
        this.drop(entry & 15);
        return entry >> 4;
    }

    /** A length or a distance, less the smallest: each next `1 << step` symbols have one more bit (3.2.5). */
    spread(symbol: number, step: number): number {
        const more = (symbol >> step) - 1;
        if (more <= 0) return symbol;
        return (((1 << step) + (symbol & ((1 << step) - 1))) << more) + this.take(more);
    }

    /** As many bytes as the two after the next whole byte tell, and again inverted (3.2.4). */
    stored(): Uint8Array {
        const [low = 0, high = 0] = this.bytes.subarray((this.at -= this.held >> 3));
        this.bits = this.held = 0;
        const begin = this.at + 4;
        this.at = begin + (low | (high << 8));
        if (this.at > this.bytes.length) throw new RangeError("damaged");
        return this.bytes.subarray(begin, this.at);
    }

    private look(count: number): number {
        if (this.held < count) {
            // Two bytes, or zeros behind the end.
            const low = this.bytes[this.at++]!;
            const high = this.bytes[this.at++]!;
            this.bits |= (low | (high << 8)) << this.held;
            this.held += 16;
        }
        return this.bits;
    }

    private drop(count: number): void {
        this.bits >>>= count;
        this.held -= count;
    }
}

/** The codes of a block for literals and lengths, and for distances: the fixed ones (3.2.6), or those that it tells. */
function codes(bits: Bits, fixed: boolean): [literals: Uint16Array, distances: Uint16Array] {
    if (fixed) {
        const lengths = Uint8Array.from({ length: 288 }, (_, at) => (at < 144 ? 8 : at < 256 ? 9 : at < 280 ? 7 : 8));
        return [decoder(lengths), decoder(new Uint8Array(30).fill(5))];
    }
    const [literals, distances, count] = [bits.take(5) + 257, bits.take(5) + 1, bits.take(4) + 4];
    const own = new Uint8Array(19);
    for (const place of ORDER.slice(0, count)) own[place] = bits.take(3);
    const [table, lengths] = [decoder(own), new Uint8Array(literals + distances)];
    for (let index = 0; index < lengths.length; ) {
        const next = bits.symbol(table);
        if (next < 16) {
            lengths[index++] = next;
        } else {
            const times = next === 16 ? 3 + bits.take(2) : next === 17 ? 3 + bits.take(3) : 11 + bits.take(7);
            lengths.fill(next === 16 ? lengths[index - 1]! : 0, index, (index += times));
        }
    }
    return [decoder(lengths.subarray(0, literals)), decoder(lengths.subarray(literals))];
}

/**
 * The `size` bytes that were packed.
 *
 * @throws {RangeError} If they are damaged so that they unpack to another number of bytes.
 */
export function inflate(packed: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
    const [bits, out] = [new Bits(packed), new Uint8Array(size)];
    let done = 0;
    for (let last = 0; last === 0; ) {
        last = bits.take(1);
        const kind = bits.take(2);
        if (kind === 0) {
            const stored = bits.stored();
            out.set(stored, done);
            done += stored.length;
            continue;
        }
        const [literals, distances] = codes(bits, kind === 1);
        for (let next; (next = bits.symbol(literals)) !== 256; ) {
            if (next < 256) {
                out[done++] = next;
                continue;
            }
            const end = done + (next === 285 ? 258 : 3 + bits.spread(next - 257, 2));
            const back = 1 + bits.spread(bits.symbol(distances), 1);
            // What is copied may be what was just written.
            for (; done < end; done++) out[done] = out[done - back]!;
        }
    }
    if (done !== size) throw new RangeError(`expected ${size} bytes, found ${done}`);
    return out;
}
