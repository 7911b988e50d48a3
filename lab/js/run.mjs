// Runs the whole study: `node run.mjs [--quick] [--busy] [--engine NAME]… [--suite NAME]… [--subject NAME]… [--seed N]
// [--folder PATH]`. `make lab-js` also installs the dependencies before and draws the graphs afterwards. Writes one file of results
// for each engine, in the format of lab/README.md: in lab/results, or in target/lab/quick/results for a quick run.
import { execFileSync } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { interval, median, seeded } from "./bootstrap.mjs";
import { expected, minutes } from "./expected.mjs";
import { LIMIT, load, percent, watch } from "./load.mjs";
import { chosen as choose, parsed, plan as planned } from "./options.mjs";
import { Random } from "./random.mjs";
import { outdated, versions, write } from "./results.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const options = parsed(process.argv.slice(2));
const seed = options.seed ? Number(options.seed) : Math.floor(Math.random() * 2 ** 32);
const plan = planned(options);
const say = (text) => console.error(text);

const wanted = (names, name) => !names || names.includes(name);

/** Returns the jobs of an engine: one for each library and hash, and for each other curve. */
async function listed(session, report) {
    const jobs = [];
    const receive = (message) => {
        if (message.job) jobs.push(message.job);
        else report(message);
    };
    await session.run({ task: "list", points: plan.points, seed }, receive);
    return jobs.filter((job) => wanted(options.suite, job.suite) && wanted(options.subject, job.library));
}

/**
 * Returns the jobs of a pass in random order. Rivals, which have the same case, follow each other, so that whatever happens to the
 * machine in the course of a run happens to all of them.
 */
function ordered(jobs, pass) {
    const random = new Random(seeded(seed, `pass ${pass}`));
    const cases = [...new Set(jobs.map((job) => job.case))];
    return random.shuffled(cases).flatMap((name) => random.shuffled(jobs.filter((job) => job.case === name)));
}

/** Collects the trials of all processes. */
class Trials {
    #curves = new Map();
    stopped = [];
    refused = [];

    static #key = (job) => JSON.stringify([job.case, job.subject]);

    /** Returns the points that a job has in a pass: those that all passes before have measured. */
    points(job, pass) {
        const all = plan.points[job.suite];
        return pass === 0 ? all : all.filter((x) => this.#curves.get(Trials.#key(job))?.get(x)?.length === pass);
    }

    add(job, pass, { x, times }) {
        const key = Trials.#key(job);
        if (!this.#curves.has(key)) this.#curves.set(key, new Map());
        const points = this.#curves.get(key);
        if (pass === 0) points.set(x, []);
        points.get(x).push(times);
    }

    stop(job, stopped) {
        this.stopped.push({ case: job.case, subject: job.subject, ...stopped });
    }

    /** Removes a curve: of a library that is wrong once, no time is kept. */
    refuse(job, refused) {
        this.#curves.delete(Trials.#key(job));
        this.refused.push({ case: job.case, subject: job.subject, ...refused });
        say(`  refused: ${JSON.stringify(this.refused.at(-1))}`);
    }

    rows() {
        return [...this.#curves].flatMap(([key, points]) => {
            const [name, subject] = JSON.parse(key);
            return [...points]
                .filter(([, processes]) => processes.length === plan.passes)
                .map(([x, processes]) => {
                    const times = processes.flat();
                    const [low, high] = interval(processes, seeded(seed, `${name} ${subject} ${x}`));
                    const [least, most] = [Math.min(...times), Math.max(...times)];
                    return [name, subject, x, median(times), least, most, times.length, low, high, processes];
                });
        });
    }
}

/** Measures all jobs of an engine in several passes, each in a process of its own. */
async function measure(engine) {
    const found = { absent: [], refused: [], subjects: [], loads: [], seconds: {} };
    let session = await engine.open();
    try {
        const jobs = await listed(session, (message) => {
            if (message.absent) found.absent.push(message.absent);
            if (message.refused) found.refused.push(message.refused);
            if (message.library) found.subjects.push(message.library);
            if (message.clock) found.clock = message.clock;
        });
        const trials = new Trials();
        for (let pass = 0; pass < plan.passes; pass++) {
            const [began, others] = [Date.now(), watch()];
            for (const job of ordered(jobs, pass)) {
                const points = trials.points(job, pass);
                if (!points.length) continue;
                const begin = Date.now();
                try {
                    await session.run(
                        {
                            task: "measure",
                            job,
                            points: { ...plan.points, [job.suite]: points },
                            seed: seeded(seed, `${job.case} ${job.subject} ${pass}`),
                            trials: plan.trials,
                            trialMs: plan.trialMs,
                            // The first pass decides where a curve ends.
                            limitMs: pass === 0 ? plan.limitMs[job.suite] : Number.MAX_VALUE,
                        },
                        ({ times, stopped, refused }) => {
                            if (times) trials.add(job, pass, times);
                            if (stopped) trials.stop(job, stopped);
                            if (refused) trials.refuse(job, refused);
                        },
                    );
                } catch (error) {
                    // A process that crashes or hangs is a result of its library. Others need a new session.
                    trials.refuse(job, { why: error.message });
                    session.close();
                    session = await engine.open();
                }
                found.seconds[job.suite] = (found.seconds[job.suite] ?? 0) + (Date.now() - begin) / 1000;
            }
            found.loads.push(Number(Math.max(0, others()).toFixed(3)));
            const seconds = Math.round((Date.now() - began) / 1000);
            say(`  pass ${pass + 1} of ${plan.passes}: ${seconds} s, other programs took ${percent(found.loads.at(-1))} of a processor`);
        }
        found.refused.push(...trials.refused);
        return { ...found, stopped: trials.stopped, rows: trials.rows() };
    } finally {
        session.close();
    }
}

const before = await load();
if (before > LIMIT) {
    const busy = `this machine is busy: other programs take ${percent(before)} of a processor`;
    if (!options.busy) {
        say(`${busy}. End them, or measure nevertheless with \`make lab-js BUSY=1\`, which marks the results.`);
        process.exit(1);
    }
    say(`${busy}. The results are marked.`);
}
const chosen = choose(options);
const began = Date.now();
// The results of one run have the same name, so that a page cannot mix them with those of another.
const run = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}-${seed.toString(16).padStart(8, "0")}`;
say(`run ${run}: about ${minutes(expected(chosen, options, plan))} minutes are expected`);
await build();
const commit = execFileSync("git", ["describe", "--always", "--dirty"], { cwd: here, encoding: "utf8" }).trim();
const failures = [];
const files = [];
for (const engine of chosen) {
    const version = engine.here() ? engine.version() : undefined;
    if (!version) {
        failures.push(`${engine.name} is not installed: ${engine.program}`);
        say(failures.at(-1));
        continue;
    }
    say(`${engine.name} ${version}`);
    try {
        const begin = Date.now();
        const result = await measure(engine);
        const loads = [before, ...result.loads];
        const busy = Math.max(...loads) > LIMIT;
        const settings = { quick: options.quick, busy, seed, loads, seconds: result.seconds, ...plan };
        const head = { run, engine: { name: engine.name, version }, commit, versions: versions(), settings };
        const file = write(options.folder, { ...head, ...result });
        files.push(file);
        const seconds = Math.round((Date.now() - begin) / 1000);
        say(`  ${seconds} s, ${result.rows.length} rows${busy ? " of a busy machine" : ""}: ${path.relative(process.cwd(), file)}`);
    } catch (error) {
        failures.push(`${engine.name}: ${error.message}`);
        say(failures.at(-1));
    }
}
// The page shows one run: the results of the one before are in git's history.
if (files.length) outdated(options.folder, files);
say(`${minutes((Date.now() - began) / 1000)} minutes on ${os.cpus().length} processors`);
if (failures.length) process.exit(1);
