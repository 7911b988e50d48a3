import type { HashName } from "./algorithms.js";
import { type Data, dataOf } from "./bytes.js";
import { current } from "./current.js";
import { compileText } from "./decoded.js";
import { type Digest, digestBy } from "./digest-by.js";
import { Engine, refused } from "./instance.js";
import { TABLE } from "./table.js";

/** An inlined module that hashes one message at a time, with the hashes of one family. */
export interface Small {
    readonly encoded: string;
    /** The running instance, from the first call on. */
    engine?: Engine;
}

/**
 * Returns the function `digest(name, data)` of one hash, so that a page that needs nothing else loads a small module. Where the engine of
 * all hashes runs, that one does the work: `load` may have been given it by a host that compiles nothing.
 */
export function alone(small: Small, name: HashName): (data: Data) => Digest {
    const [number, size] = TABLE[name];
    return (data) => digestBy(dataOf(data), (current.engine ?? started(small)).ready(), number, size);
}

function started(small: Small): Engine {
    try {
        return (small.engine ??= new Engine(compileText(small.encoded)));
    } catch (cause) {
        throw refused(cause);
    }
}
