// Runs a test binary that was built for wasm32-wasip1: cargo's runner for that target.
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [binary, ...args] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [binary, ...args], env: process.env, preopens: { ".": "." } });
const { instance } = await WebAssembly.instantiate(await readFile(binary), wasi.getImportObject());
process.exitCode = wasi.start(instance);
