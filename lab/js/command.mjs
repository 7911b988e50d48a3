// Runs one plan of the study in a command-line engine: `node command.mjs PLAN`, where PLAN is JSON. Reports are lines of JSON.
import { run } from "./build/study/study.mjs";

const collect = globalThis.Bun ? () => Bun.gc(true) : globalThis.gc;
const engine = {
    mksum: () => import("../../bindings/js/dist/index.js"),
    async bytesUsed() {
        // Twice, because the second collection frees memory that the first one released.
        for (let turn = 0; turn < 2; turn++) {
            collect?.();
            await new Promise((later) => setTimeout(later, 20));
        }
        return process.memoryUsage().rss;
    },
};

await run(
    JSON.parse(process.argv[2]),
    (message) => {
        if (Object.keys(message).length) console.log(JSON.stringify(message));
    },
    engine,
);
process.exit(0);
