import { algorithm, type Algorithm, type HashName } from "./algorithms.js";
import { type Bytes, bytesOf, integer, type OwnBytes, unexpected } from "./bytes.js";
import { INPUT, running } from "./engine.js";
import { MksumError } from "./errors.js";
import { createHmac, type Digest, digest, hmac } from "./hash.js";
import { checked, type Options } from "./input.js";
import { pause } from "./pause.js";

/** The lengths in a record of `wasm/src/derive.rs` (key, last value, sum), in bytes. */
const [KEY, VALUE] = [144, 64];
const RECORD = KEY + 2 * VALUE;
/** The number of records in one call. */
const RECORDS = Math.floor(INPUT / RECORD);

/** The number of iterations before the first check of a signal. */
const STRIDE = 1 << 12;
/** The time between two checks of a signal, about, in milliseconds. */
const TURN = 10;

/** A password with its salt. */
export interface Secret {
    readonly password: Bytes;
    readonly salt: Bytes;
}

/**
 * Derives a key of `length` bytes from a password (PBKDF2: RFC 8018, 5.2, with HMAC of any hash).
 *
 * The blocks of a long key are computed in parallel: a key of up to four digests of sha256 takes no longer than one digest.
 *
 * @throws {MksumError} `argument` or `length` if an argument is invalid; `detached` if a buffer is detached.
 */
export function pbkdf2(name: HashName, password: Bytes, salt: Bytes, iterations: number, length: number): Digest {
    return pbkdf2Many(name, [{ password, salt }], iterations, length)[0]!;
}

/**
 * Derives the keys of several passwords in parallel.
 *
 * @throws {MksumError} As {@link pbkdf2}.
 */
export function pbkdf2Many(name: HashName, secrets: readonly Secret[], iterations: number, length: number): Digest[] {
    const derivation = new Derivation(name, secrets, iterations, length);
    derivation.iterate(iterations - 1);
    return derivation.keys();
}

/**
 * Derives the same key as {@link pbkdf2} a few milliseconds at a time, so that a page stays responsive. `progress` counts
 * iterations.
 *
 * @throws {MksumError} As {@link pbkdf2}; the signal's reason.
 */
export async function pbkdf2Of(
    name: HashName,
    secret: Secret,
    iterations: number,
    length: number,
    options: Options = {},
): Promise<Digest> {
    const { signal, progress } = checked(options);
    const derivation = new Derivation(name, [secret], iterations, length);
    let stride = STRIDE;
    for (let done = 1; done < iterations; ) {
        signal?.throwIfAborted();
        const times = Math.min(stride, iterations - done);
        const begin = performance.now();
        derivation.iterate(times);
        const took = performance.now() - begin;
        if (took < TURN / 2) stride *= 2;
        else if (took > 2 * TURN) stride = Math.max(1, stride >> 1);
        done += times;
        progress?.(done, iterations);
        await pause();
    }
    signal?.throwIfAborted();
    return derivation.keys()[0]!;
}

/** The state of PBKDF2: a record for each block of each key. */
class Derivation {
    private readonly algorithm: Algorithm;
    private readonly records: OwnBytes;
    private readonly blocks: number;

    constructor(name: HashName, secrets: readonly Secret[], iterations: number, private readonly length: number) {
        this.algorithm = algorithm(name);
        const { size, block } = this.algorithm;
        integer(iterations, "iterations", 1, 2 ** 32);
        if (!Array.isArray(secrets)) throw unexpected("expected an array", secrets);
        // RFC 8018, 5.2, allows 2^32 - 1 digests; this limit fits into memory.
        this.blocks = Math.ceil(integer(length, "length", 1, 1 << 26) / size);
        try {
            this.records = new Uint8Array(RECORD * this.blocks * secrets.length);
        } catch (cause) {
            throw new MksumError("length", `${secrets.length} keys of ${length} bytes do not fit into memory`, { cause });
        }
        for (const [index, secret] of secrets.entries()) {
            if (typeof secret !== "object" || secret === null) {
                throw unexpected("expected a password with its salt", secret);
            }
            const { password, salt } = secret;
            let key = bytesOf(password);
            if (key.length > block) key = digest(name, key);
            const keyed = createHmac(name, key).update(bytesOf(salt));
            for (let at = 0; at < this.blocks; at++) {
                const number = new Uint8Array(4);
                new DataView(number.buffer).setUint32(0, at + 1);
                const first = keyed.copy().update(number).digest();
                const record = RECORD * (index * this.blocks + at);
                this.records.set(key, record);
                this.records.set(first, record + KEY);
                this.records.set(first, record + KEY + VALUE);
            }
            keyed.free();
        }
    }

    iterate(times: number): void {
        if (times === 0) return;
        const engine = running();
        for (let at = 0; at < this.records.length; at += RECORDS * RECORD) {
            const records = this.records.subarray(at, at + RECORDS * RECORD);
            const { input } = engine.views();
            input.set(records);
            try {
                engine.exports.iterate(this.algorithm.number, records.length / RECORD, times);
            } catch (cause) {
                return engine.fail(cause);
            }
            const own = engine.views().input;
            records.set(own.subarray(0, records.length));
            own.fill(0, 0, records.length);
        }
    }

    /** Returns the keys, and erases the records. */
    keys(): Digest[] {
        const { size } = this.algorithm;
        const keys: Digest[] = [];
        for (let from = 0; from < this.records.length; from += RECORD * this.blocks) {
            const key = new Uint8Array(this.length);
            for (let at = 0; at < this.blocks; at++) {
                const sum = from + at * RECORD + KEY + VALUE;
                key.set(this.records.subarray(sum, sum + Math.min(size, this.length - at * size)), at * size);
            }
            keys.push(key);
        }
        this.records.fill(0);
        return keys;
    }
}

/**
 * Derives a key of `length` bytes, at most 255 digests, from input with enough entropy (HKDF: RFC 5869).
 *
 * @throws {MksumError} `argument` or `length` if an argument is invalid; `detached` if a buffer is detached.
 */
export function hkdf(name: HashName, input: Bytes, salt: Bytes, info: Bytes, length: number): Digest {
    return hkdfExpand(name, hkdfExtract(name, input, salt), info, length);
}

/** Extracts a pseudorandom key, the first step of HKDF (RFC 5869, 2.2). */
export function hkdfExtract(name: HashName, input: Bytes, salt: Bytes): Digest {
    return hmac(name, salt, bytesOf(input));
}

/** Expands a pseudorandom key, the second step of HKDF (RFC 5869, 2.3). */
export function hkdfExpand(name: HashName, key: Bytes, info: Bytes, length: number): Digest {
    const { size } = algorithm(name);
    const out = new Uint8Array(integer(length, "length", 0, 255 * size));
    const context = bytesOf(info);
    let block: Uint8Array = new Uint8Array(0);
    for (let at = 0; at * size < length; at++) {
        block = createHmac(name, key).update(block).update(context).update(Uint8Array.of(at + 1)).digest();
        out.set(block.subarray(0, Math.min(size, length - at * size)), at * size);
    }
    return out;
}
