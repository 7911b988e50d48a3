// mksum/log: the published notes, the worked example of spec/log.md, and every byte changed.
import { sha256, toHex } from "mksum";
import {
    checkConsistency, checkNote, checkProof, entryHash, MksumError, parseCheckpoint, parseConsistencyProof, parseKey, parseNote, parsePolicy, parseProof, verifyNote,
} from "mksum/log";

const text = (string) => new TextEncoder().encode(string);

// C2SP signed-note, "Example"; and the example of golang.org/x/mod/sumdb/note (BSD licence).
const NOTES = [
    [
        "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "This is an example message.\n\n\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n",
    ],
    [
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\u2014 PeterNeumann "
            + "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n",
    ],
];

// spec/log.md, "A worked example".
const KEY = "example.com/ledger+3481d542+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c";
const NOTE = `example.com/ledger
3
GnYDqu/MCf6UeAV6ONJUOMyVhJxkWIfNcTBDMySO22g=

\u2014 example.com/ledger NIHVQkpDQX/3e27ZjTE+ETLTWIWg0gUilVbb1WCokHFg+tu+POK64te52HgktsPgMxcONHJMhnjBswNDm51K5itxcAs=
`;
const PROOF = `c2sp.org/tlog-proof@v1
index 1
0Nc2CrefWKseHj/mStd+LqC8B+NrX0btIiPt2SmN+ek=
bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=

${NOTE}`;
const GROWTH = `old 2\nbjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=\n\n${NOTE}`;
const WITNESS = "w.example+a26f2ad7+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU";
const COSIGNED = "\u2014 w.example om8q1wAAAABlU/EAy0AFVfOCXpZUcXSFwaw9oTcA5FAxBx408Ot/InrxuVuVJnJz32DYZ0Lzeusd7gxYAVK8zj3iJvAt2UrNNRYqAQ==\n";
const POLICY = `# An example\nlog ${KEY} https://example.com/ledger\nwitness w ${WITNESS}\nquorum w\n`;

const join = (...parts) => sha256(Uint8Array.of(1, ...parts.flatMap((part) => [...part])));

/** The largest power of 2 below a count. */
const half = (count) => (count <= 2 ? 1 : 2 * half(Math.ceil(count / 2)));

// RFC 9162, 2.1.1, 2.1.3.1 and 2.1.4.1, as they stand there.
const parts = (leaves) => [leaves.slice(0, half(leaves.length)), leaves.slice(half(leaves.length))];
const treeOf = (leaves) => (leaves.length === 1 ? leaves[0] : join(...parts(leaves).map(treeOf)));

function pathOf(index, leaves) {
    if (leaves.length === 1) return [];
    const [left, right] = parts(leaves);
    return index < left.length ? [...pathOf(index, left), treeOf(right)] : [...pathOf(index - left.length, right), treeOf(left)];
}

function growthOf(old, leaves, isWhole = true) {
    if (old === leaves.length) return isWhole ? [] : [treeOf(leaves)];
    const [left, right] = parts(leaves);
    if (old <= left.length) return [...growthOf(old, left, isWhole), treeOf(right)];
    return [...growthOf(old - left.length, right, false), treeOf(left)];
}

const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

const rows = (hashes) => hashes.map((hash) => `${base64(hash)}\n`).join("");

/** A new log: its verifier key, and what signs checkpoints. */
async function newLog(origin) {
    const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
    const key = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
    const id = sha256(Uint8Array.of(...text(`${origin}\n`), 1, ...key)).subarray(0, 4);
    const checkpoint = async (leaves) => {
        const body = `${origin}\n${leaves.length}\n${base64(treeOf(leaves))}\n`;
        const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, text(body)));
        return `${body}\n\u2014 ${origin} ${base64([...id, ...signature])}\n`;
    };
    return { key: `${origin}+${toHex(id)}+${base64([1, ...key])}`, checkpoint };
}

const refused = (code, message) => (error) => error instanceof MksumError && error.code === code && (!message || message.test(error.message));

export default function ({ test, assert }) {
    test("log: published notes are verified, and changed ones are not", async () => {
        for (const [key, note] of NOTES) {
            assert.equal(await verifyNote(parseNote(note), await parseKey(key)), 0n);
            assert.equal(await verifyNote(parseNote(text(note)), await parseKey(KEY)), undefined);
            await assert.rejects(verifyNote(parseNote(`x${note}`), await parseKey(key)), refused("proof", /not valid/));
        }
        assert.equal(await verifyNote(parseNote(NOTE + COSIGNED), await parseKey(WITNESS)), 1_700_000_000n);
    });

    test("log: the worked example of the specification, and every byte of it changed", async () => {
        const check = async (proof, policy = POLICY) => checkProof(parseProof(proof), text("two"), policy);
        const { origin, size, extensions } = await check(PROOF + COSIGNED);
        assert.deepEqual([origin, String(size), extensions.length], ["example.com/ledger", "3", 0]);
        assert.equal((await check(PROOF, KEY)).size, 3n);
        assert.equal((await check(PROOF.slice(PROOF.indexOf("index")), `${KEY}\n`)).size, 3n);
        await assert.rejects(check(PROOF), refused("proof", /0 of 1 witnesses/));
        await assert.rejects(check(PROOF, NOTES[0][0]), refused("proof", /trusted are example.com\/foo/));
        for (const entry of ["", "one", "two ", "three"]) {
            await assert.rejects(checkProof(parseProof(PROOF), text(entry), KEY), refused("proof", /another entry/));
        }
        const [whole, policy] = [text(PROOF + COSIGNED), await parsePolicy(POLICY)];
        for (let at = 0; at < whole.length; at++) {
            for (let bit = 0; bit < 8; bit++) {
                const changed = whole.slice();
                changed[at] ^= 1 << bit;
                await assert.rejects(check(changed, policy), refused("proof"), `byte ${at}, bit ${bit}`);
            }
            await assert.rejects(check(whole.subarray(0, at), policy), refused("proof"), `the first ${at} bytes`);
        }
    });

    test("log: keys and policies that are none", async () => {
        for (const key of [KEY, WITNESS]) {
            assert.equal((await parseKey(key)).text, key);
            for (let at = 0; at < key.length; at++) {
                for (let bit = 0; bit < 7; bit++) {
                    const changed = key.slice(0, at) + String.fromCharCode(key.charCodeAt(at) ^ (1 << bit)) + key.slice(at + 1);
                    await assert.rejects(parseKey(changed), refused("proof"), changed);
                }
            }
        }
        const lines = POLICY.split("\n");
        for (const [policy, why] of [
            ["", /NAME/],
            ["nonsense here", /newline/],
            ["log nonsense\nquorum none\n", /line 1/],
            [`log ${WITNESS}\nquorum none\n`, /line 1.*0x01/],
            [`log ${KEY}\n`, /quorum/],
            [`${POLICY}quorum none\n`, /line 5.*one quorum/],
            [`${POLICY}log ${KEY}\n`, /twice/],
            [`${POLICY}witness w ${WITNESS}\n`, /twice/],
            [`${lines[2]}\nquorum other\n`, /no line above/],
            [`${lines[2]}\ngroup g 2 w\nquorum g\n`, /1 to 1/],
            [`${lines[2]}\ngroup g all w w\nquorum g\n`, /twice in one/],
            [`${lines[2]}\ngroup none all w\nquorum w\n`, /taken/],
            [`${POLICY}\x01\n`, /control/],
        ]) {
            await assert.rejects(parsePolicy(policy), refused("proof", why), policy);
        }
        assert.equal((await parsePolicy(POLICY)).isQuorum([]), false);
        const { witnesses, isQuorum } = await parsePolicy(`${lines[2]}\ngroup g any w\ngroup h 1 g\nquorum h\n`);
        assert.deepEqual([isQuorum(witnesses), isQuorum([])], [true, false]);
    });

    test("log: every entry and every growth of small trees, and no other", async () => {
        const own = await newLog("example.com/small");
        const entries = Array.from({ length: 12 }, (_, at) => text(`entry ${at}`));
        const notes = [undefined];
        for (let size = 1; size <= entries.length; size++) {
            const leaves = await Promise.all(entries.slice(0, size).map(entryHash));
            const note = (notes[size] = await own.checkpoint(leaves));
            for (let index = 0; index < size; index++) {
                const hashes = pathOf(index, leaves);
                const proof = parseProof(`c2sp.org/tlog-proof@v1\nextra AAAA\nindex ${index}\n${rows(hashes)}\n${note}`);
                assert.deepEqual([proof.extra.length, (await checkProof(proof, entries[index], own.key)).size], [3, BigInt(size)]);
                for (const other of [{ index: proof.index + 1n }, { index: BigInt(size) }, { hashes: [...hashes, leaves[0]] }, { hashes: hashes.slice(1) }]) {
                    if (other.hashes && other.hashes.length === hashes.length) continue;
                    await assert.rejects(checkProof({ ...proof, ...other }, entries[index], own.key), refused("proof"));
                }
            }
            for (let old = 1; old <= size; old++) {
                const hashes = growthOf(old, leaves);
                const proof = parseConsistencyProof(`old ${old}\n${rows(hashes)}\n${note}`);
                const older = await checkNote(parseNote(notes[old]), own.key);
                assert.equal((await checkConsistency(proof, older, own.key)).size, BigInt(size));
                for (const other of [[...hashes, leaves[0]], hashes.slice(1), hashes.toReversed(), [leaves[0]]]) {
                    if (rows(other) === rows(hashes)) continue;
                    await assert.rejects(checkConsistency({ ...proof, hashes: other }, older, own.key), refused("proof"));
                }
                await assert.rejects(checkConsistency(proof, { ...older, root: leaves[1] ?? new Uint8Array(32) }, own.key), refused("proof"));
                await assert.rejects(checkConsistency(proof, { ...older, size: older.size + 1n }, own.key), refused("proof"));
            }
        }
        const old = await checkNote(parseNote(NOTE), KEY);
        const two = { ...old, size: 2n, root: join(await entryHash(text("one")), await entryHash(text("two"))) };
        assert.equal((await checkConsistency(parseConsistencyProof(GROWTH), two, KEY)).size, 3n);
    });

    test("log: texts that are none, and bytes that are no entry", async () => {
        const signature = NOTE.slice(NOTE.indexOf("\u2014"));
        for (const note of ["", "text\n", "text\n\n", `text\n${signature}`, `a\tb\n\n${signature}`, `text\n\n${signature}more\n`, `text\n\n${signature.trimEnd()}`,
            `text\n\n${signature.replace("\u2014", "-")}`, "text\n\n\u2014 name AAAA\n", `text\n\n${signature.repeat(257)}`, `${"text\n".repeat(300_000)}\n${signature}`]) {
            assert.throws(() => parseNote(note), refused("proof"), note.slice(0, 99));
        }
        const body = NOTE.slice(0, NOTE.indexOf("\n\n") + 1);
        assert.equal(parseCheckpoint(`${body}more\n`).extensions.join(), "more");
        for (const wrong of ["", "\n", "a\n1\n", body.trimEnd(), body.replace("3", "03"), body.replace("3", "+3"), body.replace("\n3", "\n9223372036854775809"), body.replace("2g=", "2h="),
            body.replace("=", ""), body.slice(body.indexOf("\n")), `${body}\n`, body.replace("example", "\x7f")]) {
            assert.throws(() => parseCheckpoint(wrong), refused("proof"), wrong);
        }
        for (const wrong of ["index 01", "index -1", "index", "index 18446744073709551616", `index 1\n${"A".repeat(43)}=\n`.repeat(1) + `${"A".repeat(43)}=\n`.repeat(65)]) {
            assert.throws(() => parseProof(`c2sp.org/tlog-proof@v1\n${wrong}\n\n${NOTE}`), refused("proof"), wrong);
        }
        await assert.rejects(entryHash(new Uint8Array(65_536)), refused("length", /65535/));
        assert.throws(() => parseProof(5), refused("argument"));
    });

    test("log: without Ed25519 or Web Cryptography nothing is found out", async () => {
        const prototype = Object.getPrototypeOf(crypto.subtle);
        const { importKey } = prototype;
        prototype.importKey = () => Promise.reject(new DOMException("no Ed25519", "NotSupportedError"));
        try {
            await assert.rejects(checkProof(parseProof(PROOF), text("two"), KEY), refused("unsupported", /no Ed25519/));
        } finally {
            prototype.importKey = importKey;
        }
        assert.equal((await checkProof(parseProof(PROOF), text("two"), KEY)).size, 3n);
        const owner = Object.hasOwn(crypto, "subtle") ? crypto : Object.getPrototypeOf(crypto);
        const own = Object.getOwnPropertyDescriptor(owner, "subtle");
        Object.defineProperty(owner, "subtle", { ...own, get: () => undefined });
        try {
            for (const given of [parseKey(KEY), parsePolicy(POLICY), entryHash(text("two")), checkProof(parseProof(PROOF), text("two"), POLICY)]) {
                await assert.rejects(given, refused("unsupported", /secure context/));
            }
        } finally {
            Object.defineProperty(owner, "subtle", own);
        }
    });
}
