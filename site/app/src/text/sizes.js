// Numbers of bytes, counts and durations as text.

const UNITS = ["KB", "MB", "GB", "TB", "PB"];

/**
 * Groups the digits of an integer: `5,242,880`.
 *
 * @param {number} value
 */
export function grouped(value) {
    return value.toLocaleString("en-US");
}

/**
 * Returns a count with its noun: `1 file`, `2,000 files`.
 *
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function counted(count, one, many = `${one}s`) {
    return `${grouped(count)} ${count === 1 ? one : many}`;
}

/**
 * Returns a number of bytes in a decimal unit: `5.24 MB`.
 *
 * @param {number} bytes
 */
export function size(bytes) {
    if (bytes < 1000) return counted(bytes, "byte");
    let [value, unit] = [bytes / 1000, 0];
    while (value >= 999.5 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
    const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/**
 * Returns a number of bytes in a decimal unit, and exactly: `5.24 MB (5,242,880 bytes)`.
 *
 * @param {number} bytes
 */
export function exactSize(bytes) {
    return bytes < 1000 ? size(bytes) : `${size(bytes)} (${grouped(bytes)} bytes)`;
}

/**
 * Returns a byte range `start..end`, end excluded: `65,536..131,072`.
 *
 * @param {{ start: number, end: number }} range
 */
export function rangeText({ start, end }) {
    return `${grouped(start)}..${grouped(end)}`;
}

/**
 * Returns a duration: `3 s`, `2 min 5 s`, `1 h 4 min`.
 *
 * @param {number} seconds
 */
export function duration(seconds) {
    const whole = Math.max(1, Math.round(seconds));
    if (whole < 60) return `${whole} s`;
    if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
    return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
