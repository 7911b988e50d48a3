// blake2s 1: JavaScript, on Buffers.
import Blake2s from "blake2s";
import { Buffer } from "buffer";

export default {
    name: "blake2s",
    kind: "js",
    load: () => ({
        // A Buffer over the same bytes has a negligible cost.
        hashes: {
            blake2s: (bytes) =>
                new Blake2s(32).update(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).digest(),
        },
    }),
};
