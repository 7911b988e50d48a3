// Builds `build/study/`: the study, and each library in a file of its own that only its processes load, bundled for browsers. Every
// engine runs these files, so that the libraries' own code is measured: in Node, several would delegate to node:crypto.
import { existsSync, readFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
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
    const core = path.join(here, "node_modules/sjcl/core");
    const sources = existsSync(core) ? parts.map((part) => readFileSync(path.join(core, `${part}.js`), "utf8")) : [missing("sjcl")];
    mkdirSync(path.join(here, "build"), { recursive: true });
    writeFileSync(path.join(here, "build/sjcl.cjs"), sources.join("\n"));
}

/** A module that throws: only the library that needs the package is missing in the study then. */
const missing = (name) => `module.exports = null;\nthrow new Error(${JSON.stringify(`the package ${name} is not installed`)});`;

const ADAPTERS = /^(adapters|test)[\\/]/;

/** Replaces packages that adapters import, but that are not installed. */
const MISSING = {
    name: "missing packages",
    setup(build) {
        build.onResolve({ filter: /^[^./]/ }, async ({ path: name, pluginData, importer, ...more }) => {
            if (pluginData === MISSING || !ADAPTERS.test(path.relative(here, importer))) return undefined;
            const { errors } = await build.resolve(name, { ...more, importer, pluginData: MISSING });
            return errors.length ? { path: name, namespace: "missing" } : undefined;
        });
        build.onLoad({ filter: /.*/, namespace: "missing" }, ({ path: name }) => ({ contents: missing(name) }));
    },
};

/** Builds an entry with all libraries, each in a file of its own, in build/NAME. */
export async function build(entry = "study.mjs") {
    sjcl();
    const folder = path.join("build", path.basename(entry, ".mjs"));
    rmSync(path.join(here, folder), { recursive: true, force: true });
    await esbuild.build({
        absWorkingDir: here,
        entryPoints: [entry],
        outdir: folder,
        outExtension: { ".js": ".mjs" },
        splitting: true,
        bundle: true,
        format: "esm",
        platform: "browser",
        target: "es2022",
        plugins: [MISSING],
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
