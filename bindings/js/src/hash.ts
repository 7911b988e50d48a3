import { type Algorithm, algorithm, type HashName } from "./algorithms.js";
import { type Bytes, bytesOf, type OwnBytes } from "./bytes.js";
import { type Engine, INPUT, release, running, SHORT } from "./engine.js";
import { MksumError } from "./errors.js";

/** A digest, in a new array with its own buffer. */
export type Digest = OwnBytes;

/**
 * Returns the digest of bytes.
 *
 * @throws {MksumError} `argument` if there is no such hash or `data` is not bytes; `detached` if its buffer is detached.
 */
export function digest(name: HashName, data: Bytes): Digest {
    const { number, size } = algorithm(name);
    return digestBy(number, size, data);
}

/** Returns the digest of bytes by the hash with this number. Bytes that fit the buffer take one call into the engine. */
export function digestBy(number: number, size: number, data: Bytes): Digest {
    const bytes = bytesOf(data);
    const engine = running();
    const { exports } = engine;
    let state = -1;
    try {
        if (bytes.length <= INPUT) {
            engine.input.set(bytes);
            exports.digest(number, bytes.length);
            wipe(engine, bytes.length);
        } else {
            state = exports.begin(number);
            append(engine, state, bytes);
            exports.finish(state);
        }
    } catch (cause) {
        if (state >= 0) release(({ forget }) => forget(state));
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
    wipe(engine, bytes.length);
}

/** Erases the input of calls over `len` bytes: it may be a secret. The engine itself erases a short one. */
function wipe(engine: Engine, len: number): void {
    if (len > SHORT) engine.views().input.fill(0, 0, Math.min(len, INPUT));
}

/**
 * Hashes a message slice by slice. All hashers share one memory, in which each takes a few hundred bytes.
 *
 * A hasher ends with {@link Hasher.digest} or {@link Hasher.free}, or when it is garbage-collected, once another one was created.
 */
export class Hasher {
    /** The name of the hash. */
    readonly name: HashName;
    /** The digest size, in bytes. */
    readonly size: number;
    /** The block size, in bytes. */
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
        hold(this, state);
    }

    /**
     * Appends bytes.
     *
     * @throws {MksumError} `finished` after the end; `argument` or `detached` if `data` is not bytes.
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
     * Returns the digest of all bytes, and ends the hasher.
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
     * Returns an independent copy of this hasher.
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

    /** Ends the hasher without a digest. Does nothing after the end. */
    free(): void {
        if (this.state < 0) return;
        const state = this.end();
        release(({ forget }) => forget(state));
    }

    private alive(): number {
        if (this.state < 0) throw new MksumError("finished", `this ${this.name} hasher has ended: create another one`);
        return this.state;
    }

    private end(): number {
        const state = this.alive();
        this.state = -1;
        if (youngest === this) youngest = undefined;
        else finalizer().unregister(this);
        return state;
    }
}

/**
 * The hasher that was created last. It is registered when the next one is created: most have ended by then, and to register takes
 * longer than to hash a short message.
 */
let youngest: Hasher | undefined;
let youngestState = -1;

/** Takes a new hasher for the youngest. */
function hold(hasher: Hasher, state: number): void {
    if (youngest) finalizer().register(youngest, youngestState, youngest);
    youngest = hasher;
    youngestState = state;
}

/** Frees the states of hashers that are collected before their end. */
let registry: FinalizationRegistry<number> | undefined;

function finalizer(): FinalizationRegistry<number> {
    return (registry ??= new FinalizationRegistry((state) => release(({ forget }) => forget(state))));
}

/**
 * Creates a hasher.
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
 * Creates a hasher for HMAC (RFC 2104), with any hash and a key of any length.
 *
 * @throws {MksumError} `argument` if there is no such hash or the key is not bytes; `detached` if its buffer is detached.
 */
export function createHmac(name: HashName, key: Bytes): Hasher {
    const found = algorithm(name);
    let bytes = bytesOf(key);
    // RFC 2104 hashes keys longer than a block, so a key may be longer than the buffer.
    if (bytes.length > found.block) bytes = digestBy(found.number, found.size, bytes);
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
 * Returns HMAC of bytes (RFC 2104), with any hash and a key of any length.
 *
 * @throws {MksumError} As {@link createHmac}.
 */
export function hmac(name: HashName, key: Bytes, data: Bytes): Digest {
    return createHmac(name, key).update(data).digest();
}

/** Returns the function `digest(name, data)` of one hash. */
function by(name: HashName): (data: Bytes) => Digest {
    // Looked up at the first call, because a family's entry has only its own hashes.
    let found: Algorithm | undefined;
    return (data) => {
        const { number, size } = (found ??= algorithm(name));
        return digestBy(number, size, data);
    };
}

/** One function for each hash. */
export const md5 = /* @__PURE__ */ by("md5");
export const sha1 = /* @__PURE__ */ by("sha1");
export const sha224 = /* @__PURE__ */ by("sha224");
export const sha256 = /* @__PURE__ */ by("sha256");
export const sha384 = /* @__PURE__ */ by("sha384");
export const sha512 = /* @__PURE__ */ by("sha512");
export const sha512_224 = /* @__PURE__ */ by("sha512-224");
export const sha512_256 = /* @__PURE__ */ by("sha512-256");
export const blake2s = /* @__PURE__ */ by("blake2s");
export const blake2b = /* @__PURE__ */ by("blake2b");
export const blake3 = /* @__PURE__ */ by("blake3");
export const sha3_224 = /* @__PURE__ */ by("sha3-224");
export const sha3_256 = /* @__PURE__ */ by("sha3-256");
export const sha3_384 = /* @__PURE__ */ by("sha3-384");
export const sha3_512 = /* @__PURE__ */ by("sha3-512");
export const keccak256 = /* @__PURE__ */ by("keccak256");
export const ripemd160 = /* @__PURE__ */ by("ripemd160");
