import type { OwnBytes } from "./bytes.js";
import { integer, unexpected } from "./bytes.js";
import { load } from "./engine.js";
import { MksumError } from "./errors.js";
import { Frontier } from "./frontier.js";
import { abortable, checked, type Options } from "./input.js";
import { Held } from "./held.js";
import { Outboard } from "./outboard.js";
import { cover, endOf, Feed, type Subtree } from "./pieces.js";
import type { Trusted } from "./proof.js";
import { Root } from "./root.js";
import { root as rootIn } from "./root-of.js";
import { answerOf, body, Mirror, type Server } from "./mirror.js";
import { Spec } from "./spec.js";

export type { Mirror } from "./mirror.js";

/** Where a file may be: a URL, or bytes that need not be trusted either. */
export type FileSource = string | URL | Blob;

/** Options of {@link verifiedFetch}. `progress` receives the bytes that are verified, and the length if it is known. */
export interface FetchOptions extends Omit<Options, "pool"> {
    /** The format of a root that is text alone, `rfc6962:sha256:64KiB` if it is not given. */
    readonly format?: Spec | string | undefined;
    /** Where the outboard is: its URL, or its bytes. By default at each URL with `.mkt` behind its path; a `Blob` has none. */
    readonly outboard?: string | URL | Uint8Array | undefined;
    /** The bytes of a range that is asked for at a time, about; 1 MiB if it is not given. */
    readonly rangeBytes?: number | undefined;
    /** The requests to a mirror at a time, 3 if it is not given. */
    readonly connections?: number | undefined;
    /** The failed requests to a mirror, one after the other, after which it is left; 4 if it is not given. */
    readonly attempts?: number | undefined;
    /** The time without a byte after which a request has failed, in milliseconds; 30,000 if it is not given. */
    readonly timeout?: number | undefined;
    /**
     * A file of the origin private file system that keeps what is verified, to go on from after an interruption. What it has is verified by
     * the outboard before it is used.
     */
    readonly resume?: FileSystemFileHandle | undefined;
    /** The function that fetches, `globalThis.fetch` if it is not given: for headers, or credentials. */
    readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * The bytes of a file, of which none is handed out before it is verified. All of them can be taken once, in one of three ways; parts of them
 * can be read at any time.
 */
export interface VerifiedDownload {
    readonly spec: Spec;
    /** The root that the bytes have. */
    readonly root: string;
    /** The length of the file, in bytes; `undefined` if no outboard states it. */
    readonly length: number | undefined;
    /** The mirrors, and what they have given so far. */
    readonly mirrors: readonly Mirror[];
    /** Returns the bytes as a stream, in order. To cancel it ends all requests. */
    stream(): ReadableStream<OwnBytes>;
    /** Returns the bytes as a `Blob`. */
    blob(): Promise<Blob>;
    /** Returns the bytes. */
    bytes(): Promise<OwnBytes>;
    /**
     * Returns `length` bytes from `offset` on, fewer only at the end of the file. The units that have one of them are fetched from the mirrors
     * in this call, verified, and not kept. It takes nothing of what the other functions return, and any number of calls may run at once.
     *
     * @throws {MksumError} `outboard` if there is no outboard; `source` if no mirror has the right bytes; the signal's reason.
     */
    read(offset: number, length: number): Promise<OwnBytes>;
}

/** The ranges that are asked for before the reader takes them: a bound of memory. */
const AHEAD = 16;
/** The share of the time limit that a range may be with one mirror before an idle one is asked for it too. */
const PATIENCE = 1 / 10;
/** The longest outboard, in bytes. */
const OUTBOARD = 1 << 28;
/** The times that a mirror is asked for a range for which all mirrors had other bytes. */
const TRIES = 3;
/** The bad ranges of a mirror after which it is left, if there are others. */
const BAD = 16;

/**
 * Fetches a file from mirrors that need not be trusted. The outboard comes first, and each of its digests is checked up to the root. Then ranges
 * come from all mirrors at once, and each is verified before it is handed out: a wrong one is counted against its mirror, and fetched from
 * another. Servers that ignore ranges are read as one stream. Without an outboard, a file is verified at its end, and only then handed
 * out.
 *
 * @param urls The addresses of the file, or one. A `Blob` or `File` may stand for one.
 * @param root The trusted root: text with the format in the options, a line `FORMAT (NAME) = ROOT`, a {@link Root}, or a root with its
 * format and length.
 * @throws {MksumError} `argument` if an argument is wrong; `format` if the root is a checksum, which proves nothing; `outboard` if all outboards are of other files; `source` if no mirror gives the
 * outboard or the bytes; the signal's reason. Errors that come later are those of the stream or the promise of the bytes.
 */
export async function verifiedFetch(
    urls: FileSource | readonly FileSource[],
    root: string | Root | Trusted,
    options: FetchOptions = {},
): Promise<VerifiedDownload> {
    checked(options, ["format", "outboard", "rangeBytes", "connections", "attempts", "timeout", "resume", "fetch"]);
    await load();
    const all = Array.isArray(urls) ? (urls as readonly FileSource[]) : [urls as FileSource];
    if (all.length === 0) throw new MksumError("argument", "expected URLs, found none");
    const server: Server = {
        fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
        attempts: options.attempts ?? 4,
        timeout: options.timeout ?? 30_000,
        signal: options.signal,
    };
    const mirrors = all.map((url) => (url instanceof Blob ? new Mirror("the Blob", url) : new Mirror(absolute(url))));
    const expected = expectedOf(root, options.format);
    if (/^(crc|xxh)/.test(expected.spec.hash)) {
        throw new MksumError("format", `${expected.spec.text} detects accidents alone: anybody can make another file with this root`);
    }
    options.signal?.throwIfAborted();
    const found = expected.spec.leaf === Infinity ? undefined : await outboardOf(mirrors, expected, server, options.outboard);
    return found ? new Tree(mirrors, expected, found, server, options) : new Chain(mirrors, expected, server, options);
}

/** Returns a URL as text. @throws {MksumError} `argument` if it is none. */
function absolute(url: string | URL): string {
    try {
        return new URL(url, (globalThis as { document?: { baseURI: string } }).document?.baseURI).href;
    } catch (cause) {
        throw new MksumError("argument", `expected an absolute URL, found '${String(url)}'`, { cause });
    }
}

/** What is known of the file. */
interface Expected {
    readonly spec: Spec;
    readonly root: string;
    readonly len: number | undefined;
}

function expectedOf(root: string | Root | Trusted, format: Spec | string = "rfc6962:sha256:64KiB"): Expected {
    if (root instanceof Root) return { spec: root.spec, root: root.text, len: root.len };
    if (typeof root === "string") {
        const line = /^([!-~]+) ?\(.*\) ?= (\S+)\s*$/s.exec(root);
        const spec = Spec.parse(line ? (/[A-Z]/.test(line[1]!.split(":")[0]!) ? line[1]!.toLowerCase() : line[1]!) : format);
        return { spec, root: canonical(line ? line[2]! : root.trim(), spec), len: undefined };
    }
    if (typeof root !== "object" || root === null) throw unexpected("expected a root", root);
    const spec = Spec.parse(root.spec);
    return { spec, root: root.root instanceof Root ? root.root.text : canonical(root.root, spec), len: root.len };
}

/** Returns a root as its format prints it. @throws {MksumError} `argument` if it has other digits than a digest of the format. */
function canonical(text: string, spec: Spec): string {
    if (spec.family === "s3") return text;
    if (text.length !== 2 * spec.size || !/^[0-9a-f]*$/i.test(text)) {
        throw new MksumError("argument", `'${text}' is not a root of ${spec.text}: expected ${2 * spec.size} hex digits`);
    }
    return text.toLowerCase();
}

/** An outboard of the expected root, and the checked digests of its units. */
interface Kept {
    readonly outboard: Outboard;
    readonly units: OwnBytes;
    readonly pieces: readonly Subtree[];
}

/** Returns the outboard of the first mirror that has a right one; `undefined` if no mirror has one. */
async function outboardOf(mirrors: readonly Mirror[], expected: Expected, server: Server, given: FetchOptions["outboard"]): Promise<Kept | undefined> {
    if (given instanceof Uint8Array) return checkedOutboard(given, expected, "the outboard");
    const places = given !== undefined ? [absolute(given)] : mirrors.filter(({ blob }) => !blob).map(({ url }) => {
        const place = new URL(url);
        place.pathname += ".mkt";
        place.search = "";
        return place.href;
    });
    let wrong: unknown;
    for (const place of places) {
        const mirror = new Mirror(place);
        const parts: Uint8Array[] = [];
        try {
            const response = await answerOf(mirror, server);
            let len = 0;
            for await (const part of body(response, server)) {
                len += part.length;
                if (len > OUTBOARD) throw new MksumError("outboard", `${place}: longer than ${OUTBOARD} bytes`);
                parts.push(part);
            }
            return checkedOutboard(new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer()), expected, place);
        } catch (error) {
            server.signal?.throwIfAborted();
            if (!(error instanceof MksumError) || error.code === "broken") throw error;
            // One that is not there is no error: the file is then verified at its end.
            if (error.code !== "source" || given !== undefined) wrong ??= error;
        }
    }
    if (wrong) throw wrong;
    return undefined;
}

/** Checks an outboard up to the expected root. @throws {MksumError} `outboard` if it is none, or of another file. */
function checkedOutboard(bytes: Uint8Array, { spec, root, len }: Expected, place: string): Kept {
    const refuse = (why: string, cause?: unknown): MksumError => new MksumError("outboard", `${place}: ${why}`, { cause });
    let outboard: Outboard;
    try {
        outboard = Outboard.open(bytes);
    } catch (cause) {
        throw refuse((cause as Error).message, cause);
    }
    if (outboard.spec.text !== spec.text) throw refuse(`an outboard of another format: expected ${spec.text}, found ${outboard.spec.text}`);
    if (outboard.root !== root) throw refuse(`this outboard is of another file: expected root ${root}, found ${outboard.root}`);
    if (len === undefined && spec.binding === "nothing") {
        throw new MksumError("argument", `in ${spec.text}, a root does not commit to the length of the file: give a root with its length`);
    }
    if (len !== undefined && outboard.len !== len) throw refuse(`an outboard of ${outboard.len} bytes, expected ${len}`);
    if (outboard.len === 0) {
        if (rootIn(spec, new Uint8Array()).text !== root) throw refuse("this outboard is not of an empty file");
        return { outboard, units: new Uint8Array(), pieces: [] };
    }
    let units: OwnBytes;
    try {
        units = outboard.units();
    } catch (cause) {
        throw refuse(`a digest does not lead to the root: ${(cause as Error).message}`, cause);
    }
    const pieces = cover(spec, outboard.len, outboard.unit);
    if (units.length !== pieces.length * spec.size) throw refuse(`expected ${pieces.length} units, found ${units.length / spec.size}`);
    return { outboard, units, pieces };
}

/** What both ways of verifying share: the bytes are taken once. */
abstract class Download implements VerifiedDownload {
    readonly spec: Spec;
    readonly root: string;
    private taken = false;
    /** Whose signal the caller's signal, or the end of the download, aborts. */
    private readonly ending = new AbortController();
    /** Those of each lane: Node warns of many listeners of one signal. */
    private readonly lanes = new Set<AbortController>();

    constructor(
        readonly mirrors: readonly Mirror[],
        expected: Pick<Expected, "spec" | "root">,
        protected readonly server: Server,
        protected readonly options: FetchOptions,
    ) {
        [this.spec, this.root] = [expected.spec, expected.root];
        const { signal } = options;
        const abort = (): void => this.end(signal!.reason);
        if (signal?.aborted) abort();
        signal?.addEventListener("abort", abort, { once: true, signal: this.ending.signal });
    }

    /** The signal of the reader. */
    protected get signal(): AbortSignal {
        return this.ending.signal;
    }

    /** Returns the settings of requests that the end of the download aborts. */
    protected lane(): Server {
        const own = new AbortController();
        if (this.signal.aborted) own.abort(this.signal.reason);
        this.lanes.add(own);
        return { ...this.server, signal: own.signal };
    }

    /** Aborts all requests. */
    protected end(reason?: unknown): void {
        this.ending.abort(reason);
        for (const lane of this.lanes) lane.abort(this.signal.reason);
        this.lanes.clear();
    }

    abstract get length(): number | undefined;

    abstract read(offset: number, length: number): Promise<OwnBytes>;

    /** Yields the bytes, all of them verified. */
    protected abstract verified(): AsyncGenerator<OwnBytes, void>;

    /** Returns a `Blob` that is there without reading the bytes again. */
    protected async kept(): Promise<Blob | undefined> {
        return undefined;
    }

    private take(): AsyncGenerator<OwnBytes, void> {
        if (this.taken) throw new MksumError("finished", "the bytes of this download were taken: fetch it again");
        this.taken = true;
        return this.verified();
    }

    stream(): ReadableStream<OwnBytes> {
        const bytes = this.take();
        return new ReadableStream<OwnBytes>({
            pull: async (controller) => {
                const { done, value } = await bytes.next();
                if (done) controller.close();
                else controller.enqueue(value);
            },
            cancel: async (reason) => {
                this.end(reason ?? new MksumError("finished", "the stream was cancelled"));
                await bytes.return();
            },
        }, { highWaterMark: 0 });
    }

    async blob(): Promise<Blob> {
        const parts: Blob[] = [];
        for await (const part of this.take()) {
            // A browser moves blobs to the disk.
            if (!this.options.resume) parts.push(new Blob([part]));
        }
        return (await this.kept()) ?? new Blob(parts);
    }

    async bytes(): Promise<OwnBytes> {
        const parts: OwnBytes[] = [];
        for await (const part of this.take()) parts.push(part);
        return new Uint8Array(await new Blob(parts).arrayBuffer());
    }
}

/** A range of whole units, which is fetched at a time. */
interface Range {
    readonly start: number;
    readonly end: number;
    readonly pieces: readonly Subtree[];
    /** The index of the first unit. */
    readonly first: number;
    /** The mirrors that gave other bytes, and how often. */
    readonly wrong: Map<Mirror, number>;
    /** The requests that run, and when the first of them began. */
    running: Set<Mirror>;
    since: number;
    bytes: OwnBytes | undefined;
    /** Whether the file of an earlier run has them. */
    isKept: boolean;
}

/** A file whose outboard verifies each range. */
class Tree extends Download {
    private readonly ranges: Range[];
    /** The first range that was not handed out. */
    private next = 0;
    private done = 0;
    private error: unknown;
    private ended = false;
    private changed: (() => void)[] = [];
    private held: Held | undefined;
    private sequence: Promise<void> | undefined;

    constructor(mirrors: readonly Mirror[], expected: Pick<Expected, "spec" | "root">, private readonly outboard: Kept, server: Server, options: FetchOptions) {
        super(mirrors, expected, server, options);
        const size = Math.max(outboard.outboard.unit, options.rangeBytes ?? 1 << 20);
        this.ranges = [];
        for (let first = 0; first < outboard.pieces.length;) {
            let last = first;
            const { start } = outboard.pieces[first]!;
            while (last + 1 < outboard.pieces.length && endOf(outboard.pieces[last + 1]!) - start <= size) last++;
            const pieces = outboard.pieces.slice(first, last + 1);
            this.ranges.push({ start, end: endOf(pieces.at(-1)!), pieces, first, wrong: new Map(), running: new Set(), since: 0, bytes: undefined, isKept: false });
            first = last + 1;
        }
    }

    get length(): number {
        return this.outboard.outboard.len;
    }

    async read(offset: number, length: number): Promise<OwnBytes> {
        const [start, { pieces, units }] = [integer(offset, "offset"), this.outboard];
        const end = Math.min(start + integer(length, "length"), this.length);
        if (start >= end) return new Uint8Array();
        // There may be a million pieces.
        let [first, after] = [0, pieces.length];
        while (first < after) {
            const half = (first + after) >>> 1;
            if (endOf(pieces[half]!) > start) after = half;
            else first = half + 1;
        }
        while (after < pieces.length && pieces[after]!.start < end) after++;
        const own = pieces.slice(first, after);
        // Mirrors of its own: one that fails now may be right again later.
        const part = new Tree(
            this.mirrors.map(({ url, blob }) => new Mirror(url, blob)), this, { ...this.outboard, pieces: own, units: units.subarray(first * this.spec.size) },
            this.server, { ...this.options, resume: undefined, progress: undefined },
        );
        return (await part.bytes()).slice(start - own[0]!.start, end - own[0]!.start);
    }

    protected override async kept(): Promise<Blob | undefined> {
        return this.held?.blob();
    }

    /** Returns whether bytes are those of a range. */
    private isRight(range: Range, bytes: Uint8Array): boolean {
        const { units, outboard } = this.outboard;
        if (bytes.length !== range.end - range.start) return false;
        const feed = new Feed(this.spec, outboard.len, range.pieces);
        try {
            feed.update(bytes);
            const from = range.first * this.spec.size;
            return feed.digests.every((byte, at) => byte === units[from + at]);
        } finally {
            feed.free();
        }
    }

    protected async *verified(): AsyncGenerator<OwnBytes, void> {
        const { resume, progress, connections = 3 } = this.options;
        const { signal } = this;
        const lanes: Promise<void>[] = [];
        try {
            signal.throwIfAborted();
            if (resume) this.held = await Held.open(resume, this.length);
            for (const mirror of this.mirrors) for (let lane = 0; lane < connections; lane++) lanes.push(this.work(mirror, this.lane()));
            for (; this.next < this.ranges.length; this.next++) {
                const range = this.ranges[this.next]!;
                await this.old(range);
                while (!range.bytes) {
                    signal.throwIfAborted();
                    if (this.error) throw this.error;
                    await abortable(this.change(), signal);
                }
                const { bytes } = range;
                this.done += bytes.length;
                if (!range.isKept) await this.held?.write(range.start, bytes);
                progress?.(this.done, this.length);
                yield bytes;
                range.bytes = new Uint8Array();
                this.notify();
            }
        } finally {
            this.ended = true;
            this.end();
            this.notify();
            await Promise.allSettled(lanes);
            await this.held?.close(this.next === this.ranges.length);
        }
    }

    /** Takes the bytes of a range from the file of an earlier run, if it has them. */
    private async old(range: Range): Promise<void> {
        const bytes = range.bytes ? undefined : await this.held?.read(range.start, range.end);
        if (bytes && !range.bytes && this.isRight(range, bytes)) [range.bytes, range.isKept] = [bytes, true];
    }

    /** The time after which a range is asked of a second mirror, in milliseconds. */
    private get patience(): number {
        return PATIENCE * this.server.timeout;
    }

    private notify(): void {
        const waiting = this.changed;
        this.changed = [];
        for (const wake of waiting) wake();
    }

    /** Resolves when something has changed, or some time has passed. */
    private change(most = this.patience): Promise<void> {
        return new Promise((resolve) => {
            const timer = setTimeout(resolve, most);
            this.changed.push(() => {
                clearTimeout(timer);
                resolve();
            });
        });
    }

    /** Returns the next range for a mirror: one that no mirror is asked for, or one that another is too slow with. */
    private choose(mirror: Mirror): Range | undefined {
        const window = this.ranges.slice(this.next, this.next + AHEAD).filter((range) => !range.bytes && this.may(range, mirror));
        const free = window.find((range) => range.running.size === 0);
        const slow = (range: Range): boolean => range.running.size === 1 && !range.running.has(mirror) && performance.now() - range.since > this.patience;
        return free ?? window.find(slow);
    }

    /** Returns whether a mirror may be asked for a range: once, and again if all others were wrong too. */
    private may(range: Range, mirror: Mirror): boolean {
        const times = range.wrong.get(mirror) ?? 0;
        const all = this.mirrors.every((other) => other.error !== undefined || range.wrong.has(other));
        return times === 0 || (all && times < TRIES);
    }

    /** Asks a mirror for range after range. */
    private async work(mirror: Mirror, server: Server): Promise<void> {
        while (!this.ended && mirror.error === undefined) {
            if (mirror.ranges === false) return this.whole(mirror, server);
            const wait = mirror.until - performance.now();
            if (wait > 0) {
                await this.change(Math.min(wait, this.patience));
                continue;
            }
            const range = this.choose(mirror);
            if (!range) {
                await this.change();
                continue;
            }
            range.running.add(mirror);
            range.since ||= performance.now();
            try {
                await this.old(range);
                if (range.bytes) continue;
                const bytes = await this.fetched(mirror, server, range);
                if (bytes) this.judge(mirror, range, bytes);
            } catch (error) {
                if (this.ended) return;
                this.leave(mirror, error);
            } finally {
                range.running.delete(mirror);
                if (range.running.size === 0) range.since = 0;
                this.notify();
            }
        }
    }

    /** Returns the bytes that a mirror gives for a range; `undefined` if it has no ranges. */
    private async fetched(mirror: Mirror, server: Server, { start, end }: Range): Promise<OwnBytes | undefined> {
        const ends = { start, end, len: this.length };
        const response = await answerOf(mirror, server, ends);
        if (!response) return undefined;
        if (response.status === 200 && !(start === 0 && end === this.length)) {
            mirror.ranges = false;
            void response.body?.cancel().catch(() => {});
            return undefined;
        }
        mirror.ranges ??= response.status === 206;
        const bytes = new Uint8Array(end - start);
        let at = 0;
        for await (const part of body(response, server)) {
            if (at + part.length > bytes.length) return mirror.wrongLength();
            bytes.set(part, at);
            at += part.length;
        }
        if (at < bytes.length) {
            mirror.failed(`ended after ${at} of ${bytes.length} bytes of the range ${start}..${end}`, server);
            return undefined;
        }
        mirror.failures = 0;
        return bytes;
    }

    /** Takes the bytes of a range if they are right. Returns whether they are. */
    private judge(mirror: Mirror, range: Range, bytes: OwnBytes): boolean {
        if (this.isRight(range, bytes)) {
            if (!range.bytes) {
                mirror.bytes += bytes.length;
                range.bytes = bytes;
            }
            return true;
        }
        mirror.bad++;
        range.wrong.set(mirror, (range.wrong.get(mirror) ?? 0) + 1);
        const others = this.mirrors.filter((other) => other !== mirror && other.error === undefined);
        if (mirror.bad >= BAD && others.length > 0) {
            this.leave(mirror, new MksumError("source", `${mirror.url}: ${mirror.bad} ranges were wrong${mirror.change}`));
        }
        this.despair(range);
        return false;
    }

    /** Leaves a mirror. */
    private leave(mirror: Mirror, error: unknown): void {
        if (error instanceof MksumError && error.code === "source") {
            mirror.error ??= error.message;
        } else {
            this.error ??= error;
        }
        for (const range of this.ranges.slice(this.next, this.next + AHEAD)) if (!range.bytes) this.despair(range);
        this.notify();
    }

    /** Fails if no mirror is left for a range. */
    private despair(range: Range): void {
        if (this.mirrors.some((mirror) => mirror.error === undefined && this.may(range, mirror))) return;
        const why = this.mirrors.map((mirror) => mirror.error ?? `${mirror.url}: other bytes than the root's${mirror.change}`);
        this.error ??= new MksumError("source", `bytes ${range.start}..${range.end} are nowhere: ${why.join("; ")}`);
    }

    /** Reads a mirror without ranges from its beginning, if no other has ranges; one at a time. */
    private async whole(mirror: Mirror, server: Server): Promise<void> {
        while (!this.ended && mirror.error === undefined && this.ranges.slice(this.next).some(({ bytes }) => !bytes)) {
            if (this.sequence || this.mirrors.some((other) => other.error === undefined && other.ranges !== false)) {
                await this.change();
                continue;
            }
            this.sequence = this.sequential(mirror, server);
            try {
                await this.sequence;
            } catch (error) {
                if (this.ended) return;
                this.leave(mirror, error);
            } finally {
                this.sequence = undefined;
                this.notify();
            }
        }
    }

    private async sequential(mirror: Mirror, server: Server): Promise<void> {
        const response = await answerOf(mirror, server);
        let index = 0;
        // What comes before the first range is passed over.
        let [filled, held, before] = [0, new Uint8Array(), this.ranges[0]?.start ?? 0];
        for await (const part of body(response, server)) {
            let at = Math.min(before, part.length);
            before -= at;
            while (at < part.length) {
                const range = this.ranges[index];
                if (!range) {
                    if (this.ranges.at(-1)?.end === this.length) mirror.wrongLength();
                    return;
                }
                const size = range.end - range.start;
                if (held.length !== size) held = new Uint8Array(size);
                const own = part.subarray(at, at + size - filled);
                held.set(own, filled);
                [at, filled] = [at + own.length, filled + own.length];
                if (filled < size) continue;
                [index, filled] = [index + 1, 0];
                mirror.failures = 0;
                // Memory is bounded: the server waits for the reader.
                while (!this.ended && index > this.next + AHEAD) await this.change();
                if (this.ended) return;
                if (range.bytes || index <= this.next) continue;
                const right = this.judge(mirror, range, held);
                held = new Uint8Array();
                this.notify();
                if (!right) {
                    throw new MksumError("source", `${mirror.url}: other bytes than the root's at ${range.start}..${range.end}${mirror.change}`);
                }
            }
        }
        if (index < this.ranges.length) mirror.failed(`ended after ${this.ranges[index]!.start + filled} of ${this.length} bytes`, server);
    }
}

/** A file without an outboard: verified at its end, and only then handed out. */
class Chain extends Download {
    constructor(mirrors: readonly Mirror[], private readonly expected: Expected, server: Server, options: FetchOptions) {
        super(mirrors, expected, server, options);
        if (!expected.spec.streams) {
            throw new MksumError("format", `${expected.spec.text} needs an outboard: a stream of unknown length has no root in it`);
        }
    }

    get length(): undefined {
        return undefined;
    }

    async read(): Promise<never> {
        throw new MksumError("outboard", "no part can be verified without an outboard");
    }

    protected async *verified(): AsyncGenerator<OwnBytes, void> {
        const why: string[] = [];
        const server = this.lane();
        try {
            for (const mirror of this.mirrors) {
                let blob: Blob | undefined;
                while (!blob && mirror.error === undefined) {
                    this.signal.throwIfAborted();
                    try {
                        blob = await this.whole(mirror, server);
                    } catch (error) {
                        this.signal.throwIfAborted();
                        if (!(error instanceof MksumError) || error.code !== "source") throw error;
                        mirror.error ??= error.message;
                    }
                }
                if (!blob) {
                    why.push(mirror.error!);
                    continue;
                }
                const slice = 1 << 20;
                for (let at = 0; at < blob.size; at += slice) yield new Uint8Array(await blob.slice(at, at + slice).arrayBuffer());
                return;
            }
            throw new MksumError("source", `no mirror has the file: ${why.join("; ")}`);
        } finally {
            this.end();
        }
    }

    /** Returns the whole file of a mirror, if it has the root; `undefined` if the request failed and may be tried again. */
    private async whole(mirror: Mirror, server: Server): Promise<Blob | undefined> {
        const response = await answerOf(mirror, server);
        // A compressed transfer has another length than the file.
        const stated = response.headers.has("content-encoding") ? undefined : response.headers.get("content-length");
        const total = stated ? Number(stated) : undefined;
        const frontier = new Frontier(this.spec);
        const parts: Blob[] = [];
        let done = 0;
        try {
            for await (const part of body(response, server)) {
                frontier.update(part);
                parts.push(new Blob([part as OwnBytes]));
                done += part.length;
                this.options.progress?.(done, total);
            }
            if (total !== undefined && done < total) {
                mirror.failed(`ended after ${done} of ${total} bytes`, server);
                return undefined;
            }
            const found = frontier.root();
            if (found.text !== this.root || (this.expected.len ?? done) !== done) {
                mirror.bad++;
                throw new MksumError("source", `${mirror.url}: another file: expected root ${this.root}, found ${found.text} (${done} bytes)`);
            }
            mirror.bytes += done;
            return new Blob(parts);
        } finally {
            frontier.free();
        }
    }
}
