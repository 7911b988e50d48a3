// Compares files with what is known about them.
import { MksumError, Spec } from "mksum/fetch";
import { isMore } from "../hashing/more-sums.js";
import { tool } from "../internal.js";
import { shown } from "../text/format-name.js";
import { claimOf } from "./claims.js";
import { folderOf, Finder } from "./matching.js";

/**
 * @typedef {import("./recognise.js").Known} Known
 * @typedef {import("./sum-lines.js").Entry} Entry
 *
 * @typedef {object} Subject A file as far as it is compared.
 * @property {string} path
 * @property {number} size
 * @property {ReadonlyMap<string, string>} roots
 * @property {ReadonlyMap<string, string>} refused
 * @property {string | undefined} error
 * @property {boolean} cancelled Whether what is missing is not computed.
 */

/**
 * The result of a comparison: `unable` if nothing says that the file is another one, as far as this page can tell.
 *
 * @typedef {object} Verdict
 * @property {"match" | "mismatch" | "pending" | "unable"} state
 * @property {string} text One sentence.
 * @property {string} [format]
 * @property {string} [expected]
 * @property {string} [found]
 * @property {[format: string, root: string][]} [computed] The digests that none of is the expected one.
 * @property {boolean} [others] Whether more formats can be tried.
 */

/**
 * A digest that a file is compared with.
 *
 * @typedef {object} Wanted
 * @property {string} text
 * @property {{ has(root: string): boolean }} [texts] It as other formats print it.
 * @property {string[]} first The formats that are tried at once.
 * @property {string[]} others The formats that are tried if none of these matches.
 * @property {boolean} named Whether the format is known, so that another digest is a mismatch.
 * @property {boolean} likely Whether the others are tried without being asked for.
 * @property {string} [place] The line that it stands on.
 * @property {(root: string) => number | undefined} [lineOf] Of a list of digests, the line of a root.
 * @property {string} [because] How the format is known, if the text does not name it.
 * @property {string} [message] Why it cannot be compared.
 */

/**
 * The lines of a sum file that do not name their format and have equally long digests: they are of one format.
 *
 * @typedef {object} Group
 * @property {number} size The number of its files.
 * @property {string | undefined} format The format in which one of its files matches.
 */

/** Unlikely formats are tried without being asked for if the file is no longer than this, in bytes. */
const SHORT = 1 << 28;

/** More files than this are not hashed in unlikely formats without being asked for. */
const FEW = 16;

/** @type {Map<string, { format: string } | { message: string }>} */
const parsed = new Map();

/** Returns a format in its canonical form, or an error as text. @param {string} format @returns {{ format: string } | { message: string }} */
export function canonical(format) {
    if (format === "keccak256") return { format };
    const known = parsed.get(format);
    if (known) return known;
    /** @type {{ format: string } | { message: string }} */
    let found;
    try {
        const { text, streams } = (isMore(format) ? tool.Spec : Spec).parse(format);
        found = !streams && isMore(text) ? { message: `${text} needs the length first, and the page does not compute it` } : { format: text };
    } catch (error) {
        found = { message: error instanceof MksumError ? error.message : String(error) };
        // The engine may be loaded later.
        if (error instanceof MksumError && error.code === "not-loaded") return found;
    }
    parsed.set(format, found);
    return found;
}

/** The claims of lines of sum files without formats, by the digits of their sums, which alone decide. @type {Map<number, import("./claims.js").Claim | undefined>} */
const guesses = new Map();

/** Returns the formats of a claim, or of the sum of a line, that are computed here. @param {{ first: string[], others: string[] } | undefined} claim */
function computable(claim) {
    const [first, others] = [allCanonical(claim?.first ?? []), allCanonical(claim?.others ?? [])];
    return { first, others: [...new Set(others)].filter((format) => !first.includes(format)) };
}

/** @param {string[]} formats */
function allCanonical(formats) {
    return formats.map(canonical).flatMap((found) => ("format" in found ? [found.format] : []));
}

/** Returns what the sum of a line can be of, which does not name its format. @param {string} root */
function guessOf(root) {
    if (!guesses.has(root.length)) guesses.set(root.length, claimOf(root));
    return guesses.get(root.length);
}

/** What is known, by file. */
export class Checks {
    /**
     * @param {readonly Subject[]} subjects
     * @param {readonly Known[]} known
     * @param {boolean} [thorough] Whether unlikely formats are tried for long files too.
     */
    constructor(subjects, known, thorough = false) {
        /** @private */
        this.thorough = thorough;
        /** @private @type {readonly Subject[]} */
        this.subjects = subjects;
        /** All roots, once they are needed. @private @type {Set<string> | undefined} */
        this.roots = undefined;
        /** @private @type {Map<Subject, { entry: Entry, source: string, group: Group | undefined, at: number }[]>} */
        this.entries = new Map();
        /** Lines of sum files without a file. @type {{ entry: Entry, source: string }[]} */
        this.missing = [];
        /** @private @type {(Known & { kind: "claim" })[]} */
        this.claims = known.filter((own) => own.kind === "claim");
        const finder = new Finder(subjects);
        for (const own of known) {
            if (own.kind !== "sums") continue;
            /** @type {Map<number, Group>} */
            const groups = new Map();
            for (const entry of own.entries) {
                const only = subjects.length === 1 && own.entries.length === 1 && entry.path === "-" ? subjects[0] : undefined;
                const subject = /** @type {Subject | undefined} */ (finder.find(entry.path, folderOf(own.name))) ?? only;
                if (!subject) {
                    this.missing.push({ entry, source: own.name });
                    continue;
                }
                /** @type {Group | undefined} */
                let group;
                if (entry.guessed) {
                    group = groups.get(entry.root.length) ?? { size: 0, format: undefined };
                    groups.set(entry.root.length, group);
                    group.format ??= matching(subject, entry.root)?.[0];
                }
                const list = this.entries.get(subject) ?? [];
                list.push({ entry, source: own.name, group, at: group ? group.size++ : 0 });
                this.entries.set(subject, list);
            }
        }
    }

    /** Returns the digests that a file is compared with. @private @param {Subject} subject @returns {Wanted[]} */
    wantedOf(subject) {
        const { thorough } = this;
        const entries = (this.entries.get(subject) ?? []).map(({ entry, source, group, at }) => {
            const { root: text, format } = entry;
            const place = `${source}, line ${entry.line}`;
            const one = (/** @type {string} */ own) => ({ text, first: [own], others: [], named: true, likely: true, place });
            const message = refusalOf(entry);
            if (message !== undefined) return { ...one(format), message };
            if (group?.format) return { ...one(group.format), because: `The line does not name its format, but another line of ${source} matches in this one.` };
            const claim = group ? guessOf(text) : entry.parts ? claimOf(text, subject.size) : undefined;
            // A few files tell the format of the others.
            if (claim) return { text, ...computable(claim), named: false, likely: thorough || (at < FEW && subject.size * Math.min(group?.size ?? 1, FEW) <= SHORT), place };
            const found = canonical(format);
            return "format" in found ? one(found.format) : { ...one(format), message: `${found.message}. Use mksum -c for formats that browsers do not have.` };
        });
        if (this.claims.length > 0) this.roots ??= new Set(this.subjects.flatMap(({ roots }) => [...roots.values()]));
        const claims = this.claims.map(({ claim }) => {
            const formats = computable(claim.parts === undefined ? claim : claimOf(claim.text, subject.size));
            const likely = thorough || (subject.size <= SHORT && this.subjects.length <= FEW && ![...(this.roots ?? [])].some((own) => claim.texts.has(own)));
            const { text, texts, lineOf } = claim;
            return { text, texts, ...formats, named: claim.format !== undefined, likely, ...(lineOf && { lineOf }), ...unableOf(claim, formats, subject.size) };
        });
        return [...entries, ...claims];
    }

    /**
     * Returns the formats in which a file must be hashed to be compared.
     *
     * @param {Subject} subject
     * @returns {string[]}
     */
    formatsOf(subject) {
        return this.wantedOf(subject).flatMap(({ text, texts, first, others, likely, message }) => {
            if (message !== undefined) return [];
            const more = likely && first.every((format) => isKnown(subject, format)) && !matching(subject, text, texts);
            return more ? [...first, ...others] : first;
        });
    }

    /**
     * Returns the verdicts about a file.
     *
     * @param {Subject} subject
     * @returns {Verdict[]}
     */
    verdictsOf(subject) {
        if (subject.error) return [];
        const verdicts = this.wantedOf(subject).map((wanted) => verdictOf(subject, wanted)).map((verdict) => {
            if (verdict.state !== "pending" || !subject.cancelled) return verdict;
            return { ...verdict, state: /** @type {const} */ ("unable"), text: "The comparison was cancelled." };
        });
        const lines = this.entries.get(subject)?.length ?? 0;
        // Among several files, a digest alone says nothing about those that it is not of.
        return verdicts.filter(({ state }, at) => at < lines || this.subjects.length === 1 || state === "match");
    }

    /** Returns the files that a claim is the digest of. @param {import("./claims.js").Claim} claim */
    filesOf(claim) {
        return this.subjects.filter((own) => matching(own, claim.text, claim.texts));
    }
}

/** Returns the format in which a file has a digest, and the digest. @param {Subject} subject @param {string} text @param {{ has(root: string): boolean }} [texts] */
function matching({ roots }, text, texts) {
    return [...roots].find(([, root]) => root === text || texts?.has(root));
}

/** @param {Subject} subject @param {string} format */
function isKnown(subject, format) {
    return subject.roots.has(format) || subject.refused.has(format);
}

/** Returns why a line cannot be checked here, whatever its format. @param {Entry} entry */
function refusalOf({ range, format }) {
    if (range) return "the line is about a part of the file, which this page does not check: use mksum -c";
    if (format.startsWith("dir:") || format === "dir") return "the line is about a directory, which this page does not check: use mksum -c";
    return undefined;
}

/** Returns why a claim cannot be compared. @param {import("./claims.js").Claim} claim @param {{ first: string[] }} formats @param {number} len */
function unableOf({ format, parts }, { first }, len) {
    if (first.length > 0) return {};
    if (parts !== undefined) return { message: `No part size divides a file of ${len} bytes into ${parts} parts. The file has another length than the object, or its parts had several.` };
    return format === undefined ? {} : { message: `This page cannot compute ${shown(format)}. Use the command-line tool.` };
}

/** @param {Subject} subject @param {Wanted} wanted @returns {Verdict} */
function verdictOf(subject, { text: expected, texts, first, others, named, likely, place, lineOf, because, message }) {
    const at = place ? `${place}: ` : "";
    if (message !== undefined) return { state: "unable", text: at + message, expected };
    const [format = ""] = first;
    const found = matching(subject, expected, texts);
    if (found) {
        const [own, root] = found;
        const otherwise = named && own !== format ? ` It is not the ${shown(format)}.` : "";
        const where = lineOf ? `line ${lineOf(root)} of ${expected}` : place;
        return { state: "match", text: `${where ? `Matches ${where} (${shown(own)}).` : `This is the ${shown(own)} of the file.`}${otherwise}`, format: own, expected, found: root };
    }
    if (!first.every((own) => isKnown(subject, own))) return { state: "pending", text: place ? `Comparing with ${place} …` : "Comparing …", expected };
    if (named) {
        const root = subject.roots.get(format);
        if (root === undefined) return { state: "mismatch", text: `${at}${subject.refused.get(format)}`, format, expected };
        const text = place ? `Does not match ${place} (${shown(format)}).${because ? ` ${because}` : ""}` : `The ${shown(format)} of the file is another one.`;
        return { state: "mismatch", text, format, expected, found: root };
    }
    const left = others.filter((own) => !isKnown(subject, own));
    if (left.length > 0 && likely) return { state: "pending", text: `${at}Trying ${left.length} other formats …`, expected };
    const computed = [...first, ...others].flatMap((own) => {
        const root = subject.roots.get(own);
        return root === undefined ? [] : [/** @type {[string, string]} */ ([own, root])];
    });
    const names = computed.slice(0, 8).map(([own]) => shown(own)).join(", ") + (computed.length > 8 ? " and the others below" : "");
    return {
        state: "unable", ...(!lineOf && { expected }), computed, others: left.length > 0,
        text: lineOf
            ? `None of the ${expected} is of the file in these formats: ${names}. The list does not have the file, or has it in another format.`
            : `${at}None of these formats gives this value: ${names}. The file is another one, or the value is in another format.`,
    };
}
