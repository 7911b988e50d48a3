// How much of the processors other programs take: `node load.mjs` prints it, and fails if the machine is busy.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** More of one processor than this disturbs measurements. A quiet machine takes 1 to 3 %. */
export const LIMIT = 0.1;
const WATCHED_MS = 2000;
const TICK_MS = 10; // Of /proc: USER_HZ is 100 on every architecture of Linux that Node runs on.

/** Returns the milliseconds that all processors together were busy: for programs, the system, or other guests of the machine. */
function busyMs() {
    const [user, nice, system, , , interrupts, soft, steal] = readFileSync("/proc/stat", "utf8")
        .match(/^cpu +(.*)$/m)[1]
        .split(" ")
        .map(Number);
    return TICK_MS * (user + nice + system + interrupts + soft + steal);
}

/** Returns the milliseconds of these processes, of all below them, and of those below them that have ended. */
function spentMs(roots) {
    const processes = new Map();
    for (const name of readdirSync("/proc")) {
        if (!/^\d+$/.test(name)) continue;
        try {
            // The name of a program, in brackets, may contain anything.
            const cells = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
            const ticks = cells.slice(11, 15).reduce((sum, cell) => sum + Number(cell), 0);
            processes.set(Number(name), { parent: Number(cells[1]), ticks });
        } catch {
            // The process has ended.
        }
    }
    const ours = (pid) => roots.includes(pid) || (processes.has(pid) && ours(processes.get(pid).parent));
    return TICK_MS * [...processes].reduce((sum, [pid, { ticks }]) => sum + (ours(pid) ? ticks : 0), 0);
}

/** Begins to watch. The returned function ends it, and returns the processors' time that others took, 1 for a whole processor. */
export function watch(own = [process.pid]) {
    const [began, busy, spent] = [performance.now(), busyMs(), spentMs(own)];
    return () => (busyMs() - busy - (spentMs(own) - spent)) / (performance.now() - began);
}

/** Watches for two seconds. */
export async function load(own) {
    const ended = watch(own);
    await new Promise((later) => setTimeout(later, WATCHED_MS));
    return ended();
}

export const percent = (share) => `${Math.round(100 * Math.max(0, share))} %`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const share = await load();
    console.log(`other programs take ${percent(share)} of a processor`);
    process.exitCode = share > LIMIT ? 1 : 0;
}
