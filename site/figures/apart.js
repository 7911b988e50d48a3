/** Moves ascending places as little as possible, so that they are `room` apart and within `low` and `high`. */
export function apart(places, room, low, high) {
    const groups = [];
    for (const place of places) {
        groups.push([place, 1]);
        while (groups.length > 1) {
            const [[a, m], [b, n]] = groups.slice(-2);
            if (b - a >= (room * (m + n)) / 2) break;
            groups.splice(-2, 2, [(a * m + b * n) / (m + n), m + n]);
        }
    }
    const found = [];
    for (const [wanted, count] of groups) {
        const half = (room * (count - 1)) / 2;
        const middle = Math.min(Math.max(wanted, low + half), high - half);
        for (let index = 0; index < count; index += 1) found.push(middle - half + room * index);
    }
    for (let index = 1; index < found.length; index += 1) found[index] = Math.max(found[index], found[index - 1] + room);
    // If the last ones were pushed over the end, push back.
    const over = found.length ? Math.max(0, found[found.length - 1] - high) : 0;
    if (over > 0) {
        found[found.length - 1] = high;
        for (let index = found.length - 2; index >= 0; index -= 1) found[index] = Math.min(found[index], found[index + 1] - room);
    }
    return found;
}
