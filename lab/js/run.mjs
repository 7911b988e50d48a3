// The study, whole: `node run.mjs [--quick] [--minutes N] [--engine NAME]… [--suite NAME]… [--seed N] [--folder PATH]`. `make lab-js` installs what
// it needs first and draws the graphs afterwards. One file of results for each engine, in the format of lab/README.md.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { ENGINES } from './engines.mjs';
import { ITERATIONS, KEYS, SIZES, STREAMS } from './points.mjs';
import { write } from './results.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
    options: {
        quick: { type: 'boolean', default: false },
        minutes: { type: 'string' },
        engine: { type: 'string', multiple: true },
        suite: { type: 'string', multiple: true },
        seed: { type: 'string' },
        folder: { type: 'string', default: path.join(here, '../results') },
    },
});
const every = (items, step, always = []) => items.filter((item, index) => index % step === 0 || index === items.length - 1 || always.includes(item));
const seed = options.seed ? Number(options.seed) : Math.floor(Math.random() * 2 ** 32);
const chosen = ENGINES.filter(({ name }) => !options.engine || options.engine.includes(name));
const minutes = Number(options.minutes ?? (options.quick ? 5 : 23));
const suites = options.suite ?? ['hashes', 'pbkdf2', 'keys', 'streams', 'memory'];
// Shares of an engine's time.
const SHARES = { hashes: 0.65, pbkdf2: 0.12, keys: 0.05, streams: 0.1 };
const engineMs = (minutes * 60_000) / chosen.length;

const plan = {
    sizes: options.quick ? every(SIZES, 6, [16, 64, 1024, 65536, 1048576]) : SIZES,
    iterations: options.quick ? every(ITERATIONS, 8, [1000]) : ITERATIONS,
    keys: KEYS,
    streams: options.quick ? [1, 64, 1024] : STREAMS,
    seed,
    trialMs: options.quick ? 1 : 2,
    limitMs: options.quick ? { hashes: 60, pbkdf2: 60, keys: 200, streams: 500 } : { hashes: 200, pbkdf2: 200, keys: 500, streams: 1000 },
    rounds: options.quick ? [3, 3] : [3, 9],
    budgetMs: Object.fromEntries(Object.entries(SHARES).map(([suite, share]) => [suite, Math.round(share * engineMs)])),
};

const version = (name) => JSON.parse(readFileSync(path.join(here, 'node_modules', name, 'package.json'))).version;
const { dependencies } = JSON.parse(readFileSync(path.join(here, 'package.json')));
const versions = Object.fromEntries(Object.keys(dependencies).map((name) => [name, version(name)]));
const commit = execFileSync('git', ['describe', '--always', '--dirty'], { cwd: here, encoding: 'utf8' }).trim();

await build();
const { memorySubjects } = await import('./build/study.mjs');
const subjects = await memorySubjects();
const failures = [];
for (const engine of chosen) {
    const running = engine.here() ? engine.version() : undefined;
    if (!running) {
        failures.push(`${engine.name} is not here: ${engine.program}`);
        console.error(failures.at(-1));
        continue;
    }
    console.error(`${engine.name} ${running}`);
    const begin = Date.now();
    const result = { rows: [], refused: [], stopped: [], absent: [], subjects: [] };
    const heard = (said) => {
        if (said.row) result.rows.push(said.row);
        for (const kind of ['refused', 'stopped', 'absent']) if (said[kind]) result[kind].push(said[kind]);
        if (said.clock) result.clock ??= said.clock;
        if (said.subjects && !result.subjects.length) result.subjects = said.subjects;
        if (said.refused) console.error(`  refused: ${JSON.stringify(said.refused)}`);
        if (said.progress && /^round/.test(said.progress)) console.error(`  ${Math.round((Date.now() - begin) / 1000)} s: ${said.progress}`);
    };
    try {
        const timed = suites.filter((suite) => suite !== 'memory');
        if (timed.length) await engine.run({ ...plan, suites: timed }, heard);
        // Memory is asked of a fresh process each time, and told to nobody by Firefox.
        if (suites.includes('memory') && engine.name !== 'firefox')
            for (const way of subjects) {
                const said = (told) => (told.row || (told.refused && told.refused.case)) && heard(told);
                await engine.run({ ...plan, suites: ['memory'], way, subjects: [way.split(', ')[0]], streams: [64, 1024] }, said);
            }
    } catch (error) {
        failures.push(`${engine.name}: ${error.message}`);
        console.error(failures.at(-1));
        continue;
    }
    const file = write(options.folder, { ...result, engine: { name: engine.name, version: running }, plan, quick: options.quick, commit, versions, os });
    console.error(`  ${Math.round((Date.now() - begin) / 1000)} s, ${result.rows.length} rows: ${path.relative(process.cwd(), file)}`);
}
if (failures.length) process.exit(1);
