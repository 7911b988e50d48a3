// serve.js [PORT]: serves the built site on this machine, for reading and for the tests.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createGzip } from "node:zlib";
import { output } from "./output.js";

const TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".wasm": "application/wasm",
    ".json": "application/json",
};

/** Returns a server of a folder, below the path `base`, which ends with a slash. */
export function serve(folder, { base = "/", port = 0, gzip = false } = {}) {
    const server = createServer((request, response) => {
        const { pathname } = new URL(request.url, "http://localhost");
        const name = decodeURIComponent(pathname);
        let file = path.join(folder, path.normalize(`/${name.slice(base.length)}`));
        const info = () => statSync(file, { throwIfNoEntry: false });
        if (name.startsWith(base) && info()?.isDirectory()) file = path.join(file, "index.html");
        if (!name.startsWith(base) || !info()?.isFile()) {
            response.writeHead(404, { "Content-Type": "text/plain" }).end("not found\n");
            return;
        }
        response.setHeader("Content-Type", TYPES[path.extname(file)] ?? "application/octet-stream");
        response.setHeader("Cache-Control", "no-cache");
        if (!gzip || !/text|json|svg|wasm/.test(response.getHeader("Content-Type"))) {
            createReadStream(file).pipe(response);
            return;
        }
        response.setHeader("Content-Encoding", "gzip");
        createReadStream(file).pipe(createGzip()).pipe(response);
    });
    return new Promise((ready) => {
        server.listen(port, "127.0.0.1", () => ready(server));
    });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const server = await serve(output, { port: Number(process.argv[2] ?? 8000), gzip: true });
    console.log(`http://localhost:${server.address().port}/`);
}
