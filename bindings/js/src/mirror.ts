// A server that may have a file: its requests, and what they showed of it.
import { MksumError } from "./errors.js";
import { abortable } from "./input.js";

/** The settings of requests. */
export interface Server {
    readonly fetch: typeof globalThis.fetch;
    readonly attempts: number;
    /** The time without a byte after which a request has failed, in milliseconds. */
    readonly timeout: number;
    readonly signal: AbortSignal | undefined;
}

/** The longest wait that a server may ask for, in milliseconds. */
const LONGEST = 60_000;

/** A mirror of a file. */
export class Mirror {
    /** The verified bytes that came from it. */
    bytes = 0;
    /** The ranges in which it had other bytes. */
    bad = 0;
    /** Why nothing more is asked of it, if it was left. */
    error: string | undefined;
    /** @internal Whether it answers ranges; `undefined` as long as it was not asked. */
    ranges: boolean | undefined;
    /** @internal The failures since the last success. */
    failures = 0;
    /** @internal The time before which nothing is asked, of `performance.now`. */
    until = 0;
    /** @internal What a changed ETag showed, for errors. */
    change = "";
    private etag: string | null | undefined;

    /** @internal `blob` has the bytes, if it is no server; then the URL is its name for messages. */
    constructor(readonly url: string, readonly blob?: Blob) {}

    /** @internal Counts a failure. @throws {MksumError} `source` if there were too many. */
    failed(why: string, { attempts }: Server, wait?: number): void {
        this.failures++;
        if (this.failures >= attempts) throw new MksumError("source", `${this.url}: ${why}, ${this.failures} times`);
        this.until = performance.now() + Math.min(wait ?? 100 * 2 ** this.failures, LONGEST);
    }

    /** @internal Throws, because the file has another length. */
    wrongLength(): never {
        throw new MksumError("source", `${this.url}: more bytes than the file has${this.change}`);
    }

    /** @internal Notes the ETag of an answer. */
    note(response: Response): void {
        const etag = response.headers.get("etag");
        if (this.etag !== undefined && this.etag !== etag) this.change = `; it changed while it was fetched (ETag ${this.etag}, then ${etag})`;
        this.etag = etag;
    }
}

/** The bytes `start..end` of a file of `len` bytes. */
export interface Ends {
    readonly start: number;
    readonly end: number;
    readonly len: number;
}

/** Waits, or rejects when the signal does. */
async function sleep(time: number, signal: AbortSignal | undefined): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
        await abortable(new Promise<void>((resolve) => (timer = setTimeout(resolve, time))), signal);
    } finally {
        clearTimeout(timer);
    }
}

/** Returns the milliseconds that a `Retry-After` asks for (RFC 9110, 10.2.3). */
function retryAfter(value: string | null): number | undefined {
    if (value === null) return undefined;
    const time = /^\d+$/.test(value) ? 1000 * Number(value) : Date.parse(value) - Date.now();
    return Number.isNaN(time) ? undefined : Math.max(time, 0);
}

/** Settles as a promise does, or rejects with a `source` error after the time without a byte. */
async function timely<T>(promise: Promise<T>, { timeout, signal }: Server): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
        const late = new Promise<never>((_, reject) => {
            timer = setTimeout(() => reject(new MksumError("source", `no byte came for ${timeout} ms`)), timeout);
        });
        return await abortable(Promise.race([promise, late]), signal);
    } finally {
        clearTimeout(timer);
    }
}

/**
 * Returns a mirror's answer to a request, status 200 or for a range 206. Servers that are overloaded are asked again when they say; of a
 * range, `undefined` is returned then, and another mirror may be asked.
 *
 * @throws {MksumError} `source` if it refuses, or has failed too often; the signal's reason.
 */
export async function answerOf(mirror: Mirror, server: Server): Promise<Response>;
export async function answerOf(mirror: Mirror, server: Server, range: Ends): Promise<Response | undefined>;
export async function answerOf(mirror: Mirror, server: Server, range?: Ends): Promise<Response | undefined> {
    for (;;) {
        server.signal?.throwIfAborted();
        const wait = mirror.until - performance.now();
        if (wait > 0) await sleep(wait, server.signal);
        const own = new AbortController();
        const abort = (): void => own.abort(server.signal?.reason);
        server.signal?.addEventListener("abort", abort, { once: true });
        let response: Response;
        try {
            const headers: Record<string, string> = range ? { Range: `bytes=${range.start}-${range.end - 1}` } : {};
            response = mirror.blob
                ? new Response(range ? mirror.blob.slice(range.start, range.end) : mirror.blob, { status: range ? 206 : 200 })
                : await timely(server.fetch(mirror.url, { headers, signal: own.signal, cache: "no-store" }), server);
        } catch (cause) {
            server.signal?.throwIfAborted();
            own.abort();
            mirror.failed(`cannot be fetched: ${describe(cause)}`, server);
            if (range) return undefined;
            continue;
        } finally {
            server.signal?.removeEventListener("abort", abort);
        }
        if (response.status === 200 || (range && response.status === 206)) {
            mirror.note(response);
            const found = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get("content-range") ?? "");
            if (!range || response.status === 200 || !found) return response;
            const [start, end, len] = found.slice(1).map(Number) as [number, number, number];
            if (start === range.start && end === range.end - 1 && (Number.isNaN(len) || len === range.len)) return response;
            own.abort();
            const expected = `bytes ${range.start}-${range.end - 1}/${range.len}`;
            throw new MksumError("source", `${mirror.url}: expected ${expected}, found ${found[0]}${mirror.change}`);
        }
        void response.body?.cancel().catch(() => {});
        if (response.status !== 429 && response.status !== 408 && response.status < 500) {
            throw new MksumError("source", `${mirror.url}: the server answered with status ${response.status}`);
        }
        mirror.failed(`the server answered with status ${response.status}`, server, retryAfter(response.headers.get("retry-after")));
        if (range) return undefined;
    }
}

/** Describes why a request failed: the cause has the system's reason. */
function describe(cause: unknown): string {
    const inner = (cause as { cause?: unknown }).cause;
    return inner instanceof Error ? inner.message : cause instanceof Error ? cause.message : String(cause);
}

/** Yields the bytes of an answer. An answer that breaks off ends early. @throws The signal's reason. */
export async function* body(response: Response, server: Server): AsyncGenerator<Uint8Array, void> {
    const reader = response.body?.getReader();
    if (!reader) return;
    try {
        for (;;) {
            let next;
            try {
                next = await timely(reader.read(), server);
            } catch {
                server.signal?.throwIfAborted();
                return;
            }
            if (next.done) return;
            yield next.value;
        }
    } finally {
        void reader.cancel().catch(() => {});
    }
}
