// Medians and their bootstrap intervals.
import { Random } from "./random.mjs";

const RESAMPLES = 1000;
const SHARE = 0.95;

export function median(numbers) {
    const sorted = Float64Array.from(numbers).toSorted();
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Returns the 95 % interval [low, high] of the median of trials, given as one array for each process. It resamples in two stages,
 * first processes, then trials of each: trials of one process share what its compiler decided and where its memory lies, so
 * that resampling all trials alike would make the interval too narrow. With three processes, an interval reaches about from the
 * fastest to the slowest one. The same seed gives the same interval.
 */
export function interval(processes, seed) {
    const random = new Random(seed);
    const drawn = (items) => items[random.below(items.length)];
    const medians = Float64Array.from({ length: RESAMPLES }, () =>
        median(
            processes.flatMap(() => {
                const trials = drawn(processes);
                return trials.map(() => drawn(trials));
            }),
        ),
    ).toSorted();
    const rest = ((1 - SHARE) / 2) * (RESAMPLES - 1);
    return [medians[Math.floor(rest)], medians[Math.ceil(RESAMPLES - 1 - rest)]];
}

/** Returns a seed for a text, such as the name of a point (FNV-1a). */
export function seeded(seed, text) {
    let hash = (0x811c9dc5 ^ seed) >>> 0;
    for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
    return hash;
}
