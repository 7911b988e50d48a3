/// <reference lib="esnext.disposable" preserve="true" />
// The entry `mksum/extra`: keyed and extendable hashes, scrypt and Argon2, with a module of its own.
import { type Bytes, bytesOf, type Data, dataOf, checkOptions, integer, kind, type OwnBytes, unexpected } from "./bytes.js";
import { MksumError } from "./errors.js";
import { append, call, put, release, taken } from "./extra-engine.js";

export type { Bytes, Data } from "./bytes.js";
export { type ErrorCode, MksumError } from "./errors.js";
export { load } from "./extra-engine.js";
export { fromHex, toHex } from "./hex.js";

/** Bytes that were computed, in a new array with its own buffer. */
export type Digest = OwnBytes;

/** Options of BLAKE3. */
export interface Blake3Options {
    /** A key of 32 bytes: the keyed mode. */
    readonly key?: Bytes;
    /** The context of a derived key, a text that no other program uses: the mode `derive_key`, in which `data` is the key material. */
    readonly context?: string;
    /** The length of the digest, in bytes; 32 if it is left out. */
    readonly length?: number;
}

/** Options of BLAKE2b and BLAKE2s (RFC 7693; salt and personal string: the specification of BLAKE2, 2.8). */
export interface Blake2Options {
    /** A key, at most 64 bytes (BLAKE2b) or 32 (BLAKE2s). */
    readonly key?: Bytes;
    /** The length of the digest, in bytes: 1 to 64 (BLAKE2b), which is the default, or to 32 (BLAKE2s). Another length is another hash. */
    readonly length?: number;
    /** A salt, at most 16 bytes (BLAKE2b) or 8 (BLAKE2s); zero bytes follow a shorter one. */
    readonly salt?: Bytes;
    /** A personal string, as long as a salt. */
    readonly personal?: Bytes;
}

/** Options of SHAKE128 and SHAKE256. */
export interface ShakeOptions {
    /** The length of the digest, in bytes; 32 (SHAKE128) or 64 (SHAKE256) if it is left out. */
    readonly length?: number;
}

/** Options by the name of the hash. */
export interface ExtraOptions {
    readonly blake3: Blake3Options;
    readonly blake2b: Blake2Options;
    readonly blake2s: Blake2Options;
    readonly shake128: ShakeOptions;
    readonly shake256: ShakeOptions;
}

/** The name of a hash. */
export type ExtraName = keyof ExtraOptions;

/** A hash: its number in the module, the usual length of its digest, the longest key and salt, and whether it extends. */
interface Facts {
    readonly number: number;
    readonly length: number;
    readonly key: number;
    readonly salt: number;
    readonly extends: boolean;
}

const FACTS: { readonly [Name in ExtraName]: Facts } = {
    blake3: { number: 0, length: 32, key: 32, salt: 0, extends: true },
    blake2b: { number: 2, length: 64, key: 64, salt: 16, extends: false },
    blake2s: { number: 3, length: 32, key: 32, salt: 8, extends: false },
    shake128: { number: 4, length: 32, key: 0, salt: 0, extends: true },
    shake256: { number: 5, length: 64, key: 0, salt: 0, extends: true },
};

/** The longest digest and derived key, in bytes. */
const LONGEST = 2 ** 30;
const NOTHING = /* @__PURE__ */ new Uint8Array(0);

/** Returns an option of bytes; one that is left out has none. */
function option(value: Bytes | undefined, name: string, most: number): Uint8Array {
    if (value === undefined) return NOTHING;
    const bytes = bytesOf(value);
    if (most === 0) throw new MksumError("argument", `${name}: this hash has none`);
    if (bytes.length > most) throw new MksumError("length", `${name}: expected at most ${most} bytes, found ${bytes.length}`);
    return bytes;
}

/** A hasher: takes a message slice by slice. */
export class ExtraHasher {
    /** The name of the hash. */
    readonly name: ExtraName;
    /** The length of its digest, in bytes. */
    readonly size: number;
    private state: number;

    /** Use {@link create}. */
    constructor(name: ExtraName, size: number, state: number) {
        this.name = name;
        this.size = size;
        this.state = state;
        registry().register(this, state, this);
    }

    /**
     * Appends bytes.
     *
     * @throws {MksumError} `finished` after the end; `argument` or `detached` if `data` is not bytes.
     */
    update(data: Data): this {
        const bytes = dataOf(data);
        const state = this.alive();
        call((exports) => append(exports, state, bytes));
        return this;
    }

    /**
     * Returns the digest of all bytes, and ends the hasher.
     *
     * @throws {MksumError} `finished` after the end; `length` if there is no memory for it.
     */
    digest(): Digest {
        const found = this.peek(0, this.size);
        this.free();
        return found;
    }

    /**
     * Returns `length` bytes of the extended digest from byte `offset` on, of all bytes so far; the hasher goes on. BLAKE3 finds them
     * directly, SHAKE computes all before them.
     *
     * @throws {MksumError} `finished` after the end; `argument` for BLAKE2, which does not extend; `length` if a number is out of range.
     */
    read(length: number, offset = 0): Digest {
        if (!FACTS[this.name].extends) throw new MksumError("argument", `${this.name} does not extend: choose its length when you create it`);
        return this.peek(integer(offset, "offset"), integer(length, "length", 0, LONGEST));
    }

    private peek(offset: number, length: number): Digest {
        const state = this.alive();
        return call((exports) => taken(exports, exports.read(state, BigInt(offset), length), this.name));
    }

    /**
     * Returns an independent copy.
     *
     * @throws {MksumError} `finished` after the end.
     */
    copy(): ExtraHasher {
        const state = this.alive();
        return new ExtraHasher(this.name, this.size, call((exports) => exports.copy(state)));
    }

    /** Ends the hasher. Does nothing after the end. */
    free(): void {
        if (this.state < 0) return;
        registry().unregister(this);
        release(this.state);
        this.state = -1;
    }

    /** As {@link free}, at the end of the block of a `using` declaration. */
    [Symbol.dispose](): void {
        this.free();
    }

    private alive(): number {
        if (this.state < 0) throw new MksumError("finished", `this ${this.name} hasher has ended: create another one`);
        return this.state;
    }
}

let finalizers: FinalizationRegistry<number> | undefined;

/** Frees the states of hashers that are collected before their end. */
function registry(): FinalizationRegistry<number> {
    return (finalizers ??= new FinalizationRegistry(release));
}

/**
 * Creates a hasher.
 *
 * @throws {MksumError} `argument` if there is no such hash, it has no such option, or an option has the wrong type; `length` if one is
 * too long.
 */
export function create<Name extends ExtraName>(name: Name, options: ExtraOptions[Name] = {}): ExtraHasher {
    const asked: unknown = name;
    if (typeof asked !== "string" || !Object.hasOwn(FACTS, asked)) {
        const found = typeof asked === "string" ? `'${asked}'` : kind(asked);
        throw new MksumError("argument", `unknown hash ${found}: expected one of ${Object.keys(FACTS).join(", ")}`);
    }
    checkOptions(options, ["key", "context", "length", "salt", "personal"]);
    const facts: Facts = FACTS[name];
    const given: Blake3Options & Blake2Options = options;
    const size = integer(given.length ?? facts.length, "length", 1, facts.extends ? LONGEST : facts.length);
    const key = option(given.key, "key", facts.key);
    const salt = option(given.salt, "salt", facts.salt);
    let [number, personal] = [facts.number, option(given.personal, "personal", facts.salt)];
    if (name === "blake3" && given.key !== undefined && key.length !== facts.key) {
        throw new MksumError("length", `key: expected ${facts.key} bytes, found ${key.length}`);
    }
    if (given.context !== undefined) {
        if (name !== "blake3") throw new MksumError("argument", "context: this hash has none");
        if (typeof given.context !== "string") throw unexpected("context: expected a text", given.context);
        if (given.key !== undefined) throw new MksumError("argument", "key and context are two modes of BLAKE3: choose one");
        [number, personal] = [1, new TextEncoder().encode(given.context)];
    }
    const state = call((exports) => {
        put(exports, key, salt, personal);
        return exports.begin(number, size, key.length, salt.length, personal.length);
    });
    return new ExtraHasher(name, size, state);
}

function digest<Name extends ExtraName>(name: Name, data: Data, options?: ExtraOptions[Name]): Digest {
    const bytes = dataOf(data);
    const hasher = create(name, options);
    try {
        return hasher.update(bytes).digest();
    } finally {
        hasher.free();
    }
}

/**
 * Returns BLAKE3 of bytes: plain, keyed, or as a key derivation, of any length.
 *
 * @throws {MksumError} As {@link create}.
 */
export const blake3 = (data: Data, options?: Blake3Options): Digest => digest("blake3", data, options);

/** Returns BLAKE2b of bytes: see {@link blake3}. */
export const blake2b = (data: Data, options?: Blake2Options): Digest => digest("blake2b", data, options);

/** Returns BLAKE2s of bytes: see {@link blake3}. */
export const blake2s = (data: Data, options?: Blake2Options): Digest => digest("blake2s", data, options);

/** Returns `length` bytes of SHAKE128 (FIPS 202, 6.2), 32 if it is left out: see {@link blake3}. */
export const shake128 = (data: Data, length?: number): Digest => digest("shake128", data, length === undefined ? {} : { length });

/** Returns `length` bytes of SHAKE256 (FIPS 202, 6.2), 64 if it is left out: see {@link blake3}. */
export const shake256 = (data: Data, length?: number): Digest => digest("shake256", data, length === undefined ? {} : { length });

/** Parameters of scrypt. */
export interface ScryptOptions {
    /** N: a power of two, 2 or more. The memory is 128 × N × r bytes. */
    readonly cost: number;
    /** r; 8 if it is left out. */
    readonly blockSize?: number;
    /** p; 1 if it is left out. */
    readonly parallelization?: number;
    /** The length of the key, in bytes; 32 if it is left out. */
    readonly length?: number;
}

/**
 * Derives a key from a password (scrypt: RFC 7914). Blocks the thread: call it in a worker where that matters.
 *
 * @throws {MksumError} `argument`, `length` or `detached` if an argument is invalid; `length` if there is not enough memory.
 */
export function scrypt(password: Bytes, salt: Bytes, options: ScryptOptions): Digest {
    const [secret, grains] = [bytesOf(password), bytesOf(salt)];
    checkOptions(options, ["cost", "blockSize", "parallelization", "length"]);
    const cost = integer(options.cost, "cost", 2, 2 ** 24);
    if (!Number.isInteger(Math.log2(cost))) throw new MksumError("length", `cost: expected a power of two, found ${cost}`);
    const r = integer(options.blockSize ?? 8, "blockSize", 1, 2 ** 20);
    const p = integer(options.parallelization ?? 1, "parallelization", 1, Math.floor(2 ** 30 / r) - 1);
    const length = integer(options.length ?? 32, "length", 1, LONGEST);
    if (Math.log2(cost) >= 16 * r) throw new MksumError("length", `cost: expected less than 2^(16 × blockSize), found ${cost}`);
    return call((exports) => {
        put(exports, secret, grains);
        return taken(exports, exports.scrypt(secret.length, grains.length, Math.log2(cost), r, p, length), "scrypt");
    });
}

/** Parameters of Argon2. */
export interface Argon2Options {
    /** The type; `id` if it is left out. */
    readonly type?: "d" | "i" | "id";
    /** m: the memory, in KiB; 8 × `parallelism` or more. */
    readonly memory: number;
    /** t: the number of passes. */
    readonly passes: number;
    /** p: the number of lanes, which are filled one after the other here; 1 if it is left out. */
    readonly parallelism?: number;
    /** T: the length of the key, in bytes, 4 or more; 32 if it is left out. */
    readonly length?: number;
    /** K: a secret that is not stored beside the key. */
    readonly secret?: Bytes;
    /** X: associated data, at most 32 bytes. */
    readonly data?: Bytes;
}

/**
 * Derives a key from a password and a salt of 8 bytes or more (Argon2 1.3: RFC 9106). Blocks the thread: call it in a worker where that
 * matters.
 *
 * @throws {MksumError} `argument`, `length` or `detached` if an argument is invalid; `length` if there is not enough memory.
 */
export function argon2(password: Bytes, salt: Bytes, options: Argon2Options): Digest {
    const [own, grains] = [bytesOf(password), bytesOf(salt)];
    checkOptions(options, ["type", "memory", "passes", "parallelism", "length", "secret", "data"]);
    const type = ["d", "i", "id"].indexOf(options.type ?? "id");
    if (type < 0) throw new MksumError("argument", `type: expected d, i or id, found ${String(options.type)}`);
    if (grains.length < 8) throw new MksumError("length", `salt: expected at least 8 bytes, found ${grains.length}`);
    const lanes = integer(options.parallelism ?? 1, "parallelism", 1, 2 ** 16);
    const memory = integer(options.memory, "memory", 8 * lanes, 2 ** 22 - 1);
    const passes = integer(options.passes, "passes", 1, 2 ** 32 - 1);
    const length = integer(options.length ?? 32, "length", 4, LONGEST);
    const secret = option(options.secret, "secret", 2 ** 30);
    const data = option(options.data, "data", 32);
    return call((exports) => {
        put(exports, own, grains, secret, data);
        const of = [own.length, grains.length, secret.length, data.length] as const;
        return taken(exports, exports.argon2(type, ...of, memory, passes, lanes, length), "Argon2");
    });
}
