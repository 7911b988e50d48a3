// A claimed digest without a file name: a pasted checksum, an ETag, the value of a header. The tool's parser reads it.
import { MksumError } from "mksum/fetch";
import { tool } from "../internal.js";

/**
 * A claimed digest, or a list of them.
 *
 * @typedef {object} Claim
 * @property {string} text It, as the first of its formats prints it; of a list, its number of digests.
 * @property {{ has(root: string): boolean }} texts It, as each of its formats prints it.
 * @property {(root: string) => number | undefined} [lineOf] Of a list, the line of a root.
 * @property {string} [format] The format, if it is named.
 * @property {number} [parts] The number of its parts, if S3 made it of parts.
 * @property {string[]} first The formats that it can be of, which are tried at once; for parts, those for the file's length.
 * @property {string[]} others The formats that are tried if none of these matches.
 */

/** A hash without a format, so that the tool does not have it: the length of its digests in hex, and a text that names it. */
const KECCAK = { format: "keccak256", digits: 64, named: /^\s*keccak-?256\s*[:=]\s*([0-9a-f]{64})\s*$/i };

/**
 * Reads a digest with what people copy around it: quotes, a header's name, `sha256:`, `sha256-` (base64).
 *
 * @param {string} text
 * @param {number} [len] The length of the file in bytes, which decides on the sizes of parts.
 * @returns {Claim | undefined}
 */
export function claimOf(text, len = 0) {
    const [, keccak] = KECCAK.named.exec(text) ?? [];
    if (keccak) return { text: keccak.toLowerCase(), texts: new Set([keccak.toLowerCase()]), format: KECCAK.format, first: [KECCAK.format], others: [] };
    try {
        const { format, root, parts, usual, unusual } = tool.published(text, len);
        const more = format === undefined && root.length === KECCAK.digits && /^[0-9a-f]+$/.test(root) ? [KECCAK.format] : [];
        return {
            text: root,
            texts: new Set([root, ...[...usual, ...unusual].map((own) => own.root)]),
            ...(format !== undefined && { format }),
            ...(parts !== undefined && { parts }),
            first: usual.map(({ spec }) => spec),
            others: [...unusual.map(({ spec }) => spec), ...more],
        };
    } catch (error) {
        if (error instanceof MksumError && error.code !== "broken") return undefined;
        throw error;
    }
}
