/// <reference lib="esnext.disposable" preserve="true" />
import { type Algorithm, algorithm, type HashName } from "./algorithms.js";
import { type Bytes, bytesOf, type Data, dataOf, type OwnBytes } from "./bytes.js";
import { append, type Digest, digestBy } from "./digest-by.js";
import { INPUT, OUTPUT, release, running, SHORT } from "./engine.js";
import { MksumError } from "./errors.js";
import { inHex } from "./hex.js";

export type { Digest } from "./digest-by.js";

/**
 * Returns the digest of bytes, or of text as UTF-8.
 *
 * @throws {MksumError} `argument` if there is no such hash, or `data` is neither bytes nor text, or has half of a surrogate pair; `detached` if its buffer is detached.
 */
export function digest(name: HashName, data: Data): Digest {
    const { number, size } = algorithm(name);
    return digestBy(dataOf(data), running(), number, size);
}

/** The state of a hasher that has none in the engine yet: its bytes, if there are any, are on the stage. */
const STAGED = -1;
const ENDED = -2;

/**
 * The hasher that got its first bytes last. A short message waits on the stage for its end, where one call computes the digest. It is
 * registered when the next one gets bytes: most have ended by then, and to register takes longer than to hash a short message.
 */
let youngest: Hasher | undefined;
/** The number of bytes on the stage: all that the youngest has, if its state is `STAGED`. */
let staged = 0;

/** The first bytes of every saved state: "mks" and the version. The number of the hash and 1 for HMAC or 0 follow. */
const TAG = [0x6d, 0x6b, 0x73, 1];

/**
 * Hashes a message slice by slice. All hashers share one memory, in which each takes a few hundred bytes.
 *
 * A hasher ends with {@link Hasher.digest} or {@link Hasher.free}, or when it is garbage-collected, once another one was used.
 */
export class Hasher {
    /** The name of the hash. */
    readonly name: HashName;
    /** The digest size, in bytes. */
    readonly size: number;
    /** The block size, in bytes. */
    readonly blockSize: number;
    private readonly algorithm: Algorithm;
    private readonly isHmac: boolean;
    private state: number;

    /** Use {@link create}. */
    constructor(algorithm: Algorithm, state = STAGED, isHmac = false) {
        this.algorithm = algorithm;
        this.name = algorithm.name;
        this.size = algorithm.size;
        this.blockSize = algorithm.block;
        this.isHmac = isHmac;
        this.state = state;
        if (state >= 0) this.hold();
    }

    /**
     * Appends bytes, or text as UTF-8.
     *
     * @throws {MksumError} `finished` after the end; `argument` if `data` is neither, or half of a surrogate pair; `detached` if its buffer is.
     */
    update(data: Data): this {
        const bytes = dataOf(data);
        const engine = running();
        if (this.alive() === STAGED) {
            if (youngest !== this) this.hold();
            if (staged + bytes.length <= SHORT) {
                engine.views().stage.set(bytes, staged);
                staged += bytes.length;
                return this;
            }
        }
        const state = this.begun();
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
        const len = youngest === this ? staged : 0;
        const state = this.end();
        const engine = running();
        try {
            if (state === STAGED) engine.exports.digest(this.algorithm.number, INPUT, len);
            else engine.exports.finish(state);
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
        const state = this.begun();
        const engine = running();
        try {
            return new Hasher(this.algorithm, engine.exports.copy(state), this.isHmac);
        } catch (cause) {
            return engine.fail(cause);
        }
    }

    /**
     * Returns the state as bytes, at most 3 KB, from which {@link Hasher.load} continues: later, in another process, with or without
     * SIMD. The hasher goes on.
     *
     * The state contains the last bytes of the message, and whoever has it can check guesses of the rest: keep it as secret as the
     * message. It is the same on every machine. Its fourth byte is the version, 1: later releases load it as long as they write that
     * version.
     *
     * @throws {MksumError} `finished` after the end.
     */
    save(): OwnBytes {
        const state = this.begun();
        const engine = running();
        const header = this.header();
        let len = 0;
        try {
            engine.input.set(header);
            len = engine.exports.save(state, header.length);
        } catch (cause) {
            engine.fail(cause);
        }
        const { output } = engine.views();
        const saved = output.slice(0, len);
        output.fill(0, 0, len);
        return saved;
    }

    /**
     * Continues the message whose state {@link Hasher.save} returned, in the place of this hasher's own. A state of HMAC needs a hasher
     * with the same key, which the state does not contain.
     *
     * Bytes that were changed by accident are refused. A state of a plain hash that an attacker made is not: it gives another digest.
     *
     * @throws {MksumError} `state` if it is the state of another hash, version or key, or damaged; this hasher then goes on as before.
     * `finished` after the end; `argument` or `detached` if `saved` is not bytes.
     */
    load(saved: Bytes): this {
        const bytes = bytesOf(saved);
        const state = this.begun();
        const engine = running();
        const header = this.header();
        const other = bytes.length < header.length ? -1 : header.findIndex((byte, at) => byte !== bytes[at]);
        if (other < 0 && bytes.length <= OUTPUT) {
            try {
                engine.input.set(bytes);
                const loaded = engine.exports.load(state, header.length, bytes.length);
                engine.views().input.fill(0, 0, bytes.length);
                if (loaded) return this;
            } catch (cause) {
                engine.fail(cause);
            }
        }
        const found = [
            `truncated or damaged bytes${this.isHmac ? ", or another key" : ""}`,
            "other bytes",
            `version ${bytes[3]}`,
            "the state of another hash",
            `one ${this.isHmac ? "without a key" : "of HMAC"}`,
        ][other < 0 ? 0 : Math.max(1, other - 1)];
        const expected = `${this.isHmac ? "HMAC with " : ""}${this.name}, version 1`;
        throw new MksumError("state", `expected a saved state of ${expected}, found ${found}`);
    }

    /** Ends the hasher without a digest. Does nothing after the end. */
    free(): void {
        if (this.state === ENDED) return;
        const len = youngest === this ? staged : 0;
        const state = this.end();
        release(({ forget }, { stage }) => (state === STAGED ? stage.fill(0, 0, len) : forget(state)));
    }

    /** As {@link free}, at the end of the block of a `using` declaration. */
    [Symbol.dispose](): void {
        this.free();
    }

    private header(): number[] {
        return [...TAG, this.algorithm.number, Number(this.isHmac)];
    }

    private alive(): number {
        if (this.state === ENDED) throw new MksumError("finished", `this ${this.name} hasher has ended: create another one`);
        return this.state;
    }

    /** Returns the number of the state in the engine, where it begins with what is on the stage. */
    private begun(): number {
        if (this.alive() === STAGED) {
            const engine = running();
            if (youngest !== this) this.hold();
            try {
                const state = engine.exports.begin(this.algorithm.number);
                engine.exports.append(state, INPUT, staged);
                this.state = state;
            } catch (cause) {
                engine.fail(cause);
            }
        }
        return this.state;
    }

    /** Takes this for the youngest. The one before goes on in the engine. */
    private hold(): void {
        if (youngest) finalizer().register(youngest, youngest.begun(), youngest);
        give(this);
    }

    private end(): number {
        const state = this.alive();
        this.state = ENDED;
        if (youngest === this) youngest = undefined;
        else if (state >= 0) finalizer().unregister(this);
        return state;
    }
}

/** Gives the stage to a hasher. */
function give(hasher: Hasher): void {
    youngest = hasher;
    staged = 0;
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
    running();
    return new Hasher(found);
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
    if (bytes.length > found.block) bytes = digestBy(bytes, running(), found.number, found.size);
    const engine = running();
    try {
        engine.input.set(bytes);
        const state = engine.exports.keyed(found.number, bytes.length);
        engine.views().input.fill(0, 0, bytes.length);
        return new Hasher(found, state, true);
    } catch (cause) {
        return engine.fail(cause);
    }
}

/**
 * Returns HMAC of bytes (RFC 2104), with any hash and a key of any length.
 *
 * @throws {MksumError} As {@link createHmac}.
 */
export function hmac(name: HashName, key: Bytes, data: Data): Digest {
    return createHmac(name, key).update(data).digest();
}

/** Returns the function `digest(name, data)` of one hash. */
function by(name: HashName): (data: Data) => Digest {
    // Looked up at the first call, because a family's entry has only its own hashes.
    let found: Algorithm | undefined;
    return (data) => {
        const { number, size } = (found ??= algorithm(name));
        return digestBy(dataOf(data), running(), number, size);
    };
}

/** One function for each hash, and one that returns hex. */
export const md5 = /* @__PURE__ */ by("md5");
export const md5hex = /* @__PURE__ */ inHex(md5);
export const sha1 = /* @__PURE__ */ by("sha1");
export const sha1hex = /* @__PURE__ */ inHex(sha1);
export const sha224 = /* @__PURE__ */ by("sha224");
export const sha224hex = /* @__PURE__ */ inHex(sha224);
export const sha256 = /* @__PURE__ */ by("sha256");
export const sha256hex = /* @__PURE__ */ inHex(sha256);
export const sha384 = /* @__PURE__ */ by("sha384");
export const sha384hex = /* @__PURE__ */ inHex(sha384);
export const sha512 = /* @__PURE__ */ by("sha512");
export const sha512hex = /* @__PURE__ */ inHex(sha512);
export const sha512_224 = /* @__PURE__ */ by("sha512-224");
export const sha512_224hex = /* @__PURE__ */ inHex(sha512_224);
export const sha512_256 = /* @__PURE__ */ by("sha512-256");
export const sha512_256hex = /* @__PURE__ */ inHex(sha512_256);
export const blake2s = /* @__PURE__ */ by("blake2s");
export const blake2shex = /* @__PURE__ */ inHex(blake2s);
export const blake2b = /* @__PURE__ */ by("blake2b");
export const blake2bhex = /* @__PURE__ */ inHex(blake2b);
export const blake3 = /* @__PURE__ */ by("blake3");
export const blake3hex = /* @__PURE__ */ inHex(blake3);
export const sha3_224 = /* @__PURE__ */ by("sha3-224");
export const sha3_224hex = /* @__PURE__ */ inHex(sha3_224);
export const sha3_256 = /* @__PURE__ */ by("sha3-256");
export const sha3_256hex = /* @__PURE__ */ inHex(sha3_256);
export const sha3_384 = /* @__PURE__ */ by("sha3-384");
export const sha3_384hex = /* @__PURE__ */ inHex(sha3_384);
export const sha3_512 = /* @__PURE__ */ by("sha3-512");
export const sha3_512hex = /* @__PURE__ */ inHex(sha3_512);
export const keccak256 = /* @__PURE__ */ by("keccak256");
export const keccak256hex = /* @__PURE__ */ inHex(keccak256);
export const ripemd160 = /* @__PURE__ */ by("ripemd160");
export const ripemd160hex = /* @__PURE__ */ inHex(ripemd160);
