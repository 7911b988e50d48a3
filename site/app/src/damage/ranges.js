// Byte ranges `start..end`, end excluded.

/** @typedef {{ readonly start: number, readonly end: number }} Range */

/**
 * Returns the same bytes as sorted ranges that neither overlap nor touch.
 *
 * @param {readonly Range[]} ranges
 * @returns {Range[]}
 */
export function merged(ranges) {
    const sorted = ranges.filter(({ start, end }) => start < end).toSorted((one, other) => one.start - other.start);
    /** @type {{ start: number, end: number }[]} */
    const result = [];
    for (const { start, end } of sorted) {
        const last = result.at(-1);
        if (last && start <= last.end) last.end = Math.max(last.end, end);
        else result.push({ start, end });
    }
    return result;
}

/**
 * Returns the number of bytes in ranges that do not overlap.
 *
 * @param {readonly Range[]} ranges
 */
export function total(ranges) {
    return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

/**
 * Returns the bytes of `ranges` that are in none of `others`.
 *
 * @param {readonly Range[]} ranges
 * @param {readonly Range[]} others
 * @returns {Range[]}
 */
export function without(ranges, others) {
    /** @type {Range[]} */
    let left = merged(ranges);
    for (const other of others) {
        left = left.flatMap(({ start, end }) =>
            [{ start, end: Math.min(end, other.start) }, { start: Math.max(start, other.end), end }].filter(
                (part) => part.start < part.end,
            ),
        );
    }
    return merged(left);
}

/**
 * Parses `A..B`, `A..` or `..B` within `len` bytes. Commas, spaces and underscores between digits are ignored.
 *
 * @param {string} text
 * @param {number} len
 * @returns {Range | string} The range, or a message that says why there is none.
 */
export function parsedRange(text, len) {
    const match = /^([\d,_ ]*)\.\.([\d,_ ]*)$/.exec(text.trim());
    if (!match) return `“${text.trim()}” is not a byte range. Write START..END, for example 0..1000. END is not included.`;
    const [start, end] = [match[1] ?? "", match[2] ?? ""].map((part) => part.replace(/[,_ ]/g, ""));
    const range = { start: start ? Number(start) : 0, end: end ? Number(end) : len };
    if (!Number.isSafeInteger(range.start) || !Number.isSafeInteger(range.end)) return "These numbers are too large.";
    if (range.start >= range.end) return `The range ${range.start}..${range.end} is empty. START must be less than END.`;
    if (range.end > len) return `The range ends at ${range.end}, but the file has ${len} bytes.`;
    return range;
}
