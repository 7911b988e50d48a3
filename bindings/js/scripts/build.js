// build.js: compiles the engine for WebAssembly, with SIMD and without, and the TypeScript face, into dist/.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const workspace = join(root, "../..");
const target = join(process.env.CARGO_TARGET_DIR ?? join(workspace, "target"), "js");

/** The engine, compiled with these target features and then optimised again. */
function wasm(name, features, cargo = []) {
    const folder = join(target, features.includes("+simd128") ? "simd" : "scalar");
    execFileSync("cargo", [
        "build", "--quiet", "--package", "mksum-js", "--profile", "wasm", "--target", "wasm32-unknown-unknown",
        "--target-dir", folder, ...cargo,
    ], { cwd: workspace, stdio: "inherit", env: { ...process.env, RUSTFLAGS: `-C target-feature=${features}` } });
    const built = join(folder, "wasm32-unknown-unknown/wasm/mksum_js.wasm");
    const optimised = join(target, `${name}.wasm`);
    execFileSync(process.execPath, [
        join(root, "node_modules/binaryen/bin/wasm-opt"), built, "-O3", "--strip-debug", "--strip-producers",
        "--enable-bulk-memory", "--enable-sign-ext", "--enable-mutable-globals", "--enable-nontrapping-float-to-int",
        "--enable-multivalue", "--enable-reference-types", ...(features.includes("+simd128") ? ["--enable-simd"] : []),
        "-o", optimised,
    ], { stdio: "inherit" });
    return optimised;
}

const inline = (path) => `export const base64: string =\n    "${readFileSync(path).toString("base64")}";\n`;

// `face`: only the TypeScript, over the modules of the last build.
const modules = process.argv[2] === "face"
    ? { simd: join(target, "simd.wasm"), scalar: join(target, "scalar.wasm") }
    : { simd: wasm("simd", "+simd128"), scalar: wasm("scalar", "-simd128") };

// The inlined modules are sources like the others.
for (const [name, path] of Object.entries(modules)) writeFileSync(join(root, `src/${name}.ts`), inline(path));
rmSync(join(root, "dist"), { recursive: true, force: true });
execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--project", root], { stdio: "inherit" });

// The same face over modules that are fetched: only where they come from differs.
const [dist, fetched] = [join(root, "dist"), join(root, "dist/fetch")];
mkdirSync(fetched);
for (const name of readdirSync(dist)) {
    if (/\.js$|\.d\.ts$/.test(name) && !/^(simd|scalar|source)/.test(name)) cpSync(join(dist, name), join(fetched, name));
}
for (const ending of ["js", "d.ts"]) copyFileSync(join(dist, `source-fetch.${ending}`), join(fetched, `source.${ending}`));
for (const ending of ["js", "d.ts"]) rmSync(join(dist, `source-fetch.${ending}`));
for (const [name, path] of Object.entries(modules)) copyFileSync(path, join(fetched, `${name}.wasm`));
