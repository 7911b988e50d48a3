import type { HashName } from "./algorithms.js";
import { create, type Digest } from "./hash.js";
import { checked, type Options, slices, type Source } from "./input.js";

/**
 * Returns the digest of the bytes of any source.
 *
 * @throws {MksumError} `source` if they cannot be read; otherwise as {@link create}, or the signal's reason.
 */
export async function digestOf(name: HashName, source: Source, options: Options = {}): Promise<Digest> {
    checked(options);
    const hasher = create(name);
    try {
        for await (const slice of slices(source, options)) hasher.update(slice);
        return hasher.digest();
    } finally {
        hasher.free();
    }
}
