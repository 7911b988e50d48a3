// Which sum is this? What a text in the claim field can be, before it is compared.
import { claimOf } from "../known/claims.js";
import { shown } from "../text/format-name.js";

/** The formats that are named; more are counted. */
const NAMED = 5;

/** Returns the formats that a text can be a sum of, in a sentence; empty if it is no single sum. @param {string} text */
export function guess(text) {
    const claim = claimOf(text);
    if (!claim) return "";
    if (claim.format !== undefined) return `It names its format: ${shown(claim.format)}.`;
    if (claim.parts !== undefined) return `An ETag or checksum of ${claim.parts} ${claim.parts === 1 ? "part" : "parts"}, as S3 has them.`;
    const all = [...claim.first, ...claim.others].map(shown);
    const more = all.length > NAMED ? ` and ${all.length - NAMED} more` : "";
    return `${claim.text.length} hex digits: can be ${all.slice(0, NAMED).join(", ")}${more}. The file tells which.`;
}
