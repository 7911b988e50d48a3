// Text from elsewhere, such as the names of files, with every letter visible.

/** Controls, what is invisible, and what changes the direction: those that the command-line tool escapes, too. */
const HIDDEN = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu;

/**
 * Returns a text with its hidden letters as escapes: `\u202e`.
 *
 * @param {string} text
 */
export function visible(text) {
    return text.replace(HIDDEN, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
