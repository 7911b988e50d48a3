// A worker that hashes a file with another library, slice by slice.
import { blake3 as nobleBlake3 } from "@noble/hashes/blake3.js";
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";
import { createBLAKE3, createSHA256 } from "hash-wasm";
import jsSha256 from "js-sha256";

const SLICE = 1 << 22;

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The hashers: `update` takes bytes, `digest` returns hex. */
const HASHERS = {
    "hash-wasm": { sha256: createSHA256, blake3: createBLAKE3 },
    noble: {
        sha256: () => wrapped(nobleSha256.create()),
        blake3: () => wrapped(nobleBlake3.create()),
    },
    "js-sha256": { sha256: () => {
        const own = jsSha256.sha256.create();
        return { update: (bytes) => own.update(bytes), digest: () => own.hex() };
    } },
};

const wrapped = (own) => ({ update: (bytes) => own.update(bytes), digest: () => hex(own.digest()) });

let hasher;
self.addEventListener("message", async ({ data: { library, format, blob } }) => {
    if (!blob) {
        hasher = await HASHERS[library][format]();
        return self.postMessage("ready");
    }
    // The next slice is read while this one is hashed.
    let next = blob.slice(0, SLICE).arrayBuffer();
    for (let at = 0; at < blob.size; at += SLICE) {
        const bytes = new Uint8Array(await next);
        next = at + SLICE < blob.size ? blob.slice(at + SLICE, at + 2 * SLICE).arrayBuffer() : undefined;
        hasher.update(bytes);
    }
    self.postMessage(hasher.digest());
});
