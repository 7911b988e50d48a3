// The parts of the page that need no browser.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { merged, parsedRange, total, without } from "../src/damage/ranges.js";
import { around, moved, visible, windowAround, zoomed } from "../src/damage/window.js";
import { Pace } from "../src/hashing/pace.js";
import { moreSums } from "../src/hashing/more-sums.js";
import { loaded } from "../src/engine.js";
import { Checks } from "../src/known/checks.js";
import { claimOf } from "../src/known/claims.js";
import { digestsOf, FEW } from "../src/known/digests.js";
import { Finder, fileOfOutboard } from "../src/known/matching.js";
import { sumFile, sumLines } from "../src/known/sum-lines.js";
import { duration, exactSize, size } from "../src/text/sizes.js";

const ROOT = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const MD5 = "d41d8cd98f00b204e9800998ecf8427e";

const entries = (text, name) => sumLines(text, name).entries.map(({ format, path, root }) => [format, path, root]);

// The tests of crates/sums hold the parser to every syntax. These show that its answers arrive.
test("sum files are read and written with the tool's parser", async () => {
    await loaded();
    for (const [text, name, path, format = "sha256"] of [
        [`\uFEFF# comment\r\n\r\n${ROOT}  a b\r\n`, "", "a b"],
        [`\\${ROOT}  a\\nü\\\\`, "", "a\nü\\"],
        [`rfc6962:sha256:4KiB (a) = b) = ${ROOT}`, "", "a) = b", "rfc6962:sha256:4KiB"],
        [`${ROOT}  a`, "B3SUMS", "a", "blake3"],
        [ROOT, "dir/x.iso.sha256", "dir/x.iso"],
        [`${ROOT}\t  data/a%0Ab%25 c\n`, "bag/manifest-sha256.txt", "bag/data/a\nb% c"],
    ]) assert.deepEqual(entries(text, name), [[format, path, ROOT]], text);
    const { entries: found, malformed } = sumLines(`${ROOT}  a\nblake3@5..10 (a) = ${ROOT}\ns3:md5 (b) = ${MD5}-3\ntext\n${ROOT}\n4294967295 0 a\n`);
    assert.deepEqual(found.map(({ guessed, parts }) => [guessed, parts]), [[true, false], [false, false], [false, true]]);
    assert.deepEqual(found[1].range, { start: 5, end: 10 });
    assert.deepEqual(malformed.map(({ line }) => line), [4, 5, 6]);
    assert.match(malformed[2].message, /cksum/);
    for (const [path, line] of [["a", `SHA256 (a) = ${ROOT}\n`], ["a\\\n", `\\SHA256 (a\\\\\\n) = ${ROOT}\n`]]) {
        assert.deepEqual(sumFile([{ path, roots: new Map([["sha256", ROOT], ["keccak256", ROOT]]), error: undefined }]), { text: line, left: 0 });
    }
});

test("claims are read with the tool's parser, with what stands around them", async () => {
    await loaded();
    const { text, format, parts, first, others } = claimOf(`SHA-256: ${ROOT.toUpperCase()}`);
    assert.deepEqual([text, format, parts, first, others], [ROOT, "sha256", undefined, ["sha256"], []]);
    assert.equal(claimOf(`ETag: W/"${MD5}-12"`).parts, 12);
    assert.deepEqual(claimOf(`${MD5}-5`, 37_000_000).first.slice(0, 1), ["s3:md5:8MiB"]);
    assert.deepEqual(claimOf(`${MD5}-5`, 3).first, []);
    assert.deepEqual(claimOf(`keccak-256: ${ROOT}`).first, ["keccak256"]);
    // As the tool has it: its own tree comes first, and trees that services print without a name follow.
    const bare = claimOf(ROOT);
    assert.deepEqual([bare.format, bare.first], [undefined, ["rfc6962:sha256:64KiB", "sha256", "blake3"]]);
    for (const own of ["dropbox", "sha3-256", "sm3", "keccak256"]) assert.ok(bare.others.includes(own), own);
    // A file in a Nix archive has the same text as its SHA-256, and another root.
    assert.ok(claimOf("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=").texts.has("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="));
    for (const own of ["", "hello", "abc", `${ROOT}0`, `${MD5}-0`, "12345678901", `${ROOT}  file`, "x".repeat(1 << 17)]) assert.equal(claimOf(own), undefined, own);
});

const base64 = (hex) => Buffer.from(hex, "hex").toString("base64");

/** The digests of the numbers below `count`. */
const numbered = (count) => Array.from({ length: count }, (_, at) => createHash("sha256").update(String(at)).digest("hex"));

/** A subject with these digests. */
const subjectOf = (roots, size = 3) => ({ path: "a", size, roots: new Map(roots), refused: new Map(), error: undefined, cancelled: false });

test("a few digests are a claim each, and more are one list, in which a file is looked up", async () => {
    await loaded();
    assert.equal((await digestsOf(numbered(FEW))).claims.length, FEW);
    assert.equal(await digestsOf([...numbered(20), "text"]), undefined);
    // 200,000 digests are as many steps: the parser reads the first of each kind, and a file is looked up once for each of its digests.
    let [read, asked] = [0, 0];
    const counting = (line) => (read++, claimOf(line));
    const own = createHash("sha256").update("own").digest("hex");
    const lines = ["", own.toUpperCase(), ...numbered(200_000), ROOT.slice(0, 40), `SHA-512: ${ROOT}${ROOT}`, `${MD5}-12`, ...[ROOT, own].map((one) => `sha256-${base64(one)}`)];
    const { claims: [claim, ...more], malformed } = await digestsOf(lines, counting);
    assert.deepEqual([more.length, claim.text, read], [0, "200,005 digests", 5]);
    assert.deepEqual(malformed.map(({ line }) => line), [200_005]);
    for (const format of ["sha256", "sha1", "sha512", "dropbox"]) assert.ok([...claim.first, ...claim.others].includes(format), format);
    // In all forms in which formats print roots.
    assert.deepEqual([own, ROOT, `sha256-${base64(ROOT)}`, MD5].map(claim.lineOf), [2, 200_006, 200_006, undefined]);
    const counted = { ...claim, texts: { has: (root) => (asked++, claim.texts.has(root)) } };
    const checks = (roots) => {
        const subject = subjectOf(roots);
        return new Checks([subject], [{ kind: "claim", name: "", claim: counted, malformed }]).verdictsOf(subject);
    };
    const [match, ...others] = checks([["sha256", own]]);
    assert.deepEqual([match.state, match.text, others.length], ["match", "Matches line 2 of 200,005 digests (SHA-256).", 0]);
    assert.ok(asked <= 4, `${asked} look-ups`);
    const all = [...claim.first, ...claim.others].map((format) => [format, "0"]);
    const [unable] = checks(all);
    assert.equal(unable.state, "unable");
    assert.match(unable.text, /^None of the 200,005 digests is of the file in these formats: .*The list does not have the file, or has it in another format\.$/);
});

test("lines and outboards find their files", () => {
    const files = ["top/a", "top/sub/b", "top/c", "top/other/c"].map((path, at) => ({ path, size: at }));
    const finder = new Finder(files);
    assert.equal(finder.find("./a", "top/"), files[0]);
    assert.equal(finder.find("sub/b", ""), files[1]);
    assert.equal(finder.find("sub\\b", "top/"), files[1]);
    assert.equal(finder.find("c", ""), undefined);
    assert.equal(finder.find("c", "top/other/"), files[3]);
    assert.equal(finder.find("far/away/top/a", ""), files[0]);
    assert.equal(finder.find("missing", "top/"), undefined);
    assert.equal(fileOfOutboard("x/b.mkt", 99, files), files[1]);
    assert.equal(fileOfOutboard("z.mkt", 2, files), files[2]);
    assert.equal(fileOfOutboard("z.mkt", 99, files), undefined);
});

test("ranges are merged, subtracted and parsed", () => {
    assert.deepEqual(merged([{ start: 5, end: 9 }, { start: 0, end: 3 }, { start: 3, end: 4 }, { start: 7, end: 7 }]), [{ start: 0, end: 4 }, { start: 5, end: 9 }]);
    assert.deepEqual(without([{ start: 0, end: 10 }], [{ start: 2, end: 3 }, { start: 9, end: 12 }]), [{ start: 0, end: 2 }, { start: 3, end: 9 }]);
    assert.equal(total([{ start: 0, end: 2 }, { start: 5, end: 6 }]), 3);
    assert.deepEqual(parsedRange("1,000..2_000", 5000), { start: 1000, end: 2000 });
    assert.deepEqual(parsedRange("..", 5), { start: 0, end: 5 });
    for (const text of ["5", "5..5", "6..2", "0..6", "a..b"]) assert.equal(typeof parsedRange(text, 5), "string", text);
});

test("the window of the strip stays within the file", () => {
    assert.deepEqual(windowAround(0, 100, 1000), { start: 0, end: 100 });
    assert.deepEqual(windowAround(1000, 100, 1000), { start: 900, end: 1000 });
    assert.deepEqual(zoomed({ start: 400, end: 600 }, 100, 1000), { start: 0, end: 1000 });
    assert.deepEqual(moved({ start: 0, end: 100 }, -0.25, 1000), { start: 0, end: 100 });
    assert.deepEqual(around({ start: 500, end: 600 }, 1000), { start: 350, end: 750 });
    assert.deepEqual(windowAround(2, 5, 10), { start: 0, end: 10 });
    const many = Array.from({ length: 100_000 }, (_, at) => ({ start: 10 * at, end: 10 * at + 5 }));
    assert.equal(visible({ start: 0, end: 1_000_000 }, many).length, 1);
    assert.equal(visible({ start: 0, end: 1000 }, many).length, 100);
    assert.deepEqual(visible({ start: 100, end: 200 }, [{ start: 0, end: 100 }, { start: 150, end: 300 }]), [{ from: 0.5, to: 1 }]);
});

test("the pace is that of the last seconds", () => {
    const pace = new Pace(0);
    assert.equal(pace.rate, undefined);
    for (let second = 1; second <= 10; second++) pace.record(1000 * second, second * 100);
    assert.equal(pace.rate, 100);
    assert.equal(pace.left(2000), 10);
    for (let second = 11; second <= 30; second++) pace.record(1000 * second, 1000 + (second - 10) * 10);
    assert.equal(Math.round(pace.rate), 10);
});

test("sizes and durations are written for people", () => {
    assert.deepEqual([0, 1, 999, 1000, 99_970, 999_499, 5_242_880, 4 * 2 ** 30].map(size), ["0 bytes", "1 byte", "999 bytes", "1.00 KB", "100 KB", "999 KB", "5.24 MB", "4.29 GB"]);
    assert.equal(exactSize(5_242_880), "5.24 MB (5,242,880 bytes)");
    assert.deepEqual([0.2, 59, 61, 3700].map(duration), ["1 s", "59 s", "1 min 1 s", "1 h 1 min"]);
});

test("formats that the engine leaves out are those of their definitions", async () => {
    await loaded();
    // Several slices, of which the last is short.
    const bytes = Uint8Array.from({ length: 1_500_000 }, (_, at) => (at * 131 + (at >> 8)) & 255);
    const hash = (name) => createHash(name).update(bytes).digest("hex");
    const found = await moreSums(new Blob([bytes]), ["sm3", "ripemd160"], { signal: new AbortController().signal, progress: () => {} });
    assert.deepEqual([...found], [["sm3", hash("sm3")], ["ripemd160", hash("ripemd160")]]);
});
