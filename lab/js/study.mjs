// The study, which runs in every engine: `run(plan, report)`. Plans and reports are JSON, so that they can be sent.
//
//     plan: {
//         task: 'list', which reports a { job } for each curve that this engine can have, 'check', which checks digests, or
//               'measure', which measures one job;
//         job: { suite, case, subject, library };
//         points: { hashes: [SIZE…], pbkdf2: [ITERATIONS…], … };
//         seed, trials, trialMs, limitMs }
import { ADAPTERS } from "./adapters/index.mjs";
import { measure, resolution } from "./trials.mjs";

const message = (error) => String(error?.message ?? error);

/** Returns the libraries that this engine can load, and reports the others. */
async function loaded(adapters, names, report) {
    const libraries = [];
    for (const name of names) {
        try {
            const { kind, absent, load } = (await adapters[name]()).default;
            const why = absent?.();
            if (why) report({ absent: { subject: name, why } });
            else libraries.push({ name, kind, library: await load() });
        } catch (error) {
            report({ refused: { subject: name, why: `does not load: ${message(error)}` } });
        }
    }
    return libraries;
}

// Suites are loaded like libraries, only where they are needed. Each returns its series: see trials.mjs.
const SUITES = {
    async hashes(libraries, { hashes: sizes }) {
        const { conversions, hashes } = await import("./suites/hashes.mjs");
        return [...hashes(libraries, sizes), ...conversions(libraries, sizes)];
    },
    async pbkdf2(libraries, { pbkdf2: iterations }) {
        return (await import("./suites/keys.mjs")).pbkdf2(libraries, iterations);
    },
    async keys(libraries, { keys: counts }) {
        return (await import("./suites/keys.mjs")).keys(libraries, counts);
    },
    async trees(libraries, { trees: sizes }) {
        return (await import("./suites/trees.mjs")).trees(libraries, sizes);
    },
    async pool(libraries, { pool: sizes }, { engine }) {
        return (await import("./suites/pool.mjs")).pools(libraries, sizes, engine.mksum);
    },
    async streams(libraries, { streams: counts }, { seed }) {
        return (await import("./suites/streams.mjs")).streams(libraries, counts, seed);
    },
    async memory(libraries, { memory: counts }, { engine }) {
        return (await import("./suites/streams.mjs")).memory(libraries, counts, engine.bytesUsed);
    },
};

/** Reports a job for each curve, and the libraries. */
async function list(libraries, plan, engine, report) {
    report({ clock: { stepMs: resolution() } });
    for (const one of libraries) {
        report({ library: { subject: one.name, kind: one.kind } });
        for (const [suite, series] of Object.entries(SUITES))
            for (const { case: name, subject } of await series([one], plan.points, { engine, seed: plan.seed }))
                report({ job: { suite, case: name, subject, library: one.name } });
    }
}

/** Checks every digest at a few points, without timing. */
async function check(libraries, plan, engine, report) {
    for (const [suite, series] of Object.entries(SUITES)) {
        if (suite === "memory") continue;
        for (const one of await series(libraries, plan.points, { engine, seed: plan.seed }))
            for (const point of one.points) {
                const where = { case: one.case, subject: one.subject, x: point.x };
                try {
                    const { call, argument, wrong } = await point.start();
                    const why = await wrong(await call(argument));
                    if (why) throw new Error(why);
                    report({ checked: where });
                } catch (error) {
                    report({ refused: { ...where, why: message(error) } });
                }
                await report({});
            }
    }
}

/** Measures one job: one library, and of it one hash or one other curve. */
async function job(libraries, plan, engine, report) {
    const { suite, case: name, subject } = plan.job;
    const series = await SUITES[suite](libraries, plan.points, { engine, seed: plan.seed });
    const one = series.find((found) => found.case === name && found.subject === subject);
    if (one?.sample) await sample(one, report);
    else if (one) await measure(one, plan, report);
}

/** Takes one sample of each point, which is not a time. */
async function sample(series, report) {
    for (const x of series.points)
        try {
            report({ times: { x, times: [await series.sample(x)] } });
        } catch (error) {
            report({ stopped: { x, why: message(error) } });
            break;
        }
}

/**
 * Runs a plan. `engine.bytesUsed()` returns the memory in use, if the engine knows it; `engine.mksum()` imports the published
 * package.
 */
export async function run(plan, report, engine = {}, adapters = ADAPTERS) {
    const libraries = await loaded(adapters, plan.job ? [plan.job.library] : Object.keys(adapters), report);
    await { list, check, measure: job }[plan.task](libraries, plan, engine, report);
    await report({ done: true });
}
