// What a run is expected to take.

// The seconds that the processes of each suite took in one pass of a full run, on two processors (Zen 4).
const SECONDS = { hashes: 105, pbkdf2: 16, keys: 9, trees: 6, pool: 9, streams: 21, memory: 8 };
// A pass of a quick run takes this share of one of a full run: starting processes takes most of it.
const QUICK = 0.4;

/** Returns the seconds that a run of these engines is expected to take. */
export function expected(engines, { quick, suite: suites }, { passes }) {
    const pass = Object.entries(SECONDS).reduce((sum, [suite, seconds]) => sum + (suites?.includes(suite) ?? true ? seconds : 0), 0);
    return engines.length * passes * pass * (quick ? QUICK : 1);
}

/** Returns seconds as minutes. */
export const minutes = (seconds) => (seconds / 60).toFixed(seconds < 600 ? 1 : 0);
