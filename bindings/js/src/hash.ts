import { type Algorithm, algorithm, type HashName } from "./algorithms.js";
import { type Bytes, bytesOf } from "./bytes.js";
import { type Engine, INPUT, running } from "./engine.js";
import { MksumError } from "./errors.js";

/** A digest: a fresh array of its own. */
export type Digest = Uint8Array<ArrayBuffer>;

/**
 * The digest of bytes.
 *
 * @throws {MksumError} `argument` if there is no such hash or these are no bytes; `detached` if they are gone.
 */
export function digest(name: HashName, data: Bytes): Digest {
    const { number, size } = algorithm(name);
    return whole(number, size, data);
}

/** The digest of bytes by the hash with this number: one call across the boundary where they fit the buffer. */
export function whole(number: number, size: number, data: Bytes): Digest {
    const bytes = bytesOf(data);
    const engine = running();
    const { exports } = engine;
    try {
        if (bytes.length <= INPUT) {
            engine.input.set(bytes);
            exports.digest(number, bytes.length);
        } else {
            const state = exports.begin(number);
            append(engine, state, bytes);
            exports.finish(state);
        }
    } catch (cause) {
        return engine.fail(cause);
    }
    return engine.views().output.slice(0, size);
}

/** Appends bytes to a state, a buffer at a time. */
function append(engine: Engine, state: number, bytes: Uint8Array): void {
    const { exports } = engine;
    for (let at = 0; at < bytes.length; at += INPUT) {
        const slice = bytes.length <= INPUT ? bytes : bytes.subarray(at, at + INPUT);
        engine.views().input.set(slice);
        exports.append(state, slice.length);
    }
}

/**
 * A message that comes slice by slice. Its state lies in the one memory that all share, and is light: a few hundred bytes.
 *
 * It ends with {@link Hasher.digest}; one that is not wanted any more ends with {@link Hasher.free}, or when it is
 * collected.
 */
export class Hasher {
    /** The hash. */
    readonly name: HashName;
    /** The digest's size, in bytes. */
    readonly size: number;
    /** The block's size, in bytes. */
    readonly blockSize: number;
    private readonly algorithm: Algorithm;
    private state: number;

    /** Use {@link create}. */
    constructor(algorithm: Algorithm, state: number) {
        this.algorithm = algorithm;
        this.name = algorithm.name;
        this.size = algorithm.size;
        this.blockSize = algorithm.block;
        this.state = state;
        forgotten().register(this, state, this);
    }

    /**
     * Appends bytes.
     *
     * @throws {MksumError} `finished` after the end; `argument` or `detached` if these are no bytes.
     */
    update(data: Bytes): this {
        const bytes = bytesOf(data);
        const state = this.alive();
        const engine = running();
        try {
            append(engine, state, bytes);
        } catch (cause) {
            engine.fail(cause);
        }
        return this;
    }

    /**
     * The digest of all that came, and the end.
     *
     * @throws {MksumError} `finished` after the end.
     */
    digest(): Digest {
        const state = this.end();
        const engine = running();
        try {
            engine.exports.finish(state);
        } catch (cause) {
            engine.fail(cause);
        }
        return engine.views().output.slice(0, this.size);
    }

    /**
     * Another hasher that goes on from here by itself.
     *
     * @throws {MksumError} `finished` after the end.
     */
    copy(): Hasher {
        const state = this.alive();
        const engine = running();
        try {
            return new Hasher(this.algorithm, engine.exports.copy(state));
        } catch (cause) {
            return engine.fail(cause);
        }
    }

    /** The end, without a digest. Does nothing after the end. */
    free(): void {
        if (this.state >= 0) running().exports.forget(this.end());
    }

    private alive(): number {
        if (this.state < 0) throw new MksumError("finished", `this ${this.name} hasher has ended: create another one`);
        return this.state;
    }

    private end(): number {
        const state = this.alive();
        this.state = -1;
        forgotten().unregister(this);
        return state;
    }
}

/** Frees the states of hashers that nobody ended. */
let registry: FinalizationRegistry<number> | undefined;

function forgotten(): FinalizationRegistry<number> {
    return (registry ??= new FinalizationRegistry((state) => running().exports.forget(state)));
}

/**
 * A hasher before the first byte.
 *
 * @throws {MksumError} `argument` if there is no such hash.
 */
export function create(name: HashName): Hasher {
    const found = algorithm(name);
    const engine = running();
    try {
        return new Hasher(found, engine.exports.begin(found.number));
    } catch (cause) {
        return engine.fail(cause);
    }
}

/**
 * HMAC of a message that comes slice by slice (RFC 2104), with any hash and a key of any length.
 *
 * @throws {MksumError} `argument` if there is no such hash or the key is no bytes; `detached` if the key is gone.
 */
export function createHmac(name: HashName, key: Bytes): Hasher {
    const found = algorithm(name);
    let bytes = bytesOf(key);
    // A longer key is hashed anyhow: so it may be longer than the buffer.
    if (bytes.length > found.block) bytes = whole(found.number, found.size, bytes);
    const engine = running();
    try {
        engine.input.set(bytes);
        const state = engine.exports.keyed(found.number, bytes.length);
        engine.views().input.fill(0, 0, bytes.length);
        return new Hasher(found, state);
    } catch (cause) {
        return engine.fail(cause);
    }
}

/**
 * HMAC of bytes (RFC 2104), with any hash and a key of any length.
 *
 * @throws {MksumError} As {@link createHmac}.
 */
export function hmac(name: HashName, key: Bytes, data: Bytes): Digest {
    return createHmac(name, key).update(data).digest();
}

/** Each hash by its own name: `digest(name, data)`. */
export const md5 = (data: Bytes): Digest => whole(0, 16, data);
export const sha1 = (data: Bytes): Digest => whole(1, 20, data);
export const sha224 = (data: Bytes): Digest => whole(2, 28, data);
export const sha256 = (data: Bytes): Digest => whole(3, 32, data);
export const sha384 = (data: Bytes): Digest => whole(4, 48, data);
export const sha512 = (data: Bytes): Digest => whole(5, 64, data);
export const sha512_224 = (data: Bytes): Digest => whole(6, 28, data);
export const sha512_256 = (data: Bytes): Digest => whole(7, 32, data);
export const blake2s = (data: Bytes): Digest => whole(8, 32, data);
export const blake2b = (data: Bytes): Digest => whole(9, 64, data);
export const blake3 = (data: Bytes): Digest => whole(10, 32, data);
export const sha3_224 = (data: Bytes): Digest => whole(11, 28, data);
export const sha3_256 = (data: Bytes): Digest => whole(12, 32, data);
export const sha3_384 = (data: Bytes): Digest => whole(13, 48, data);
export const sha3_512 = (data: Bytes): Digest => whole(14, 64, data);
export const keccak256 = (data: Bytes): Digest => whole(15, 32, data);
export const ripemd160 = (data: Bytes): Digest => whole(16, 20, data);
