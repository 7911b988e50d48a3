// Links that a distribution publishes beside a file: `#sha256=…` and `#root=…` tell the page what is expected.
import { recogniseText } from "../known/recognise.js";

/**
 * Returns what the fragment of an address tells about a file.
 *
 * @param {string} fragment
 * @returns {Promise<import("../known/recognise.js").Known[]>}
 */
export async function knownOf(fragment) {
    const found = /^#([a-z][a-z0-9-]*)=(.+)$/s.exec(fragment);
    if (!found?.[1] || !found[2]) return [];
    let value;
    try {
        value = decodeURIComponent(found[2]);
    } catch {
        return [{ kind: "unknown", name: "", message: `the link’s “${found[1]}” is not encoded as addresses are` }];
    }
    // A root may be a line that mksum prints; other names are those of hashes.
    return recogniseText(found[1] === "root" ? value : `${found[1]}:${value}`);
}
