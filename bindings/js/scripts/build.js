// build.js [face]: compiles the engine to WebAssembly, with and without SIMD, and the TypeScript, into dist/.
// `face`: compiles only the TypeScript, and uses the modules of the last build.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transformSync } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const workspace = resolve(root, "../..");
const target = join(process.env.CARGO_TARGET_DIR ?? join(workspace, "target"), "js");

/** The builds of each module, and their instruction sets. */
const KINDS = { simd: "+simd128", scalar: "-simd128" };

/** What every engine has that has been updated since 2021; Rust's own library adds bulk memory, which makes no difference in speed. */
const FEATURES = "+mutable-globals,+sign-ext,+nontrapping-fptoint";

/** Removes this machine's paths from panic locations, so that every machine builds the same bytes. */
const HOME = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
const REMAP = [`--remap-path-prefix=${HOME}/registry/src/=`, `--remap-path-prefix=${workspace}/=`];

/** The families of hashes. Each is a feature of the engine and an entry of the package, with these hashes. */
const FAMILIES = {
    md5: ["md5"],
    sha1: ["sha1"],
    sha2: ["sha224", "sha256", "sha384", "sha512", "sha512-224", "sha512-256"],
    blake2: ["blake2s", "blake2b"],
    blake3: ["blake3"],
    sha3: ["sha3-224", "sha3-256", "sha3-384", "sha3-512", "keccak256"],
    ripemd160: ["ripemd160"],
};

/** The modules with SIMD, and cargo's options for each. Without SIMD there is one for all entries of the engine. */
const only = (...features) => ["--no-default-features", "--features", features.join()];
const CONTENTS = { all: [], hashes: only("hashers", ...Object.keys(FAMILIES)) };
for (const family in FAMILIES) {
    CONTENTS[family] = only("hashers", family);
    // Of the functions of one hash in the entry of everything: one message at a time, without hashers.
    CONTENTS[`small-${family}`] = only(family);
}
// Of the command, which Node runs: everything, and the parser of lists.
CONTENTS.cli = ["--features", "sums"];
/** Of the site, without SIMD: roots of streams in all formats, with the parser and pictures of its page, or what its element needs. */
const SCALAR = { all: CONTENTS.all, sums: only("sums"), published: only("published") };

const path = (content, kind) => join(target, `${content}.${kind}.wasm`);

/** Writes numbers in as few bytes as they need: the linker pads those that it fills in itself. */
const SHORT = ["-C", "link-arg=--compress-relocations"];

/**
 * Compiles a crate to a module and returns its path. Binaryen's wasm-opt makes the compressed modules 2 % smaller at best, for a package of
 * 100 MB.
 */
function compile(crate, kind, options = []) {
    const folder = join(target, kind);
    // The separator, because paths may contain spaces.
    const flags = [...REMAP, "-C", "target-cpu=mvp", "-C", `target-feature=${FEATURES},${KINDS[kind]}`, ...SHORT].join("\x1f");
    execFileSync("cargo", [
        "build", "--quiet", "--package", crate, "--profile", "wasm", "--target", "wasm32-unknown-unknown",
        "--target-dir", folder, ...options,
    ], { cwd: workspace, stdio: "inherit", env: { ...process.env, CARGO_ENCODED_RUSTFLAGS: flags } });
    return join(folder, "wasm32-unknown-unknown/wasm", `${crate.replaceAll("-", "_")}.wasm`);
}

/**
 * Returns a code of bytes as text: a frequent value is one character, any other is `}` or `~` and one character. `often` are the frequent
 * values in the order of the characters. Servers compress such texts by a tenth more than hex digits and by a quarter more than base64,
 * in which they find no repetitions. They have only ASCII characters that need no escape in scripts and pages.
 */
function codeOf(bytes) {
    const characters = Array.from({ length: 93 }, (_, at) => String.fromCharCode(32 + at)).filter((one) => !'"$<\\`'.includes(one));
    const counts = Array.from({ length: 256 }, () => 0);
    for (const byte of bytes) counts[byte]++;
    const values = [...counts.keys()].toSorted((one, other) => counts[other] - counts[one] || one - other);
    // A frequent value that is the code of a character is that character, which saves half a per cent with Brotli.
    const others = values.slice(0, characters.length);
    const take = (value) => others.splice(others.indexOf(value), 1)[0];
    const often = characters.map((one) => (others.includes(one.charCodeAt(0)) ? take(one.charCodeAt(0)) : undefined));
    // The most frequent of the others get digits and letters: Brotli's model of text takes them for alike.
    const isPlain = (at) => /[0-9A-Za-z]/.test(characters[at]);
    const free = [...often.keys()].filter((at) => often[at] === undefined);
    for (const at of [...free.filter(isPlain), ...free.filter((own) => !isPlain(own))]) often[at] = others.shift();
    const seldom = values.slice(characters.length).toSorted((one, other) => one - other);
    const texts = [];
    often.forEach((value, at) => (texts[value] = characters[at]));
    seldom.forEach((value, at) => (texts[value] = (at < characters.length ? "}" : "~") + characters[at % characters.length]));
    return { often, texts };
}

/** Encodes bytes as text, which begins with the frequent values, two hex digits each. */
function encode(bytes, { often, texts } = codeOf(bytes)) {
    return Buffer.from(often).toString("hex") + Array.from(bytes, (byte) => texts[byte]).join("");
}

/** Returns a module as TypeScript. */
const inlined = (content, kind = "simd", code) => `export const encoded: string =\n    "${encode(readFileSync(path(content, kind)), code)}";\n`;

/** Returns the same as a `Small` of `src/alone.ts`. */
const small = (...module) => inlined(...module).replace("encoded: string =", "small: import(\"./alone.js\").Small = { encoded:").replace(/;\n$/, " };\n");

/** The hashes of `mksum/extra` are a module of their own, so that nobody else loads them. */
const EXTRA = { simd: ["--features", "simd"], scalar: [] };

if (process.argv[2] !== "face") {
    for (const kind in KINDS) {
        copyFileSync(compile("mksum-js-extra", kind, EXTRA[kind]), path("extra", kind));
        const contents = kind === "simd" ? CONTENTS : SCALAR;
        for (const content in contents) copyFileSync(compile("mksum-js", kind, contents[content]), path(content, kind));
    }
}
// One code for all modules of the entry `mksum`: in codes of their own, what they have in common would be other text in each, a quarter of the
// entry with Brotli.
const smalls = Object.keys(FAMILIES).map((family) => `small-${family}`);
const shared = codeOf(Buffer.concat(["all", ...smalls].map((content) => readFileSync(path(content, "simd")))));
writeFileSync(join(root, "src/simd.ts"), inlined("all", "simd", shared));
for (const content of smalls) writeFileSync(join(root, `src/${content}.ts`), small(content, "simd", shared));
// The text follows when the worker is compiled.
writeFileSync(join(root, "src/worker-text.ts"), "export const script: string = \"\";\n");
const dist = join(root, "dist");
rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--project", root], { stdio: "inherit" });

/**
 * Writes the worker as text, for bundles of tools that do not know workers. It has no WebAssembly: the pool sends it.
 */
async function writeWorkerText() {
    const name = "worker-text.js";
    const built = await build({
        entryPoints: [join(dist, "worker.js")], bundle: true, minify: true, write: false, format: "iife", target: "es2022",
        plugins: [{
            name: "sent",
            setup: (own) => own.onResolve({ filter: /^\.\/source\.js$/ }, () => ({ path: join(dist, "source-sent.js") })),
        }],
    });
    writeFileSync(join(dist, name), `export const script = ${JSON.stringify(built.outputFiles[0].text)};\n`);
}
await writeWorkerText();

/** Files that stand in directories of entries alone. */
const COMMAND = ["cli", "cli-check", "cli-files", "cli-output", "cli-verify", "source-cli"];
const ELSEWHERE = [...COMMAND, "lists", "picture", "sums", "source-sums", "source-fetch", "source-sent", "extra", "extra-engine", ...Object.keys(FAMILIES)];

const read = (file) => readFileSync(join(dist, file), "utf8");
const imports = (text) => Array.from(text.matchAll(/"\.\/([\w-]+)\.js"/g), ([, name]) => name);

/**
 * Returns the files that entries need of their own, and their texts: the entries, those in `own`, which replace the package's, those that are
 * elsewhere alone, and all that import one of these. Names are without the ending.
 */
function needed(entries, ending, own) {
    const texts = new Map();
    const visit = (file) => {
        if (texts.has(file)) return;
        texts.set(file, own[`${file}.${ending}`] ?? read(`${file}.${ending}`));
        imports(texts.get(file)).forEach(visit);
    };
    entries.forEach(visit);
    const isOwn = (file) => entries.includes(file) || `${file}.${ending}` in own || ELSEWHERE.includes(file);
    const found = new Map([...texts].filter(([file]) => isOwn(file)));
    let before;
    do {
        before = found.size;
        for (const [file, text] of texts) if (imports(text).some((other) => found.has(other))) found.set(file, text);
    } while (found.size > before);
    return found;
}

/** Writes the types of an entry to its directory. Those that are the same there are taken from the package's own. */
function types(name, entry, own) {
    const found = needed([entry], "d.ts", own);
    for (const [file, text] of found) {
        const named = text.replace(/"\.\/([\w-]+)\.js"/g, (here, other) => (found.has(other) ? here : `"../${other}.js"`));
        writeFileSync(join(dist, name, `${file}.d.ts`), named);
    }
}

/**
 * Writes an entry as one file with its types to a directory of its own, or several that share what they have in common. Scripts in `own`
 * replace those of the same name; what does not import them is taken from the package's own, and `beside` from the directory.
 */
async function bundled(name, entries, own, beside) {
    mkdirSync(join(dist, name), { recursive: true });
    // Each entry has its own engine.
    const inside = needed(entries, "js", { "current.js": read("current.js"), ...own });
    await build({
        entryPoints: entries.map((entry) => join(dist, `${entry}.js`)), bundle: true, format: "esm", target: "es2022", platform: "neutral", external: ["node:*"],
        outdir: join(dist, name), splitting: entries.length > 1, chunkNames: "shared-[hash]", minifyWhitespace: true, minifySyntax: true,
        plugins: [{
            name: "own",
            setup: (one) => {
                one.onResolve({ filter: /^\.\// }, ({ path }) => {
                    const file = path.slice(2, -".js".length);
                    if (file === beside) return { path, external: true };
                    return inside.has(file) ? undefined : { path: `../${file}.js`, external: true };
                });
                one.onLoad({ filter: /\.js$/ }, ({ path }) => ({ contents: inside.get(basename(path, ".js")) }));
            },
        }],
    });
    for (const entry of entries) types(name, entry, own);
}

/** Writes an entry with its own module inside. */
async function inlinedEntry(name, scalar, own = {}) {
    const source = read("source.js").replace("./fetch/scalar.wasm", scalar);
    await bundled(name, [name], { "source.js": source, ...own }, "simd");
    writeFileSync(join(dist, name, "simd.js"), inlined(name).replace(": string", ""));
}

// The site also takes `pieces`.
await bundled("fetch", ["index", "worker", "pieces"], {
    "source.js": read("source-fetch.js"),
    // Its module is one for all.
    "alone-hashes.js": 'export * from "./hash.js";',
});
for (const kind in KINDS) copyFileSync(path("all", kind), join(dist, "fetch", `${kind}.wasm`));

/** Returns the table of hashes with only these names. */
function tableOf(file, names) {
    return read(file).replace(/^\s+(?:readonly )?"?([\w-]+)"?: .*\n/gm, (row, name) => (names.includes(name) ? row : ""));
}

// The command is no entry, and needs no types.
await bundled("cli", ["cli"], { "source.js": read("source-cli.js") });
for (const file of readdirSync(join(dist, "cli"))) if (file.endsWith(".d.ts")) rmSync(join(dist, "cli", file));
copyFileSync(path("cli", "simd"), join(dist, "cli/cli.wasm"));

// The site's parser and pictures, which are no entry either.
await bundled("sums", ["sums"], { "source.js": read("source-sums.js") });
copyFileSync(path("sums", "scalar"), join(dist, "sums/sums.wasm"));
for (const name of ["sums", "published"]) writeFileSync(join(dist, `sums/${name}-encoded.js`), inlined(name, "scalar").replace(": string", ""));

await inlinedEntry("extra", "./scalar.wasm");
copyFileSync(path("extra", "scalar"), join(dist, "extra/scalar.wasm"));
await inlinedEntry("hashes", "../fetch/scalar.wasm");
for (const [family, names] of Object.entries(FAMILIES)) {
    const table = { "table.js": tableOf("table.js", names), "table.d.ts": tableOf("table.d.ts", names) };
    await inlinedEntry(family, "../fetch/scalar.wasm", table);
}

/**
 * Writes the entry of everything, or that of logs, as one file, because Node takes as long for fifty files as for all of its work until the first digest. Beside
 * it are the modules and the workers, of which a bundler takes those that a program needs, and what other files share with it.
 */
async function writeWhole(name) {
    const beside = /^\.\/(small-\w+|errors|current|decoded|source|threads)\.js$/;
    const built = await build({
        entryPoints: [join(dist, `${name}.js`)], bundle: true, write: false, format: "esm", target: "es2022", platform: "neutral", external: ["node:*"],
        plugins: [{
            name: "beside",
            setup: (one) => one.onResolve({ filter: beside }, ({ path }) => ({ path, external: true, sideEffects: false })),
        }],
    });
    // With its spaces: without them, it would have no comments that say which calls have no side effects.
    writeFileSync(join(dist, `${name}.js`), built.outputFiles[0].text);
}
const WHOLE = ["index", "log"];
for (const name of WHOLE) await writeWhole(name);

// The types have the comments, and names stay as they are. Bundlers read the comments of these.
const COMMENTED = ["builtin.js", ...WHOLE.map((name) => `${name}.js`)];
for (const file of readdirSync(dist).filter((name) => name.endsWith(".js") && !COMMENTED.includes(name))) {
    writeFileSync(join(dist, file), transformSync(read(file), { target: "es2022", minifyWhitespace: true }).code);
}

// Types have no need of the modules, and programs none of files that are in entries alone.
const scripts = readdirSync(dist, { recursive: true }).filter((name) => name.endsWith(".js"));
const used = new Set([...COMMENTED, "worker.js"]);
const visit = (text) => {
    for (const [, name] of text.matchAll(/"\.\.?\/([\w-]+\.js)"/g)) {
        if (used.has(name) || !scripts.includes(name)) continue;
        used.add(name);
        visit(read(name));
    }
};
for (const name of scripts.filter((name) => name.includes("/") || used.has(name))) visit(read(name));
for (const name of scripts.filter((name) => !name.includes("/") && !used.has(name))) rmSync(join(dist, name));
for (const family in FAMILIES) rmSync(join(dist, `small-${family}.d.ts`));

// npm packs only files below the package.
for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(workspace, name), join(root, name));

// The entries above have their own copies of these files.
for (const file of ELSEWHERE) rmSync(join(dist, `${file}.d.ts`));
