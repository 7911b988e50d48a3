// build.js [face]: compiles the engine for WebAssembly, with SIMD and without, and the TypeScript face, into dist/.
// `face`: only the TypeScript, over the modules of the last build.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { compress as pack } from "lzma1";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const workspace = resolve(root, "../..");
const target = join(process.env.CARGO_TARGET_DIR ?? join(workspace, "target"), "js");

/** The modules: what they hold, and with which instructions. */
const KINDS = { simd: "+simd128", scalar: "-simd128" };

/**
 * Without bulk memory: a small copy is a call into the engine with it, and some loads and stores otherwise, so that a short
 * message takes a third less time.
 */
const FEATURES = "+mutable-globals,+sign-ext,+nontrapping-fptoint";

/** Where a panic happened says nothing of this machine, so that every machine builds the same bytes. */
const HOME = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
const REMAP = [`--remap-path-prefix=${HOME}/registry/src/=`, `--remap-path-prefix=${workspace}/=`];

/** The families of hashes: each is a feature of the engine and an entry of its own, with these hashes. */
const FAMILIES = {
    md5: ["md5"],
    sha1: ["sha1"],
    sha2: ["sha224", "sha256", "sha384", "sha512", "sha512-224", "sha512-256"],
    blake2: ["blake2s", "blake2b"],
    blake3: ["blake3"],
    sha3: ["sha3-224", "sha3-256", "sha3-384", "sha3-512", "keccak256"],
    ripemd160: ["ripemd160"],
};

/** What modules there are, and what cargo is told for each. */
const only = (...features) => ["--no-default-features", "--features", features.join()];
const CONTENTS = { all: [], hashes: only(...Object.keys(FAMILIES)) };
for (const family in FAMILIES) CONTENTS[family] = only(family);

const path = (content, kind) => join(target, `${content}.${kind}.wasm`);

/**
 * A crate as a module: returns where it is. Binaryen's wasm-opt was no gain: the same speed, and modules 3 % longer when
 * packed.
 */
function compile(crate, kind, options = []) {
    const folder = join(target, kind);
    // Between flags: paths may have spaces.
    const flags = [...REMAP, "-C", "target-cpu=mvp", "-C", `target-feature=${FEATURES},${KINDS[kind]}`].join("\x1f");
    execFileSync("cargo", [
        "build", "--quiet", "--package", crate, "--profile", "wasm", "--target", "wasm32-unknown-unknown",
        "--target-dir", folder, ...options,
    ], { cwd: workspace, stdio: "inherit", env: { ...process.env, CARGO_ENCODED_RUSTFLAGS: flags } });
    return join(folder, "wasm32-unknown-unknown/wasm", `${crate.replaceAll("-", "_")}.wasm`);
}

/** Bytes as a source like the others. */
function source(name, bytes) {
    return `export const ${name}: string =\n    "${Buffer.from(bytes).toString("base64")}";\n`;
}

/** A module so: packed by LZMA, since base64 hides from gzip what repeats. */
function inline(content, kind) {
    writeFileSync(path(content, kind).replace(/wasm$/, "ts"), source("packed", pack(readFileSync(path(content, kind)), 9)));
}

const inlined = (content, kind) => readFileSync(path(content, kind).replace(/wasm$/, "ts"), "utf8");

const unpacker = join(target, "unpacker.ts");
if (process.argv[2] !== "face") {
    for (const kind in KINDS) {
        for (const content in CONTENTS) {
            copyFileSync(compile("mksum-js", kind, CONTENTS[content]), path(content, kind));
            inline(content, kind);
        }
    }
    // It runs everywhere.
    writeFileSync(unpacker, source("unpacker", readFileSync(compile("mksum-unpack", "scalar"))));
}
copyFileSync(unpacker, join(root, "src/unpacker.ts"));
for (const kind in KINDS) writeFileSync(join(root, `src/${kind}.ts`), inlined("all", kind));
const dist = join(root, "dist");
rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--project", root], { stdio: "inherit" });

/** An entry's files in a folder of their own: what it imports, with those in `own` instead of the ones named so. */
function variant(name, entry, own) {
    const copied = new Set();
    const copy = (file) => {
        if (copied.has(file)) return;
        copied.add(file);
        for (const part of [file, file.replace(/js$/, "d.ts")]) {
            const text = own[part] ?? readFileSync(join(dist, part), "utf8");
            writeFileSync(join(dist, name, part), text);
            for (const [, imported] of text.matchAll(/"\.\/([\w-]+\.js)"/g)) copy(imported);
        }
    };
    mkdirSync(join(dist, name));
    copy(entry);
}

const read = (file) => readFileSync(join(dist, file), "utf8");

variant("fetch", "index.js", { "source.js": read("source-fetch.js"), "source.d.ts": read("source-fetch.d.ts") });
for (const kind in KINDS) copyFileSync(path("all", kind), join(dist, "fetch", `${kind}.wasm`));

/** Without its types. */
const script = (content, kind) => inlined(content, kind).replace(": string", "");
const modules = (content) => ({ "simd.js": script(content, "simd"), "scalar.js": script(content, "scalar") });

/** The table of hashes with these rows. */
function rows(file, names) {
    return read(file).replace(/^\s+(?:readonly )?"?([\w-]+)"?: .*\n/gm, (row, name) => (names.includes(name) ? row : ""));
}

variant("hashes", "hashes.js", modules("hashes"));
for (const [family, names] of Object.entries(FAMILIES)) {
    const table = { "table.js": rows("table.js", names), "table.d.ts": rows("table.d.ts", names) };
    variant(family, `${family}.js`, { ...modules(family), ...table });
}

// Nobody imports these from here.
for (const file of ["source-fetch", ...Object.keys(FAMILIES)]) {
    for (const ending of ["js", "d.ts"]) rmSync(join(dist, `${file}.${ending}`));
}
