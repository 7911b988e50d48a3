// Key derivation: time against iterations for one key, and against the number of keys derived together.
import { password, SALT } from "../bytes.mjs";
import { KEY_ITERATIONS } from "../points.mjs";
import references from "../references.json";
import { wrongly } from "./hashes.mjs";

const fed = (library, bytes) => (library.input ? library.input(bytes) : bytes);

export function pbkdf2(libraries, iterations) {
    return libraries.flatMap(({ name, library }) =>
        Object.entries(library.pbkdf2 ?? {}).map(([hash, derive]) => {
            const [secret, salt] = [fed(library, password(0)), fed(library, SALT)];
            return {
                case: `pbkdf2-${hash}`,
                subject: name,
                last: iterations.length,
                points: iterations.map((x) => ({
                    x,
                    start: () => ({
                        call: (count) => derive(secret, salt, count),
                        argument: x,
                        wrong: wrongly(library, references.pbkdf2[hash][x]),
                    }),
                })),
            };
        }),
    );
}

/** Many keys: one after the other where a library knows no other way, and its own way where it has one. */
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
        const salt = fed(library, SALT);
        for (const [subject, way] of Object.entries(ways)) {
            series.push({
                case: "keys",
                subject,
                last: counts.length,
                points: counts.map((x) => ({
                    x,
                    start: () => {
                        const checks = references.keys.slice(0, x).map((expected) => wrongly(library, expected));
                        return {
                            call: (passwords) => way(passwords, salt, KEY_ITERATIONS),
                            argument: Array.from({ length: x }, (_, number) => fed(library, password(number))),
                            wrong: (found) => checks.map((check, number) => check(found[number])).find(Boolean),
                        };
                    },
                })),
            });
        }
    }
    return series;
}
