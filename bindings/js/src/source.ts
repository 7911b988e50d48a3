import { MksumError } from "./errors.js";
import { hasSimd } from "./probe.js";
import { packed } from "./simd.js";
import { unpacker } from "./unpacker.js";

/** The module, at once: where there is SIMD, as almost everywhere. */
export function now(): WebAssembly.Module {
    if (hasSimd()) return new WebAssembly.Module(unpacked(packed));
    throw new MksumError("not-loaded", "this engine has no WebAssembly SIMD: `await load()` once, for a build without");
}

/** The module, compiled aside: of this engine's kind. */
export async function later(): Promise<WebAssembly.Module> {
    return WebAssembly.compile(unpacked(hasSimd() ? packed : (await import("./scalar.js")).packed));
}

/** What `unpack/src/lib.rs` exports. */
interface Unpacker {
    readonly memory: WebAssembly.Memory;
    packed(): number;
    room(): number;
    unpack(len: number): number;
}

/** A module that is inlined: packed by LZMA, in base64. It is unpacked by another one, which is small. */
function unpacked(base64: string): Uint8Array<ArrayBuffer> {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytesOf(unpacker)));
    const { memory, packed, room, unpack } = exports as unknown as Unpacker;
    const bytes = bytesOf(base64);
    const at = packed();
    new Uint8Array(memory.buffer, at, room()).set(bytes);
    const len = unpack(bytes.length);
    if (len === 0) throw new MksumError("broken", "the engine is damaged: install the package again");
    return new Uint8Array(memory.buffer, at + room(), len).slice() as Uint8Array<ArrayBuffer>;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
    return bytes;
}
