// Downloads from servers on this machine, most of which are wrong in some way.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { keep, MksumError, root, verifiedFetch } from "../dist/index.js";

const LEN = 5_000_000;
const UNIT = 65536;
const data = Buffer.alloc(LEN);
for (let at = 0, state = 1; at < LEN; at++) data[at] = (state = (state * 1103515245 + 12345) & 0x7fffffff) >> 16;
const FORMAT = "rfc6962:sha256:64KiB";
const ROOT = root(FORMAT, data).text;
const TREE = Buffer.from(keep(FORMAT, UNIT, data));
const SUM = createHash("sha256").update(data).digest("hex");
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

const servers = [];
/** Starts a server. `act(request, response, range)` answers requests of the file; `tree` is what `.mkt` has, nothing if it is null. */
async function serve(act, tree = TREE) {
    const log = [];
    const server = createServer((request, response) => {
        if (request.url.endsWith(".mkt")) {
            if (tree === null) response.writeHead(404).end();
            else response.end(tree);
            return;
        }
        const found = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
        const range = found ? [Number(found[1]), Number(found[2]) + 1] : undefined;
        log.push(range);
        act(request, response, range, log.length);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server);
    return { url: `http://127.0.0.1:${server.address().port}/dir/file.bin?x=1`, log };
}
after(() => servers.forEach((server) => (server.closeAllConnections(), server.close())));

const partial = (response, [start, end], bytes = data.subarray(start, end), headers = {}) =>
    response.writeHead(206, { "Content-Range": `bytes ${start}-${end - 1}/${LEN}`, "Content-Length": bytes.length, ...headers }).end(bytes);
const good = (request, response, range) => (range ? partial(response, range) : response.end(data));
const corrupt = ([start, end]) => {
    const bytes = Buffer.from(data.subarray(start, end));
    bytes[bytes.length >> 1] ^= 1;
    return bytes;
};
const quick = { rangeBytes: 1 << 18, timeout: 5000 };
/** A limit of time in which no range is asked for twice for being slow. */
const patient = { ...quick, timeout: 150_000 };
const limit = { timeout: 20_000 };

let honest;
before(async () => (honest = await serve(good)));

test("good mirrors share the ranges, each is fetched once", limit, async () => {
    const other = await serve(good);
    const one = honest.log.length;
    const seen = [];
    const found = await verifiedFetch([honest.url, other.url], ROOT, { ...patient, progress: (done, total) => seen.push([done, total]) });
    assert.deepEqual([found.length, found.root, found.spec.text], [LEN, ROOT, FORMAT]);
    assert.equal(sha256(await found.bytes()), SUM);
    const all = [...honest.log.slice(one), ...other.log].toSorted((a, b) => a[0] - b[0]);
    assert.deepEqual(all.map(([start]) => start), Array.from({ length: Math.ceil(LEN / quick.rangeBytes) }, (_, at) => at * quick.rangeBytes));
    assert.ok(all.every(([start]) => start % UNIT === 0));
    assert.deepEqual(seen.at(-1), [LEN, LEN]);
    assert.ok(seen.every(([done], at) => at === 0 || done > seen[at - 1][0]));
    assert.equal(found.mirrors.reduce((sum, { bytes }) => sum + bytes, 0), LEN);
    assert.throws(() => found.stream(), { code: "finished" });
});

test("streams and blobs have the same bytes", limit, async () => {
    const digest = createHash("sha256");
    for await (const part of (await verifiedFetch(honest.url, ROOT, quick)).stream()) digest.update(part);
    assert.equal(digest.digest("hex"), SUM);
    const blob = await (await verifiedFetch(new URL(honest.url), `${FORMAT} (file.bin) = ${ROOT}`, quick)).blob();
    assert.equal(sha256(new Uint8Array(await blob.arrayBuffer())), SUM);
});

test("a tenth of a mirror's ranges is wrong: only these are fetched again", limit, async () => {
    // The first mirror is asked for the first ranges, and the second waits for a wrong one of them.
    let lied;
    const firstLie = new Promise((resolve) => (lied = resolve));
    const liar = await serve((_, response, range) => {
        const isWrong = (range[0] / quick.rangeBytes) % 10 === 1;
        partial(response, range, isWrong ? corrupt(range) : undefined);
        if (isWrong) lied();
    });
    const other = await serve(async (_, response, range) => partial(response, range, await firstLie));
    const found = await verifiedFetch([liar.url, other.url], ROOT, patient);
    assert.equal(sha256(await found.bytes()), SUM);
    const [first, second] = found.mirrors;
    assert.ok(first.bad > 0, "the liar was not asked for a wrong range");
    assert.deepEqual([second.bad, first.error], [0, undefined]);
    assert.equal(liar.log.length + other.log.length, Math.ceil(LEN / quick.rangeBytes) + first.bad);
});

test("no mirror is right: an error that names the range and the mirrors, after right bytes alone", limit, async () => {
    const liar = await serve((_, response, range) => partial(response, range, range[0] === 1 << 20 ? corrupt(range) : undefined));
    const digest = createHash("sha256");
    let done = 0;
    await assert.rejects(async () => {
        for await (const part of (await verifiedFetch(liar.url, ROOT, quick)).stream()) {
            digest.update(part);
            done += part.length;
        }
    }, (error) => error instanceof MksumError && error.code === "source" && error.message.includes("bytes 1048576..1310720 are nowhere") && error.message.includes(liar.url));
    assert.equal(done, 1 << 20);
    assert.equal(digest.digest("hex"), sha256(data.subarray(0, done)));
});

test("servers that ignore ranges are read as one stream", limit, async () => {
    const plain = await serve((_, response) => response.end(data));
    const found = await verifiedFetch(plain.url, ROOT, quick);
    assert.equal(sha256(await found.bytes()), SUM);
    const wrong = await serve((_, response) => response.end(Buffer.concat([data.subarray(0, 2_000_000), Buffer.alloc(1), data.subarray(2_000_001)])));
    const both = await verifiedFetch([wrong.url, plain.url], ROOT, quick);
    assert.equal(sha256(await both.bytes()), SUM);
    await assert.rejects((await verifiedFetch(wrong.url, ROOT, quick)).bytes(), { code: "source", message: /other bytes than the root's at 1835008\.\.2097152/ });
    const long = await serve((_, response) => response.end(Buffer.concat([data, Buffer.alloc(9)])));
    const cut = await verifiedFetch(long.url, ROOT, quick);
    assert.equal(sha256(await cut.bytes()), SUM);
});

test("truncated answers are asked for again, here or elsewhere", limit, async () => {
    const short = await serve((_, response, [start, end], number) => {
        if (number % 4 !== 1) {
            partial(response, [start, end]);
            return;
        }
        response.writeHead(206, { "Content-Range": `bytes ${start}-${end - 1}/${LEN}`, "Content-Length": end - start });
        response.write(data.subarray(start, start + 1000), () => response.destroy());
    });
    assert.equal(sha256(await (await verifiedFetch(short.url, ROOT, { ...quick, connections: 1 })).bytes()), SUM);
    const dead = await serve((_, response) => response.destroy());
    const found = await verifiedFetch([dead.url, honest.url], ROOT, quick);
    assert.equal(sha256(await found.bytes()), SUM);
    await assert.rejects((await verifiedFetch(dead.url, ROOT, quick)).bytes(), { code: "source", message: /cannot be fetched/ });
});

test("a file that changes on the way is blamed with its ETags", limit, async () => {
    const changing = await serve((_, response, range, number) =>
        partial(response, range, number > 4 ? corrupt(range) : undefined, { ETag: number > 4 ? '"new"' : '"old"' }));
    await assert.rejects((await verifiedFetch(changing.url, ROOT, { ...quick, connections: 1 })).bytes(), { code: "source", message: /ETag "old", then "new"/ });
    const found = await verifiedFetch([changing.url, honest.url], ROOT, quick);
    assert.equal(sha256(await found.bytes()), SUM);
});

test("503 with Retry-After is waited for, other refusals are final", limit, async () => {
    let refused = 0;
    const busy = await serve((request, response, range) => {
        if (refused++ < 2) response.writeHead(503, { "Retry-After": "1" }).end();
        else good(request, response, range);
    });
    const begin = performance.now();
    assert.equal(sha256(await (await verifiedFetch(busy.url, ROOT, { ...quick, connections: 1 })).bytes()), SUM);
    assert.ok(performance.now() - begin > 1900, "it was not waited for");
    const gone = await serve((_, response) => response.writeHead(403).end());
    await assert.rejects((await verifiedFetch(gone.url, ROOT, quick)).bytes(), { code: "source", message: /status 403/ });
    assert.ok(gone.log.length <= 3);
});

test("a wrong Content-Range is an error of the mirror", limit, async () => {
    const shifted = await serve((_, response, [start, end]) => response.writeHead(206, { "Content-Range": `bytes ${start}-${end - 1}/${LEN + 1}` }).end(data.subarray(start, end)));
    const found = await verifiedFetch([shifted.url, honest.url], ROOT, quick);
    assert.equal(sha256(await found.bytes()), SUM);
    assert.match(found.mirrors[0].error, /found bytes \d+-\d+\/5000001/);
});

test("a mirror that stalls is given up, and meanwhile another is asked", limit, async () => {
    const stuck = await serve((_, response, [start, end]) => response.writeHead(206, { "Content-Range": `bytes ${start}-${end - 1}/${LEN}` }).write("x"));
    const found = await verifiedFetch([stuck.url, honest.url], ROOT, quick);
    assert.equal(sha256(await found.bytes()), SUM);
    await assert.rejects((await verifiedFetch(stuck.url, ROOT, { ...quick, timeout: 300, attempts: 2 })).bytes(), { code: "source", message: /ended after 1 of/ });
});

test("a signal ends it, also an idle reader's", limit, async () => {
    const stuck = await serve((_, response) => response.writeHead(206).write("x"));
    const control = new AbortController();
    const found = await verifiedFetch(stuck.url, ROOT, { ...quick, signal: control.signal });
    setTimeout(() => control.abort(new Error("enough")), 50);
    await assert.rejects(found.bytes(), { message: "enough" });
    await assert.rejects(verifiedFetch(honest.url, ROOT, { signal: AbortSignal.abort(new Error("never")) }), { message: "never" });
    const stream = (await verifiedFetch(honest.url, ROOT, quick)).stream();
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
});

test("memory is bounded: no more is asked for than 16 ranges ahead", limit, async () => {
    const slow = await serve(good);
    const reader = (await verifiedFetch(slow.url, ROOT, { ...quick, rangeBytes: UNIT })).stream().getReader();
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.ok(slow.log.length <= 18, `${slow.log.length} ranges`);
    await reader.cancel();
});

test("outboards are not trusted", limit, async () => {
    const flipped = Buffer.from(TREE);
    flipped[1030] ^= 1;
    for (const [tree, why] of [[flipped, /a digest does not lead to the root/], [Buffer.from("no tree"), /file\.bin\.mkt: /],
        [Buffer.from(keep(FORMAT, UNIT, data.subarray(1))), /of another file: expected root/], [Buffer.from(keep("rfc6962:sha256:32KiB", UNIT, data)), /another format/]]) {
        const bad = await serve(good, tree);
        await assert.rejects(verifiedFetch(bad.url, ROOT, quick), (error) => error.code === "outboard" && why.test(error.message), String(why));
        // The next mirror's is taken.
        assert.equal(sha256(await (await verifiedFetch([bad.url, honest.url], ROOT, quick)).bytes()), SUM);
        assert.ok(bad.log.length > 0);
    }
    assert.equal(sha256(await (await verifiedFetch(honest.url, ROOT, { ...quick, outboard: TREE })).bytes()), SUM);
});

test("without an outboard the file is verified before a byte is handed out", limit, async () => {
    const bare = await serve(good, null);
    for (const [format, text] of [[FORMAT, ROOT], ["sha256", SUM]]) {
        const found = await verifiedFetch(bare.url, text, { ...quick, format });
        assert.equal(found.length, undefined);
        assert.equal(sha256(await found.bytes()), SUM);
    }
    const wrong = await serve((_, response) => response.end(Buffer.alloc(LEN)), null);
    const reader = (await verifiedFetch(wrong.url, `SHA256 (file.bin) = ${SUM}`, quick)).stream().getReader();
    await assert.rejects(reader.read(), { code: "source", message: /another file: expected root/ });
    const found = await verifiedFetch([wrong.url, bare.url], SUM, { ...quick, format: "sha256" });
    assert.equal(sha256(await found.bytes()), SUM);
});

test("an empty file, and a file of one unit", limit, async () => {
    for (const small of [new Uint8Array(), data.subarray(0, 100), data.subarray(0, UNIT)]) {
        const own = await serve((_, response, range) => (range ? response.end(small) : response.end(small)), Buffer.from(keep(FORMAT, UNIT, small)));
        const found = await verifiedFetch(own.url, root(FORMAT, small), quick);
        assert.deepEqual(Buffer.from(await found.bytes()), Buffer.from(small));
    }
});

/** A file of the origin private file system, as far as it is used: writes are there when the file is closed. */
class FakeHandle {
    bytes = new Uint8Array();
    async getFile() {
        return new Blob([this.bytes]);
    }
    async createWritable({ keepExistingData }) {
        let own = keepExistingData ? this.bytes.slice() : new Uint8Array();
        return {
            write: async ({ position, data: part }) => {
                if (own.length < position + part.length) {
                    const longer = new Uint8Array(position + part.length);
                    longer.set(own);
                    own = longer;
                }
                own.set(part, position);
            },
            truncate: async (len) => void (own = own.slice(0, len)),
            close: async () => void (this.bytes = own),
        };
    }
}

test("an interrupted download goes on from what is right of it", limit, async () => {
    const handle = new FakeHandle();
    const reader = (await verifiedFetch(honest.url, ROOT, { ...quick, resume: handle })).stream().getReader();
    for (let count = 0; count < 8; count++) await reader.read();
    await reader.cancel();
    assert.ok(handle.bytes.length >= 7 * quick.rangeBytes, `${handle.bytes.length} bytes were kept`);
    const kept = Math.floor(handle.bytes.length / quick.rangeBytes);
    // A damaged range is fetched again, nothing else that is there.
    handle.bytes[3 * quick.rangeBytes + 5] ^= 1;
    const second = await serve(good);
    const blob = await (await verifiedFetch(second.url, ROOT, { ...patient, resume: handle })).blob();
    assert.equal(sha256(new Uint8Array(await blob.arrayBuffer())), SUM);
    assert.equal(sha256(handle.bytes), SUM);
    assert.equal(second.log.length, Math.ceil(LEN / quick.rangeBytes) - kept + 1);
});

test("parts are read at any time, and only their units are fetched", limit, async () => {
    const own = await serve(good);
    const found = await verifiedFetch(own.url, ROOT, patient);
    const places = [[0, 1], [70_001, 1000], [UNIT - 1, 2], [LEN - 3, 10], [1_000_000, 1_000_000], [4_999_000, 1000]];
    for (const [offset, length] of places) {
        own.log.length = 0;
        assert.deepEqual(Buffer.from(await found.read(offset, length)), data.subarray(offset, offset + length));
        const asked = own.log.toSorted((a, b) => a[0] - b[0]);
        assert.equal(asked[0][0], offset - (offset % UNIT));
        assert.equal(asked.at(-1)[1], Math.min(Math.ceil((offset + length) / UNIT) * UNIT, LEN));
    }
    own.log.length = 0;
    for (const [offset, length] of [[LEN, 5], [2 ** 50, 1], [7, 0]]) assert.equal((await found.read(offset, length)).length, 0);
    assert.equal(own.log.length, 0);
    const offsets = Array.from({ length: 40 }, (_, at) => (at * 7_919 * 61) % (LEN - 5000));
    const parts = await Promise.all(offsets.map((offset) => found.read(offset, 5000)));
    parts.forEach((part, at) => assert.ok(data.subarray(offsets[at], offsets[at] + 5000).equals(part)));
    // They take nothing of the download.
    assert.equal(sha256(await found.bytes()), SUM);
    assert.deepEqual(Buffer.from(await found.read(5, 5)), data.subarray(5, 10));
    for (const [offset, length] of [[-1, 1], [0, -1], [0.5, 1], [0, NaN]]) await assert.rejects(found.read(offset, length), { code: "length" });
    await assert.rejects(found.read("0", 1), { code: "argument" });
});

test("a part that is wrong is an error or comes from another mirror, whatever was wrong before", limit, async () => {
    let lies = true;
    const liar = await serve((_, response, range) => partial(response, range, lies ? corrupt(range) : undefined));
    const alone = await verifiedFetch(liar.url, ROOT, quick);
    await assert.rejects(alone.read(2_000_000, 10), { code: "source", message: /bytes 1966080\.\.2031616 are nowhere: .*other bytes than the root's/ });
    const both = await verifiedFetch([liar.url, honest.url], ROOT, quick);
    assert.deepEqual(Buffer.from(await both.read(2_000_000, 10)), data.subarray(2_000_000, 2_000_010));
    lies = false;
    assert.deepEqual(Buffer.from(await alone.read(2_000_000, 10)), data.subarray(2_000_000, 2_000_010));
    const control = new AbortController();
    const ended = await verifiedFetch(honest.url, ROOT, { ...quick, signal: control.signal });
    control.abort(new Error("enough"));
    await assert.rejects(ended.read(0, 1), { message: "enough" });
});

test("parts of servers without ranges, of blobs, and without an outboard", limit, async () => {
    const plain = await serve((_, response) => response.end(data));
    for (const [offset, length] of [[0, 5], [2_000_000, 1_500_000], [LEN - 1, 1]]) {
        const found = await verifiedFetch(plain.url, ROOT, quick);
        assert.deepEqual(Buffer.from(await found.read(offset, length)), data.subarray(offset, offset + length));
    }
    const wrong = Buffer.from(data);
    wrong[3_000_003] ^= 1;
    const blob = await verifiedFetch(new Blob([data]), ROOT, { ...quick, outboard: TREE });
    assert.deepEqual(Buffer.from(await blob.read(3_000_000, 7)), data.subarray(3_000_000, 3_000_007));
    assert.equal(sha256(await blob.bytes()), SUM);
    const damaged = await verifiedFetch(new Blob([wrong]), ROOT, { ...quick, outboard: TREE });
    await assert.rejects(damaged.read(3_000_000, 7), { code: "source", message: /bytes 2949120\.\.3014656 are nowhere: the Blob: other bytes/ });
    const healed = await verifiedFetch([new Blob([wrong]), honest.url], ROOT, quick);
    assert.deepEqual(Buffer.from(await healed.read(3_000_000, 7)), data.subarray(3_000_000, 3_000_007));
    const whole = await verifiedFetch(new Blob([data]), ROOT, quick);
    assert.equal(sha256(await whole.bytes()), SUM);
    const bare = await serve(good, null);
    await assert.rejects((await verifiedFetch(bare.url, ROOT, quick)).read(0, 1), { code: "outboard" });
    const empty = await serve((_, response) => response.end(), Buffer.from(keep(FORMAT, UNIT, new Uint8Array())));
    assert.equal((await (await verifiedFetch(empty.url, root(FORMAT, new Uint8Array()))).read(0, 9)).length, 0);
});

test("wrong arguments are refused", limit, async () => {
    for (const [act, code] of [
        [() => verifiedFetch([], ROOT), "argument"], [() => verifiedFetch("not a url", ROOT), "argument"], [() => verifiedFetch(honest.url, "00"), "argument"],
        [() => verifiedFetch(honest.url, ROOT, { format: "nosuch" }), "argument"], [() => verifiedFetch(honest.url, ROOT, { signal: 1 }), "argument"],
        [() => verifiedFetch(honest.url, 5), "argument"], [() => verifiedFetch(honest.url, "XXH64 (file.bin) = 0123456789abcdef"), "format"],
        [() => verifiedFetch(honest.url, "00000000", { format: "crc32" }), "format"],
    ]) await assert.rejects(act(), (error) => error instanceof MksumError && error.code === code, String(act));
});
