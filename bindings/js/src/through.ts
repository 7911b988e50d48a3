import { type Bytes, bytesOf } from "./bytes.js";

/**
 * Returns a stream that hands on the bytes it is given, and appends them to `hasher` on their way: a {@link Hasher}, or a frontier of a
 * tree. Made for `pipeThrough`; in Node also for `pipeline`, and `Duplex.fromWeb` makes a stream of Node's of it. The hasher is the
 * caller's, who asks it for the digest when the stream has ended.
 *
 * The stream fails with an `MksumError` if a chunk is not bytes, or the hasher has ended.
 */
export function through<B extends Bytes>(hasher: { update(data: Bytes): unknown }): TransformStream<B, B> {
    return new TransformStream<B, B>({
        transform(chunk, controller) {
            hasher.update(bytesOf(chunk));
            controller.enqueue(chunk);
        },
    });
}
