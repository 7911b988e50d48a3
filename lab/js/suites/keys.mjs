// Key derivation: time by iterations for one key, and by the number of keys derived together.
//
// No two calls derive the same key: Firefox's WebCrypto caches keys, and with a constant salt it would seem to perform 30,000
// iterations a millisecond. So salts rotate. The first output is compared with a stored key, others with WebCrypto's key for the
// same salt, and WebCrypto's own with that of @noble/hashes.
import { hexadecimal, password, SALT } from "../bytes.mjs";
import { KEY_ITERATIONS } from "../points.mjs";
import references from "../references.json";
import { wrongly } from "./hashes.mjs";

const fed = (library, bytes) => (library.input ? library.input(bytes) : bytes);

/** More salts than any cache holds; the first one is `SALT`. */
const SALTS = Array.from({ length: 256 }, (_, number) => SALT.map((byte, at) => (at === 0 ? byte ^ number : byte)));

// Loaded only when one is needed, because nothing but the measured library should be in the process.
const referees = {
    others: async () => (await import("../adapters/webcrypto.mjs")).default.load().pbkdf2,
    webcrypto: async () => (await import("../adapters/noble.mjs")).default.load().pbkdf2,
};

/** Returns the salts in turn, in the library's input type, and a check of its last key. */
function rotation(subject, library, hash, stored) {
    const salts = SALTS.map((salt) => fed(library, salt));
    const referee = referees[subject.startsWith("WebCrypto") ? "webcrypto" : "others"];
    let turn = -1;
    return {
        next: () => salts[(turn = (turn + 1) % salts.length)],
        wrong: async (iterations, output) => {
            const expected =
                turn === 0 ? stored : hexadecimal(await (await referee())[hash](password(0), SALTS[turn], iterations));
            return wrongly(library, expected)(output);
        },
    };
}

export function pbkdf2(libraries, iterations) {
    return libraries.flatMap(({ name, library }) =>
        Object.entries(library.pbkdf2 ?? {}).map(([hash, derive]) => ({
            case: `pbkdf2-${hash}`,
            subject: name,
            points: iterations.map((x) => ({
                x,
                start: () => {
                    const { next, wrong } = rotation(name, library, hash, references.pbkdf2[hash][x]);
                    const secret = fed(library, password(0));
                    return {
                        call: (count) => derive(secret, next(), count),
                        argument: x,
                        wrong: (output) => wrong(x, output),
                    };
                },
            })),
        })),
    );
}

/** Measures many keys: with the library's own function if it has one, and one after the other. */
export function keys(libraries, counts) {
    const series = [];
    for (const { name, library } of libraries) {
        const ways = { ...library.keys };
        const derive = library.pbkdf2?.sha256;
        if (derive)
            ways[name] = async (passwords, salt, iterations) => {
                const found = [];
                for (const secret of passwords) found.push(await derive(secret, salt, iterations));
                return found;
            };
        for (const [subject, way] of Object.entries(ways)) {
            series.push({
                case: "keys",
                subject,
                points: counts.map((x) => ({
                    x,
                    start: () => {
                        const { next, wrong } = rotation(subject, library, "sha256", references.keys[0]);
                        const checks = references.keys.slice(0, x).map((expected) => wrongly(library, expected));
                        let first = true;
                        return {
                            call: (passwords) => way(passwords, next(), KEY_ITERATIONS),
                            argument: Array.from({ length: x }, (_, number) => fed(library, password(number))),
                            // Checks all keys of the first call, and the first key of later calls.
                            wrong: (found) => {
                                if (!first) return wrong(KEY_ITERATIONS, found[0]);
                                first = false;
                                return checks.map((check, number) => check(found[number])).find(Boolean);
                            },
                        };
                    },
                })),
            });
        }
    }
    return series;
}
