import { type Bytes, bytesOf, type Data, type OwnBytes, unexpected } from "./bytes.js";
import { MksumError } from "./errors.js";

const DIGITS = /* @__PURE__ */ Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Returns bytes as lowercase hex, two digits a byte. */
export function toHex(bytes: Bytes): string {
    let text = "";
    for (const byte of bytesOf(bytes)) text += DIGITS[byte];
    return text;
}

/** Returns the function that has a hash's digest as hex. */
export function inHex(hash: (data: Data) => Bytes): (data: Data) => string {
    return (data) => toHex(hash(data));
}

/**
 * Parses hex digits, in either case, to bytes.
 *
 * @throws {MksumError} `argument` if the text is not pairs of hex digits.
 */
export function fromHex(text: string): OwnBytes {
    if (typeof text !== "string") throw unexpected("expected hex digits", text);
    if (!/^(?:[0-9a-fA-F]{2})*$/.test(text)) {
        const at = text.search(/[^0-9a-fA-F]/);
        const found = at < 0 ? `${text.length} digits, an odd number` : `'${text[at]}' at ${at}`;
        throw new MksumError("argument", `expected pairs of hex digits, found ${found}`);
    }
    return Uint8Array.from({ length: text.length / 2 }, (_, at) => parseInt(text.slice(2 * at, 2 * at + 2), 16));
}
