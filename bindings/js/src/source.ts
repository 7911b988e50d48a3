import { MksumError } from "./errors.js";
import { hasSimd } from "./probe.js";
import { packed } from "./simd.js";
import { unpacker } from "./unpacker.js";

/** Compiles the module synchronously, if this engine has SIMD. */
export function compileSync(): WebAssembly.Module {
    if (hasSimd()) return new WebAssembly.Module(unpacked(packed));
    throw new MksumError("not-loaded", "this engine has no WebAssembly SIMD: call `await load()` for a build without it");
}

/** Compiles the module for this engine asynchronously. */
export async function compile(): Promise<WebAssembly.Module> {
    return WebAssembly.compile(unpacked(hasSimd() ? packed : (await import("./scalar.js")).packed));
}

/** The exports of `unpack/src/lib.rs`. */
interface Unpacker {
    readonly memory: WebAssembly.Memory;
    readonly packed: () => number;
    readonly room: () => number;
    readonly unpack: (len: number) => number;
}

/** Decodes an inlined module, which is compressed with LZMA and encoded in base64. A small module decompresses it. */
function unpacked(base64: string): Uint8Array<ArrayBuffer> {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytesOf(unpacker)));
    const { memory, packed, room, unpack } = exports as unknown as Unpacker;
    const bytes = bytesOf(base64);
    const at = packed();
    new Uint8Array(memory.buffer, at, room()).set(bytes);
    const len = unpack(bytes.length);
    if (len === 0) throw new MksumError("broken", "the engine is damaged: install the package again");
    return new Uint8Array(memory.buffer, at + room(), len).slice();
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
    return bytes;
}
