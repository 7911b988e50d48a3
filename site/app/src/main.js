// The page: starts the engine and connects the workspace with the parts of the page.
import { start } from "./engine.js";
import { byId, make } from "./page/dom.js";
import { offerExample } from "./page/example.js";
import { showFormats } from "./page/formats-panel.js";
import { takeFiles } from "./page/intake.js";
import { showJobs } from "./page/jobs.js";
import { showKnown } from "./page/known-panel.js";
import { showProofs } from "./page/proofs.js";
import { showResults } from "./page/results.js";
import { Workspace } from "./workspace.js";

const workspace = new Workspace();
// Files are taken at once, and hashed when the engine is ready.
const ready = start();
showKnown(workspace);
showJobs(workspace);
showResults(workspace);
showProofs(workspace);
takeFiles(workspace, ready);
offerExample(workspace, ready);
try {
    // Later the page asks its server only for the parser of sums, when there is one to read for the first time.
    await ready;
    await showFormats(workspace);
    // For tests, and for those who look at the page from the console.
    Object.assign(window, { mksum: { workspace, workers: async () => (await start()).size } });
    byId("app").dataset["state"] = "ready";
} catch (error) {
    byId("app").dataset["state"] = "failed";
    byId("app").prepend(make("p", { class: "notice", role: "alert" }, `The page cannot start: ${error instanceof Error ? error.message : String(error)}`));
}
