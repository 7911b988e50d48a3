// The study, which runs in every engine: `run(plan, report)`. Plans and reports are JSON, so that they can be sent.
//
//     plan: {
//         suites: some of 'hashes', 'pbkdf2', 'keys', 'trees', 'pool', 'streams'; or ['memory'], or ['check'];
//         sizes, iterations, keys, trees, files, streams: their points;
//         subjects: all if absent; seed; trialMs; rounds: [least, most];
//         limitMs, leastMs, budgetMs: { SUITE: milliseconds } }
import { ADAPTERS } from "./adapters/index.mjs";
import { conversions, hashes } from "./suites/hashes.mjs";
import { keys, pbkdf2 } from "./suites/keys.mjs";
import { pools } from "./suites/pool.mjs";
import { memory, streams, ways } from "./suites/streams.mjs";
import { trees } from "./suites/trees.mjs";
import { measure, resolution } from "./trials.mjs";

/** Returns the libraries that this engine can load, and reports the others. */
async function loaded(adapters, report) {
    const libraries = [];
    for (const { name, kind, absent, load } of adapters) {
        const why = absent?.();
        if (why) {
            report({ absent: { subject: name, why } });
            continue;
        }
        try {
            libraries.push({ name, kind, library: await load() });
        } catch (error) {
            report({ refused: { subject: name, why: `does not load: ${error?.message ?? error}` } });
        }
    }
    return libraries;
}

const SUITES = {
    hashes: (libraries, plan) => [...hashes(libraries, plan.sizes), ...conversions(libraries, plan.sizes)],
    pbkdf2: (libraries, plan) => pbkdf2(libraries, plan.iterations),
    keys: (libraries, plan) => keys(libraries, plan.keys),
    trees: (libraries, plan) => trees(libraries, plan.trees),
    pool: (libraries, plan, mksum) => pools(libraries, plan.files, mksum),
    streams: (libraries, plan) => streams(libraries, plan.streams, plan.seed),
};

/** Checks every digest at a few points, without timing. */
async function check(series, report) {
    for (const one of series)
        for (const point of one.points) {
            try {
                const { call, argument, wrong } = await point.start();
                const why = await wrong(await call(argument));
                if (why) throw new Error(why);
                report({ checked: { case: one.case, subject: one.subject, x: point.x } });
            } catch (error) {
                report({
                    refused: { case: one.case, subject: one.subject, x: point.x, why: String(error?.message ?? error) },
                });
            }
            await report({});
        }
}

/** Runs a plan. `engine.bytesUsed()` returns the memory in use, if known; `engine.mksum()` imports the published package. */
export async function run(plan, report, engine = {}, adapters = ADAPTERS) {
    const chosen = adapters.filter(({ name }) => !plan.subjects || plan.subjects.includes(name));
    const libraries = await loaded(chosen, report);
    await report({ subjects: libraries.map(({ name, kind }) => ({ subject: name, kind })) });
    const mksum = await engine.mksum?.();
    report({ clock: { stepMs: resolution() } });
    for (const suite of plan.suites) {
        if (suite === "check") {
            for (const series of Object.values(SUITES)) await check(series(libraries, plan, mksum), report);
        } else if (suite === "memory") {
            for (const way of ways(libraries).filter(({ subject }) => subject === plan.way)) {
                for (const count of plan.streams) {
                    try {
                        const used = await memory(way, count, engine.bytesUsed);
                        report({ row: ["memory", way.subject, count, used, used, used, 1] });
                    } catch (error) {
                        report({
                            refused: {
                                case: "memory",
                                subject: way.subject,
                                x: count,
                                why: String(error?.message ?? error),
                            },
                        });
                        break;
                    }
                }
            }
        } else {
            const settings = {
                ...plan,
                budgetMs: plan.budgetMs[suite],
                limitMs: plan.limitMs[suite],
                leastMs: plan.leastMs[suite],
            };
            await measure(SUITES[suite](libraries, plan, mksum), settings, report);
        }
    }
    await report({ done: true });
}

/** Returns the subjects of the memory suite, each of which needs its own process. */
export async function memorySubjects() {
    return ways(await loaded(ADAPTERS, () => {})).map(({ subject }) => subject);
}
