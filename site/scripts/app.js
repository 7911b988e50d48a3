// The application that hashes, verifies and repairs, built by its own build.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { source } from "./output.js";

const folder = path.join(source, "app");
/** The application's own page, for its tests: the site has a frame of its own for it, with the same policy. */
const PAGE = "index.html";

/** The content of the application's page. */
export const fragment = () => readFileSync(path.join(folder, "page.html"), "utf8");

/** Builds the application into the site, and returns the policy that its page needs. */
export function build(output) {
    const scratch = mkdtempSync(path.join(tmpdir(), "mksum-app-"));
    try {
        execFileSync(process.execPath, [path.join(folder, "build.js"), scratch], { stdio: "inherit" });
        const policy = readFileSync(path.join(scratch, PAGE), "utf8").match(/Content-Security-Policy" content="([^"]*)"/)[1];
        cpSync(scratch, output, { recursive: true, filter: (name) => path.relative(scratch, name) !== PAGE });
        return policy;
    } finally {
        rmSync(scratch, { recursive: true, force: true });
    }
}
