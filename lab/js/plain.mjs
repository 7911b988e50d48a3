// A straightforward Merkle root of the format `plain` (spec/plain.md): hashes each leaf, then pairs, level by level.
import { concatenated } from "./bytes.mjs";
import { LEAF } from "./points.mjs";

export function plainRoot(hash, bytes, leaf = LEAF) {
    let level = [];
    for (let at = 0; at < bytes.length; at += leaf) level.push(hash(bytes.subarray(at, at + leaf)));
    while (level.length > 1) {
        const above = [];
        for (let at = 0; at + 1 < level.length; at += 2) above.push(hash(concatenated([level[at], level[at + 1]])));
        if (level.length % 2) above.push(level.at(-1));
        level = above;
    }
    return level[0];
}
