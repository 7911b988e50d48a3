// Runs all suites in a page, and then sets `window.results` to the failures.
import * as suites from "../suites/all.js";
import * as assert from "./assert.js";

const tests = [];

async function lines(path) {
    const response = await fetch(`/workspace/${path}`);
    if (!response.ok) throw new Error(`${path}: status ${response.status}`);
    return (await response.text()).split(/\r?\n/).filter((line) => line && !line.startsWith("#"));
}

async function reference(kind, ...rest) {
    const body = JSON.stringify([kind, ...rest.map((value) => (value instanceof Uint8Array ? { bytes: [...value] } : value))]);
    const response = await fetch("/reference", { method: "POST", body });
    if (!response.ok) throw new Error(`reference: status ${response.status}`);
    return response.text();
}

for (const suite of Object.values(suites)) {
    suite({ test: (name, run) => tests.push({ name, run }), assert, lines, reference });
}

const failures = [];
for (const { name, run } of tests) {
    try {
        await run();
    } catch (error) {
        failures.push(`${name}: ${error?.stack ?? error}`);
    }
}
window.results = { tests: tests.length, failures };
