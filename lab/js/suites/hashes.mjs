// Time by the length of the input, for every hash, and of the conversions that some libraries need.
import { hexadecimal, pattern } from "../bytes.mjs";
import references from "../references.json";

/** Returns `size` bytes in the library's input type. */
const input = (library, size) => (library.input ? library.input(pattern(size)) : pattern(size));

export function wrongly(library, expected) {
    const hex = library.hex ?? hexadecimal;
    return (output) => {
        const found = hex(output);
        return found === expected ? undefined : `wrong digest: expected ${expected}, found ${String(found).slice(0, 128)}`;
    };
}

export function hashes(libraries, sizes) {
    return libraries.flatMap(({ name, library }) =>
        Object.entries(library.hashes ?? {}).map(([hash, call]) => ({
            case: hash,
            subject: name,
            points: sizes.map((x) => ({
                x,
                start: () => ({
                    call,
                    argument: input(library, x),
                    wrong: wrongly(library, references.hashes[hash][x]),
                }),
            })),
        })),
    );
}

/** Measures input conversions. The digest of the first converted input is checked; only the conversion is timed. */
export function conversions(libraries, sizes) {
    return libraries
        .filter(({ library }) => library.input && library.hashes)
        .map(({ name, library }) => {
            const [hash, digest] = Object.entries(library.hashes)[0];
            return {
                case: "convert",
                subject: name,
                    points: sizes.map((x) => ({
                    x,
                    start: () => {
                        const wrong = wrongly(library, references.hashes[hash][x]);
                        let checked = false;
                        const once = (converted) => {
                            if (checked) return undefined;
                            checked = true;
                            return wrong(digest(converted));
                        };
                        return { call: library.input, argument: pattern(x), wrong: once };
                    },
                })),
            };
        });
}
