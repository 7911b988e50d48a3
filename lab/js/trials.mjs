// Times the calls of one series in one process: checks the output at every point first, and then takes the trials.
//
// A *series* is one subject over increasing x: { case, subject, constant, points: [{ x, start() }] }. `start` returns { call,
// argument, wrong }: `call(argument)` is timed, and `wrong(output)` returns what is wrong with the output, or undefined. `argument` may
// be expensive to create, which is not timed. A call takes longer the larger x is, unless the series is `constant`.
import { Random } from "./random.mjs";

const now = () => performance.now();
// A trial aims at this much more than its shortest time: few trials are too short then, and have to be repeated with more calls.
const MORE = 1.1;
// No clock here is coarser, so that a call that seems to take no time takes less than this.
const STEP_MS = 0.1;

/** Returns the clock's resolution in milliseconds, the smallest of some measured steps. */
export function resolution() {
    let least = Infinity;
    for (let turn = 0; turn < 20; turn++) {
        const begin = now();
        let next;
        do next = now();
        while (next === begin);
        least = Math.min(least, next - begin);
    }
    return least;
}

/** Calls `count` times. Returns the total time in milliseconds and the last output. */
async function timed(point, count) {
    const { call, argument } = point;
    let output;
    const begin = now();
    if (point.waits) for (let turn = 0; turn < count; turn++) output = await call(argument);
    else for (let turn = 0; turn < count; turn++) output = call(argument);
    return { took: now() - begin, output };
}

class WrongDigest extends Error {}

/** Returns the number of calls that fill a trial. */
const filling = (each, trialMs) => Math.max(1, Math.ceil((MORE * trialMs) / Math.max(each, 1e-6)));

/** Checks the first output, warms up, and finds how many calls fill a trial. `first` tells the first point of a process. */
async function calibrate(point, first, { trialMs, limitMs }) {
    Object.assign(point, await point.start());
    const begin = now();
    let output = point.call(point.argument);
    point.waits = typeof output?.then === "function";
    output = await output;
    let each = now() - begin;
    const wrong = await point.wrong(output);
    if (wrong) throw new WrongDigest(wrong);
    // Perhaps it was only interrupted.
    if (each > limitMs && each < 2 * limitMs) each = Math.min(each, (await timed(point, 1)).took);
    // An interrupted call would seem too slow for this limit or the next point's, so that these use the least time.
    let least = each;
    // Calls are slower until the engine has compiled them. Slow calls at a later point need no more: shorter inputs did that.
    if (each <= limitMs && (first || each < 4 * trialMs))
        for (let count = 1; ; count *= 2) {
            const { took } = await timed(point, count);
            least = Math.min(least, (took + STEP_MS) / count);
            each = took / count;
            if (took >= trialMs / 2) break;
        }
    point.least = Math.min(least, each);
    point.each = each;
    point.count = filling(each, trialMs);
    point.times = [];
}

/** Runs one trial, which takes at least `trialMs`: repeats it with more calls if they were faster than in the calibration. */
async function trial(point, trialMs) {
    if (point.each < trialMs / 8) await timed(point, 1);
    for (;;) {
        const found = await timed(point, point.count);
        if (found.took >= trialMs) return found;
        point.count = Math.max(point.count + 1, Math.min(64 * point.count, filling(found.took / point.count, trialMs)));
    }
}

/**
 * Measures a series. `plan` is { seed, trials, trialMs, limitMs }. A trial takes `trialMs`, or 100 steps of the clock if that is
 * longer. After all points are checked and compiled, each round takes one trial of every point, in random order. The series ends
 * before the first x where a call takes longer than `limitMs`. `report` receives { times: { x, times } } of each point in
 * milliseconds a call, { stopped: { x, why } }, or { refused: { x, why } }: a series with one wrong output has no times.
 */
export async function measure(series, plan, report) {
    const settings = { ...plan, trialMs: Math.max(plan.trialMs, 100 * resolution()) };
    const random = new Random(plan.seed);
    let points = series.points;
    let at;
    const stop = (error) => report({ stopped: { x: at.x, why: String(error?.message ?? error) } });
    try {
        for (const [index, point] of points.entries()) {
            at = point;
            try {
                // A call that is certainly too slow is not tried, because many of them would take minutes.
                const before = points[index - 1];
                const least = before && !series.constant ? (before.least * point.x) / before.x / 2 : 0;
                if (least > plan.limitMs) throw new Error(`about ${Math.round(2 * least)} ms a call`);
                await calibrate(point, index === 0, settings);
                if (point.least > plan.limitMs) throw new Error(`${Math.round(point.least)} ms a call`);
            } catch (error) {
                // A wrong digest invalidates the whole series. After another error, its earlier points stay valid.
                if (error instanceof WrongDigest) throw error;
                points = points.slice(0, index);
                stop(error);
                break;
            }
            await report({});
        }
        for (let round = 0; round < plan.trials; round++)
            for (const point of random.shuffled(points)) {
                at = point;
                try {
                    const { took, output } = await trial(point, settings.trialMs);
                    const wrong = await point.wrong(output);
                    if (wrong) throw new WrongDigest(wrong);
                    point.times.push(took / point.count);
                } catch (error) {
                    if (error instanceof WrongDigest) throw error;
                    points = points.filter((other) => other !== point);
                    stop(error);
                }
                await report({});
            }
        for (const { x, times } of points) report({ times: { x, times } });
    } catch (error) {
        report({ refused: { x: at.x, why: error.message } });
    }
}
