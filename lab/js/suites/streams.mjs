// Many files that arrive interleaved, chunk by chunk, in an order determined by the seed.
import { hexadecimal, pattern } from "../bytes.mjs";
import { CHUNK, STREAMED } from "../points.mjs";
import { Random } from "../random.mjs";

/** Returns the file of each chunk in order of arrival: `count` files of equal length, shuffled. */
function arrivals(count, chunks, seed) {
    return new Random(seed).shuffled(Array.from({ length: count * chunks }, (_, index) => index % count));
}

const content = pattern(STREAMED + 1024);
/** Returns chunk `index` of file `file`. Files differ, so that mixed-up states are detected. */
const chunk = (file, index) => content.subarray(file + index * CHUNK, file + (index + 1) * CHUNK);

async function expected(count, chunks) {
    const digests = [];
    for (let file = 0; file < count; file++) {
        const whole = content.subarray(file, file + chunks * CHUNK);
        digests.push(hexadecimal(await crypto.subtle.digest("SHA-256", whole)));
    }
    return digests;
}
const references = new Map();

function ways(libraries) {
    return libraries.flatMap(({ name, library }) =>
        Object.entries(library.streams ?? {}).map(([way, open]) => ({
            subject: `${name}${way.slice("sha256".length).replace(/^ /, ", ")}`,
            library,
            open,
        })),
    );
}

export function streams(libraries, counts, seed) {
    return ways(libraries).map(({ subject, library, open }) => ({
        case: "streams",
        subject,
        constant: true,
        points: counts.map((x) => {
            const chunks = STREAMED / CHUNK / x;
            return {
                x,
                start: async () => {
                    if (!references.has(x)) references.set(x, await expected(x, chunks));
                    const hex = library.hex ?? hexadecimal;
                    const order = arrivals(x, chunks, seed);
                    return {
                        argument: order,
                        call: async (order) => {
                            const states = [];
                            const next = new Uint32Array(x);
                            const digests = [];
                            for (const file of order) {
                                const index = next[file]++;
                                states[file] ??= await open();
                                states[file].update(chunk(file, index));
                                if (index + 1 === chunks) {
                                    digests[file] = await states[file].digest();
                                    states[file] = undefined;
                                }
                            }
                            return digests;
                        },
                        wrong: (digests) => {
                            const found = digests.map(hex);
                            const file = references.get(x).findIndex((digest, file) => found[file] !== digest);
                            return file < 0
                                ? undefined
                                : `wrong digest of file ${file} of ${x}: expected ${references.get(x)[file]}, found ${found[file]}`;
                        },
                    };
                },
            };
        }),
    }));
}

/** Returns the bytes that `count` open streams add, as reported by the engine, after one chunk in each. */
async function added({ library, open }, count, bytesUsed) {
    // One stream first, because the library's own memory does not belong to the streams.
    const first = await open();
    first.update(chunk(0, 0));
    await first.digest();
    const before = await bytesUsed();
    const states = [];
    for (let file = 0; file < count; file++) {
        const state = await open();
        state.update(chunk(file, 0));
        states.push(state);
    }
    const used = (await bytesUsed()) - before;
    const hex = library.hex ?? hexadecimal;
    for (const [file, digest] of (await expected(count, 1)).entries()) {
        const found = hex(await states[file].digest());
        if (found !== digest)
            throw new Error(`wrong digest of file ${file} of ${count}: expected ${digest}, found ${found}`);
    }
    return used;
}

/** Measures the memory of open streams, if the engine reports its own. It is sampled once in a process, not timed. */
export function memory(libraries, counts, bytesUsed) {
    if (!bytesUsed) return [];
    return ways(libraries).map((way) => ({
        case: "memory",
        subject: way.subject,
        points: counts,
        sample: (count) => added(way, count, bytesUsed),
    }));
}
