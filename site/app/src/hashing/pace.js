// The rate of a computation, and the time that it still needs.

/** The time over which the rate is averaged, in milliseconds. */
const WINDOW = 5000;

/** The pace of a computation whose progress is reported from time to time. */
export class Pace {
    /** @param {number} now The current time, in milliseconds. */
    constructor(now) {
        /** @private @type {{ at: number, done: number }[]} */
        this.points = [{ at: now, done: 0 }];
    }

    /**
     * Records that `done` bytes are hashed at the time `now`.
     *
     * @param {number} now
     * @param {number} done
     */
    record(now, done) {
        this.points.push({ at: now, done });
        // The point before the window stays, so that the window is full.
        while (this.points.length > 2 && /** @type {{ at: number }} */ (this.points[1]).at < now - WINDOW) this.points.shift();
    }

    /** The rate in bytes per second, or `undefined` before it is known. */
    get rate() {
        const [first, last] = [this.points[0], this.points.at(-1)];
        if (!first || !last || last.at - first.at < 200) return undefined;
        return (1000 * (last.done - first.done)) / (last.at - first.at);
    }

    /**
     * Returns the seconds that are left until `total` bytes are hashed, or `undefined` if they are not known.
     *
     * @param {number} total
     */
    left(total) {
        const { rate } = this;
        return rate ? (total - (this.points.at(-1)?.done ?? 0)) / rate : undefined;
    }
}
