import { kind } from "./bytes.js";
import { MksumError } from "./errors.js";
import { TABLE } from "./table.js";

/** The name of a hash. */
export type HashName = keyof typeof TABLE;

/** The names of all hashes. */
export const HASHES: readonly HashName[] = /* @__PURE__ */ Object.keys(TABLE) as HashName[];

/** A hash with its number in the engine. */
export interface Algorithm {
    readonly name: HashName;
    readonly number: number;
    /** The digest size, in bytes. */
    readonly size: number;
    /** The block size, in bytes. */
    readonly block: number;
}

/** The hashes that were asked for, by name. */
const known = /* @__PURE__ */ new Map<HashName, Algorithm>();

/**
 * Returns the hash with this name.
 *
 * @throws {MksumError} `argument` if there is none.
 */
export function algorithm(name: HashName): Algorithm {
    let found = known.get(name);
    if (!found) known.set(name, (found = lookedUp(name)));
    return found;
}

function lookedUp(name: HashName): Algorithm {
    if (typeof name !== "string" || !Object.hasOwn(TABLE, name)) {
        const found = typeof name === "string" ? `'${name}'` : kind(name);
        throw new MksumError("argument", `unknown hash ${found}: expected one of ${HASHES.join(", ")}`);
    }
    const [number, size, block] = TABLE[name];
    return { name, number, size, block };
}
