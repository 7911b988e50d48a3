// Checks how much of the package a browser with SIMD loads, bundled by Vite, gzipped and with Brotli, against limits
// and the README.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "vite";

/**
 * Programs by the name of their row in the README, with the limit of each in KB (1000 bytes) with Brotli. The order of the engine's
 * functions depends on the path at which it is built, which changes the size of `mksum` by up to 0.3 KB.
 */
const PROGRAMS = {
    "mksum": ['import * as all from "mksum"; globalThis.result = all;', 165],
    "mksum/fetch": ['import * as all from "mksum/fetch"; globalThis.result = all;', 139.5],
    "mksum/hashes": ['import * as all from "mksum/hashes"; globalThis.result = all;', 52],
    "mksum/md5": ['import { md5 } from "mksum/md5"; globalThis.result = md5(new Uint8Array(1));', 15],
    "mksum/sha1": ['import { sha1 } from "mksum/sha1"; globalThis.result = sha1(new Uint8Array(1));', 19],
    "mksum/sha2": ['import { sha256 } from "mksum/sha2"; globalThis.result = sha256(new Uint8Array(1));', 23],
    "mksum/blake2": ['import { blake2b } from "mksum/blake2"; globalThis.result = blake2b(new Uint8Array(1));', 20],
    "mksum/blake3": ['import { blake3 } from "mksum/blake3"; globalThis.result = blake3(new Uint8Array(1));', 20],
    "mksum/sha3": ['import { sha3_256 } from "mksum/sha3"; globalThis.result = sha3_256(new Uint8Array(1));', 14],
    "mksum/extra": ['import * as all from "mksum/extra"; globalThis.result = all;', 38],
    "mksum/log": ['import * as all from "mksum/log"; globalThis.result = all;', 6],
    "mksum/ripemd160": ['import { ripemd160 } from "mksum/ripemd160"; globalThis.result = ripemd160(new Uint8Array(1));', 10],
};

/**
 * The functions of one hash in `mksum`, one of each family, with the limit of a program that has no other in KB with Brotli. The README states
 * them together.
 */
const ALONE = { md5: 15, sha1: 15, sha256: 15, sha512: 15, blake2b: 15, blake3: 17.5, sha3_256: 15, ripemd160: 15 };

/** Code that a program with one hash must not contain. */
const OTHERS = /PBKDF2|Pool|hkdf/;

/** Returns the files that a program loads at start, without the build without SIMD and the workers' files. */
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

/** Bundles each program in a directory where the package is installed, and compares its size with the limit and the README. */
export async function checkSizes(project, readme) {
    const wrong = [];
    for (const [name, [source, limit]] of Object.entries(PROGRAMS)) {
        const parts = await loaded(project, source);
        if (source.includes("import {") && parts.some((part) => OTHERS.test(part))) wrong.push(`${name} contains code of other features`);
        const sum = (compress) => parts.reduce((all, part) => all + compress(part).length, 0) / 1000;
        const [gzipped, size] = [sum((part) => gzipSync(part, { level: 9 })), sum((part) => brotliCompressSync(part))];
        const found = `${gzipped.toFixed(1)} KB gzipped, ${size.toFixed(1)} KB with Brotli`;
        if (size > limit) wrong.push(`${name}: ${found}, more than the limit of ${limit} KB`);
        const row = readme.match(new RegExp(`^\\| \`${name}\` \\|.*\\| (\\d+) KB \\| (\\d+) KB \\|$`, "m"));
        if (!row || Math.abs(gzipped - Number(row[1])) > 1 || Math.abs(size - Number(row[2])) > 1) {
            wrong.push(`${name}: ${found}, but the README ${row ? `states ${row[1]} KB and ${row[2]} KB` : "has no such row"}`);
        }
        console.log(`sizes: ${name}: ${found} of ${limit}`);
    }
    for (const [name, limit] of Object.entries(ALONE)) {
        const parts = await loaded(project, `import { ${name} } from "mksum"; globalThis.result = ${name}(new Uint8Array(1));`);
        if (parts.some((part) => OTHERS.test(part))) wrong.push(`${name} of mksum contains code of other features`);
        const size = parts.reduce((all, part) => all + brotliCompressSync(part).length, 0) / 1000;
        if (size > limit) wrong.push(`${name} of mksum alone: ${size.toFixed(1)} KB with Brotli, more than the limit of ${limit} KB`);
        console.log(`sizes: ${name} of mksum alone: ${size.toFixed(1)} KB with Brotli of ${limit}`);
    }
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
}

if (process.argv[1] === import.meta.filename) {
    // node test/sizes.js PROJECT: only this check, with the package installed in PROJECT.
    await checkSizes(process.argv[2], readFileSync(new URL("../README.md", import.meta.url), "utf8"));
}
