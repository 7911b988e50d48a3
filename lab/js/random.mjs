// Reproducible random numbers from a seed: splitmix32.

export class Random {
    #state;

    constructor(seed) {
        this.#state = seed >>> 0;
    }

    /** Returns an integer in 0..bound. */
    below(bound) {
        this.#state = (this.#state + 0x9e3779b9) >>> 0;
        let word = this.#state;
        word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
        word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
        return Math.floor((((word ^ (word >>> 15)) >>> 0) / 2 ** 32) * bound);
    }

    /** Returns a copy in random order (Fisher-Yates). */
    shuffled(items) {
        const copy = [...items];
        for (let last = copy.length - 1; last > 0; last--) {
            const other = this.below(last + 1);
            [copy[last], copy[other]] = [copy[other], copy[last]];
        }
        return copy;
    }
}
