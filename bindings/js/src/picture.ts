// Pictures of trees, as the tool draws them: `wasm/src/picture.rs`.
import { askOf } from "./lists.js";
import { numbers, text, withBlocks } from "./memory.js";

/**
 * Returns the unit of an outboard that has the digests of all nodes that {@link treeSvg} shows, as far as it takes little memory, in bytes.
 *
 * @param len The length of the file, in bytes.
 * @throws {MksumError} `argument` if there is no such format.
 */
export function pictureUnit(spec: string, len: number): number {
    return numbers(askOf([spec], (exports, named) => exports.picture_unit(named, len)), 1)[0]![0]!;
}

/**
 * Returns the upper part of an outboard's tree as the text of an SVG file: its lowest nodes with bytes in the `damaged` ranges, sorted, are hatched.
 *
 * @param path The file's path, for the title.
 * @throws {MksumError} `outboard` if it is none.
 */
export function treeSvg(outboard: Uint8Array, path: string, damaged: readonly { readonly start: number; readonly end: number }[] = []): string {
    const ranges = new Float64Array(damaged.flatMap(({ start, end }) => [start, end]));
    return withBlocks([outboard, new Uint8Array(ranges.buffer)], (_, block, marked) =>
        text(askOf([path], (exports, len) => exports.tree_svg(block, marked, len))));
}
