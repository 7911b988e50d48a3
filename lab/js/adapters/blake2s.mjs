// blake2s 1: JavaScript, on Buffers.
import Blake2s from 'blake2s';
import { Buffer } from 'buffer';

export default {
    name: 'blake2s',
    kind: 'js',
    load: () => ({
        input: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        hashes: { blake2s: (buffer) => new Blake2s(32).update(buffer).digest() },
    }),
};
