// What a browser with SIMD loads of the package, bundled by Vite and gzipped: it stays within limits, and the README says it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";

/** Programs, and the most KB (1000 bytes) that each may load. What a README's row is about has its name. */
const PROGRAMS = {
    "mksum": ['import * as all from "mksum"; globalThis.result = all;', 115],
    "mksum/fetch": ['import * as all from "mksum/fetch"; globalThis.result = all;', 138],
    "mksum/hashes": ['import * as all from "mksum/hashes"; globalThis.result = all;', 53],
    "mksum/md5": ['import { md5 } from "mksum/md5"; globalThis.result = md5(new Uint8Array(1));', 17],
    "mksum/sha1": ['import { sha1 } from "mksum/sha1"; globalThis.result = sha1(new Uint8Array(1));', 20],
    "mksum/sha2": ['import { sha256 } from "mksum/sha2"; globalThis.result = sha256(new Uint8Array(1));', 25],
    "mksum/blake2": ['import { blake2b } from "mksum/blake2"; globalThis.result = blake2b(new Uint8Array(1));', 21],
    "mksum/blake3": ['import { blake3 } from "mksum/blake3"; globalThis.result = blake3(new Uint8Array(1));', 21],
    "mksum/sha3": ['import { sha3_256 } from "mksum/sha3"; globalThis.result = sha3_256(new Uint8Array(1));', 15],
    "mksum/ripemd160": ['import { ripemd160 } from "mksum/ripemd160"; globalThis.result = ripemd160(new Uint8Array(1));', 12],
};

/** What code no program with one hash may bring. */
const OTHERS = /PBKDF2|Pool|hkdf/;

/** The parts that a program loads at once, gzipped one by one: not the build without SIMD, nor what workers load. */
async function loaded(project, source) {
    writeFileSync(join(project, "program.js"), source);
    const { output } = await build({
        root: project,
        configFile: false,
        logLevel: "error",
        build: { target: "es2022", write: false, rollupOptions: { input: join(project, "program.js") } },
    });
    const parts = new Map(output.map((part) => [part.fileName, part]));
    const found = new Map();
    const visit = (name) => {
        if (found.has(name)) return;
        const { code, imports } = parts.get(name);
        found.set(name, code);
        imports.forEach(visit);
    };
    visit(output.find((part) => part.isEntry).fileName);
    for (const [name, part] of parts) {
        if (/simd.*\.wasm$/.test(name)) found.set(name, part.source);
    }
    return [...found.values()];
}

/** Bundles each program in a folder where the package is installed; `readme` is the package's. */
export async function checkSizes(project, readme) {
    const wrong = [];
    for (const [name, [source, limit]] of Object.entries(PROGRAMS)) {
        const parts = await loaded(project, source);
        if (source.includes("import {") && parts.some((part) => OTHERS.test(part))) wrong.push(`${name} brings others' code`);
        const size = parts.reduce((sum, part) => sum + gzipSync(part, { level: 9 }).length, 0) / 1000;
        const found = `${size.toFixed(1)} KB`;
        if (size > limit) wrong.push(`${name}: ${found}, and the limit is ${limit} KB`);
        const row = readme.match(new RegExp(`^\\| \`${name}\` \\|.*\\| (\\d+) KB \\|$`, "m"));
        if (!row || Math.abs(size - Number(row[1])) > 1) {
            wrong.push(`${name}: ${found}, and the README ${row ? `says ${row[1]} KB: write` : "has no row with"} ${Math.round(size)} KB`);
        }
        console.log(`sizes: ${name}: ${found} of ${limit}`);
    }
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
}

if (process.argv[1] === import.meta.filename) {
    // node test/sizes.js PROJECT: alone, with the package as it is installed there.
    await checkSizes(process.argv[2], readFileSync(new URL("../README.md", import.meta.url), "utf8"));
}
