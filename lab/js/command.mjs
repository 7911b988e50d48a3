// The study in an engine that is a command: `node command.mjs PLAN`, where PLAN is JSON; reports are lines of JSON.
import { run } from "./build/study.mjs";

const collect = globalThis.Bun ? () => Bun.gc(true) : globalThis.gc;
const engine = {
    mksum: () => import("../../bindings/js/dist/index.js"),
    async bytesUsed() {
        // Twice: what the first collection lets go of, the second one finds gone.
        for (let turn = 0; turn < 2; turn++) {
            collect?.();
            await new Promise((later) => setTimeout(later, 20));
        }
        return process.memoryUsage().rss;
    },
};

await run(
    JSON.parse(process.argv[2]),
    (said) => {
        if (Object.keys(said).length) console.log(JSON.stringify(said));
    },
    engine,
);
process.exit(0);
