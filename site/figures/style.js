// One colour and one marker a library, in all figures; site.css has the colours, for light and dark pages.

/** The number of colours besides that of mksum: --c0 to --c9. */
export const COLOURS = 10;
/** The number of markers besides that of mksum. */
const MARKS = 5;
const OURS = /^(?:mksum|CPU, |PoCL)/;
/** Lines of the same library in one figure differ by dashes; so do libraries that share a colour. */
export const DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 2", "1 4", "12 4", "6 2 1 2 1 2"];

/** The library or program that a subject of a measurement is: `xargs -P2 openssl dgst` is `openssl`. */
export function library(subject) {
    if (OURS.test(subject)) return "mksum";
    const name = subject.replace(/^(?:xargs -P\d+|find -exec|loop over|lanes by) /, "").split(", ")[0];
    if (/ crate$|^node:/.test(name)) return name;
    return name.split(" ")[0];
}

/**
 * Returns a function from a subject to its style. `figures` has the subjects of each figure. The library that is in most figures
 * chooses first, so that libraries in the same figure seldom share a colour, and never a colour and a marker.
 */
export function styles(figures) {
    const beside = new Map();
    for (const subjects of figures) {
        const names = new Set(subjects.map((subject) => library(subject)));
        for (const name of names) beside.set(name, [...(beside.get(name) ?? []), ...names]);
    }
    beside.delete("mksum");
    const order = [...beside.keys()].toSorted((a, b) => beside.get(b).length - beside.get(a).length || (a < b ? -1 : 1));
    const found = new Map();
    for (const name of order) {
        const others = [...new Set(beside.get(name))].flatMap((other) => found.get(other) ?? []);
        const colour = rarest(COLOURS, others.map((other) => other.colour), found.size);
        const alike = others.filter((other) => other.colour === colour);
        const mark = 1 + rarest(MARKS, alike.map((other) => other.mark - 1), found.size);
        const dash = rarest(DASHES.length, alike.map((other) => other.dash), found.size);
        found.set(name, { colour, mark, dash });
    }
    return (subject) => {
        const style = found.get(library(subject));
        return style ? { ...style, colour: `k${style.colour}`, ours: false } : { colour: "ours", mark: 0, dash: 0, ours: true };
    };
}

/** The number below `count` that is taken least often; of several, the first from `start` on. */
function rarest(count, taken, start) {
    const times = Array.from({ length: count }, (_, index) => taken.filter((one) => one === index).length);
    const least = Math.min(...times);
    for (let index = start; ; index += 1) if (times[index % count] === least) return index % count;
}
