// The jobs that run: their progress with rate and time left, and their buttons to cancel.
import { counted, duration, size } from "../text/sizes.js";
import { announce } from "./announce.js";
import { button, byId, make } from "./dom.js";

/** The time between two updates of a job's text, in milliseconds. */
const UPDATE = 200;

/** @typedef {import("../hashing/job.js").Job} Job */

/** Shows the jobs of a workspace. @param {import("../workspace.js").Workspace} workspace */
export function showJobs(workspace) {
    /** @type {Map<Job, HTMLElement>} */
    const rows = new Map();
    const list = byId("jobs");
    workspace.addEventListener("change", () => {
        for (const job of workspace.jobs) {
            if (rows.has(job)) continue;
            const own = row(job);
            rows.set(job, own);
            list.append(own);
            if (job.total > 1 << 26) announce(`${job.title}, ${size(job.total)}`);
        }
        for (const [job, own] of rows) {
            if (workspace.jobs.has(job)) continue;
            // A button that has the focus goes away: the results follow.
            if (own.contains(document.activeElement)) byId("results-title").focus();
            own.remove();
            rows.delete(job);
        }
    });
}

/** @param {Job} job */
function row(job) {
    const bar = make("progress", { max: 1, value: 0, "aria-label": job.title });
    const text = make("span", { class: "job-text" }, "Starting …");
    const cancel = button("Cancel", () => {
        job.cancel();
        announce(`${job.title}: cancelled`);
    }, { "aria-label": `Cancel: ${job.title}` });
    let last = 0;
    job.addEventListener("progress", () => {
        const now = performance.now();
        if (now - last < UPDATE) return;
        last = now;
        bar.value = job.total > 0 ? job.done / job.total : 1;
        text.textContent = progressText(job);
    });
    return make("div", { class: "job card" }, make("div", { class: "job-head" }, make("strong", {}, job.title), cancel), bar, text);
}

/** Returns the progress of a job: `1.2 GB of 4.3 GB, 512 MB/s, 6 s left`. @param {Job} job */
export function progressText(job) {
    const { done, total, rate, left } = job;
    const parts = [`${size(done)} of ${total < 1000 ? counted(total, "byte") : size(total)}`];
    if (rate) parts.push(`${size(rate)}/s`);
    if (left !== undefined && done < total) parts.push(`${duration(left)} left`);
    return parts.join(", ");
}
