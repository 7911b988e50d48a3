// A browser, and a server of the site below a path that is not the root.
import { existsSync } from "node:fs";
import { serve } from "../../scripts/serve.js";
import { output } from "./pages.js";

const BASE = "/x/mksum/";

/** Calls `use` with the browser that `launch` starts, and with the server of `folder` and its address, and ends both. */
export async function inBrowser(program, launch, use, { folder = output, gzip = false } = {}) {
    if (!existsSync(program)) throw new Error(`${program} is missing: scripts/need.sh installs chromium and firefox`);
    const server = await serve(folder, { base: BASE, gzip });
    try {
        const browser = await launch();
        try {
            await use({ browser, server, site: `http://127.0.0.1:${server.address().port}${BASE}` });
        } finally {
            await browser.close();
        }
    } finally {
        server.closeAllConnections();
        server.close();
    }
}
