// How figures write numbers.

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Three digits, or an integer with separators: 0.31, 4.00, 12.4, 1,104. Small numbers keep two digits: 0.0031. */
export function number(value) {
    if (value >= 99.95) return grouped.format(value);
    if (value >= 9.995) return value.toFixed(1);
    if (value >= 0.095 || value === 0) return value.toFixed(2);
    return value > 0 ? String(Number(value.toPrecision(2))) : `−${number(-value)}`;
}

/** The number of a tick: 0.1, 20, 3,000, 20k, 5M. */
export function tick(value) {
    for (const [size, sign] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
        if (value >= size) return `${Number((value / (sign === "k" ? 1e3 : size)).toPrecision(3))}${sign}`;
    }
    return value >= 1000 ? grouped.format(value) : String(Number(value.toPrecision(6)));
}

/** An exact count: 65,536. */
export const count = (value) => grouped.format(value);

/** Ticks at the powers of ten that the values span, and ticks between them if these are few. */
export function decades(low, high) {
    const span = Math.log10(high / low);
    const steps = span <= 1.6 ? [1, 2, 5] : span <= 3.2 ? [1, 3] : [1];
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
        for (const step of steps) {
            const value = Number(`${step}e${power}`);
            if (value >= low && value <= high * 1.001) found.push(value);
        }
    }
    return found;
}
