// Reads a sum as people paste it: alone, in hex or base64, or as a line of a sum file.

const TAGGED = /^\\?([A-Za-z0-9][\w:.,= /-]*?) ?\((.*)\) ?= ?(\S+)$/;
const NAMED = /^(?:(md5|sha1|sha224|sha256|sha384|sha512|blake3)[-:])(\S+)$/i;

/**
 * Returns `{bytes, base64, parts, tag}`: the size of the digest, whether it is in base64 rather than hex, whether the number of parts
 * follows, and the format that the text names.
 * Returns undefined if it is no sum.
 */
export function read(text) {
    const line = text.trim().split("\n")[0].trim();
    const tagged = line.match(TAGGED);
    if (tagged) return sized(tagged[3], tagged[1]);
    const named = line.match(NAMED);
    if (named) return sized(named[2], named[1].toLowerCase());
    return sized(line.replace(/^\\/, "").split(/\s/)[0].replaceAll(/^"|"$/g, ""));
}

function sized(text, tag) {
    // Software Heritage's identifiers have a word before their digits.
    const [sum, parts] = text.replace(/^swh:1:[a-z]{3}:/, "").split(/-(?=\d+$)/);
    const found = { parts: parts !== undefined, tag };
    if (/^(?:[0-9a-f]{2})+$/i.test(sum)) return { bytes: sum.length / 2, base64: false, ...found };
    if (/^[A-Za-z0-9+/]+={0,2}$/.test(sum) && sum.length % 4 === 0) {
        return { bytes: (sum.length / 4) * 3 - (sum.length - sum.replace(/=+$/, "").length), base64: true, ...found };
    }
    return undefined;
}
