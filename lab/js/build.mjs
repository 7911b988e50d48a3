// Builds `build/study.mjs`: the study and all libraries in one module, bundled for browsers. Every engine runs this file, so
// that the libraries' own code is measured: in Node, several would delegate to node:crypto.
import { readFileSync, mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";
import esbuild from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));

/** Builds sjcl as its own Makefile does, with the hashes that are missing in its build on npm. */
function sjcl() {
    const parts = [
        "sjcl",
        "bitArray",
        "codecHex",
        "codecBytes",
        "sha256",
        "sha512",
        "sha1",
        "ripemd160",
        "hmac",
        "pbkdf2",
        "exports",
    ];
    const sources = parts.map((part) => readFileSync(path.join(here, `node_modules/sjcl/core/${part}.js`), "utf8"));
    mkdirSync(path.join(here, "build"), { recursive: true });
    writeFileSync(path.join(here, "build/sjcl.cjs"), sources.join("\n"));
}

export async function build(entry = "study.mjs", outfile = "build/study.mjs") {
    sjcl();
    await esbuild.build({
        absWorkingDir: here,
        entryPoints: [entry],
        outfile,
        bundle: true,
        format: "esm",
        platform: "browser",
        target: "es2022",
        // Libraries that detect Node do not find it, and use their own code.
        inject: ["browser.mjs"],
        alias: {
            buffer: "./buffer.mjs",
            stream: "stream-browserify",
            vm: "./nothing.mjs",
            fs: "./nothing.mjs",
            path: "./nothing.mjs",
        },
        banner: { js: "globalThis.self ??= globalThis; globalThis.global ??= globalThis;" },
        external: ["node:*"],
        loader: { ".wasm": "binary" },
        logLevel: "warning",
        logOverride: { "direct-eval": "silent" },
    });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
