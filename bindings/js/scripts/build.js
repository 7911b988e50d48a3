// build.js [face]: compiles the engine for WebAssembly, with SIMD and without, and the TypeScript face, into dist/.
// `face`: only the TypeScript, over the modules of the last build.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const workspace = join(root, "../..");
const target = join(process.env.CARGO_TARGET_DIR ?? join(workspace, "target"), "js");

/** The modules: what they hold, and with which instructions. */
const KINDS = { simd: "+simd128", scalar: "-simd128" };

/**
 * Without bulk memory: a small copy is a call into the engine with it, and some loads and stores otherwise, so that a short
 * message takes a third less time.
 */
const TARGET = "-C target-cpu=mvp -C target-feature=+mutable-globals,+sign-ext,+nontrapping-fptoint";
const CONTENTS = { all: [], hashes: ["--no-default-features"] };

const path = (content, kind) => join(target, `${content}.${kind}.wasm`);

/** The engine, compiled and then optimised again. */
function compile(content, kind) {
    const folder = join(target, kind);
    execFileSync("cargo", [
        "build", "--quiet", "--package", "mksum-js", "--profile", "wasm", "--target", "wasm32-unknown-unknown",
        "--target-dir", folder, ...CONTENTS[content],
    ], { cwd: workspace, stdio: "inherit", env: { ...process.env, RUSTFLAGS: `${TARGET},${KINDS[kind]}` } });
    execFileSync(process.execPath, [
        join(root, "node_modules/binaryen/bin/wasm-opt"), join(folder, "wasm32-unknown-unknown/wasm/mksum_js.wasm"), "-O3",
        "--strip-debug", "--strip-producers", "--enable-bulk-memory", "--enable-sign-ext", "--enable-mutable-globals",
        "--enable-nontrapping-float-to-int", "--enable-multivalue", "--enable-reference-types",
        ...(kind === "simd" ? ["--enable-simd"] : []), "-o", path(content, kind),
    ], { stdio: "inherit" });
}

/** A module as a source like the others. */
const inline = (content, kind) => {
    const base64 = readFileSync(path(content, kind)).toString("base64");
    return `export const base64: string =\n    "${base64}";\n`;
};

if (process.argv[2] !== "face") {
    for (const kind in KINDS) for (const content in CONTENTS) compile(content, kind);
}
for (const kind in KINDS) writeFileSync(join(root, `src/${kind}.ts`), inline("all", kind));
rmSync(join(root, "dist"), { recursive: true, force: true });
execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--project", root], { stdio: "inherit" });

const dist = join(root, "dist");

/** The same face in a folder of its own: only where its WebAssembly comes from differs. */
function variant(name, skipped) {
    const folder = join(dist, name);
    mkdirSync(folder);
    for (const file of readdirSync(dist)) {
        if (/\.(js|d\.ts)$/.test(file) && !skipped.test(file)) copyFileSync(join(dist, file), join(folder, file));
    }
    return folder;
}

const fetched = variant("fetch", /^(simd|scalar|source)\b/);
for (const ending of ["js", "d.ts"]) copyFileSync(join(dist, `source-fetch.${ending}`), join(fetched, `source.${ending}`));
for (const kind in KINDS) copyFileSync(path("all", kind), join(fetched, `${kind}.wasm`));

const hashes = variant("hashes", /^(simd\.js|scalar\.js|source-fetch|index|outboard|pool|proof|root|root-of|spec|worker|pieces|memory)\b/);
for (const kind in KINDS) {
    writeFileSync(join(hashes, `${kind}.js`), inline("hashes", kind).replace(": string", ""));
}
for (const ending of ["js", "d.ts"]) rmSync(join(dist, `source-fetch.${ending}`));
