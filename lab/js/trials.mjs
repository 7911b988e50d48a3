// Times calls: checks the output first, and then measures in rounds, in each of which the subjects of a point take turns in
// random order.
//
// A *series* is one subject over increasing x: { case, subject, points: [{ x, start() }] }. `start` returns { call, argument,
// wrong }: `call(argument)` is timed, and `wrong(output)` returns what is wrong with the output, or undefined. `argument` may be
// expensive to create, which is not timed.
import { Random } from "./random.mjs";

const now = () => performance.now();
const median = (numbers) => {
    const sorted = numbers.toSorted((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

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

/** Checks the first output, warms up, and finds how many calls fill a trial. */
async function calibrate(point, trialMs) {
    Object.assign(point, await point.start());
    const begin = now();
    let output = point.call(point.argument);
    point.waits = typeof output?.then === "function";
    output = await output;
    let each = now() - begin;
    const wrong = await point.wrong(output);
    if (wrong) throw new WrongDigest(wrong);
    // Calls are slower until the engine has compiled them.
    for (let count = 1; each < 50 * trialMs; count *= 2) {
        const { took } = await timed(point, count);
        each = took / count;
        if (took >= trialMs / 2) break;
    }
    point.each = each;
    point.count = Math.max(1, Math.ceil(trialMs / Math.max(each, 1e-6)));
    point.times = [];
}

/** Runs one trial. If its calls take less time than planned, because the calibration was disturbed, repeats it with more. */
async function trial(point, trialMs) {
    for (;;) {
        const found = await timed(point, point.count);
        if (found.took >= trialMs / 2) return found;
        point.count = Math.ceil(point.count * Math.min(64, trialMs / Math.max(found.took, 1e-3)));
    }
}

/**
 * Measures all series. `given` is { seed, trialMs, limitMs, leastMs, budgetMs, rounds: [least, most] }.
 *
 * A trial takes `trialMs`, or 100 steps of the clock if that is longer. A series stops at the first x where a call takes longer
 * than `limitMs`, which is halved, but not below `leastMs`, until the least number of rounds fits into the budget. `report`
 * receives { row }, { stopped }, { refused } and { progress }. A series with a wrong output is refused, with all its times.
 */
export async function measure(series, given, report) {
    const settings = { ...given, trialMs: Math.max(given.trialMs, 100 * resolution()) };
    const random = new Random(settings.seed);
    const begin = now();
    for (const one of random.shuffled(series)) {
        for (const [index, point] of one.points.entries()) {
            try {
                await calibrate(point, settings.trialMs);
            } catch (error) {
                const failure = { case: one.case, subject: one.subject, x: point.x, why: String(error?.message ?? error) };
                // A wrong digest invalidates the whole series. After another error, its earlier points stay valid.
                const wrong = error instanceof WrongDigest;
                report(wrong || index === 0 ? { refused: failure } : { stopped: failure });
                one.points = wrong ? [] : one.points.slice(0, index);
                break;
            }
            if (point.each > settings.limitMs) {
                one.points = one.points.slice(0, index + 1);
                if (index + 1 < one.last)
                    report({
                        stopped: {
                            case: one.case,
                            subject: one.subject,
                            x: point.x,
                            why: `${Math.round(point.each)} ms a call`,
                        },
                    });
                break;
            }
        }
        await report({ progress: `${one.case} ${one.subject}: ${one.points.length} points checked` });
    }
    const cost = () =>
        series
            .flatMap((one) => one.points)
            .reduce((sum, point) => sum + Math.max(settings.trialMs, point.each) * 1.1, 0);
    const left = settings.budgetMs - (now() - begin);
    for (
        let limit = settings.limitMs / 2;
        cost() * settings.rounds[0] > left && limit >= settings.leastMs;
        limit /= 2
    ) {
        for (const one of series) {
            const kept = one.points.filter((point) => point.each <= limit);
            if (kept.length < one.points.length)
                report({
                    stopped: {
                        case: one.case,
                        subject: one.subject,
                        x: kept.at(-1)?.x ?? 0,
                        why: `more than ${limit} ms a call, which exceeds the time budget`,
                    },
                });
            one.points = kept;
        }
    }

    const groups = new Map();
    for (const one of series)
        for (const point of one.points) {
            const key = `${one.case} ${point.x}`;
            if (!groups.has(key)) groups.set(key, []);
            groups.get(key).push([one, point]);
        }
    for (let round = 0; round < settings.rounds[1]; round++) {
        const started = now();
        for (const group of random.shuffled([...groups.values()])) {
            for (const [one, point] of random.shuffled(group)) {
                if (one.failed || point.failed) continue;
                try {
                    if (point.each < settings.trialMs / 8) await timed(point, 1);
                    const { took, output } = await trial(point, settings.trialMs);
                    const wrong = await point.wrong(output);
                    if (wrong) throw new WrongDigest(wrong);
                    point.times.push(took / point.count);
                } catch (error) {
                    const failure = {
                        case: one.case,
                        subject: one.subject,
                        x: point.x,
                        why: String(error?.message ?? error),
                    };
                    one.failed = error instanceof WrongDigest;
                    point.failed = true;
                    report(one.failed ? { refused: failure } : { stopped: failure });
                }
            }
            await report({});
        }
        await report({ progress: `round ${round + 1} took ${Math.round(now() - started)} ms` });
        if (round + 1 >= settings.rounds[0] && now() - begin + (now() - started) > settings.budgetMs) break;
    }
    for (const one of series) {
        if (one.failed) continue;
        for (const { x, times } of one.points.filter(({ failed }) => !failed))
            report({
                row: [one.case, one.subject, x, median(times), Math.min(...times), Math.max(...times), times.length],
            });
    }
}
