// The ranges of a good copy on a server, fetched with range requests.

/** The bytes of one request, at most. */
const REQUEST = 1 << 26;

/**
 * Fetches ranges of an object.
 *
 * @param {string} url
 * @param {readonly import("../damage/ranges.js").Range[]} ranges
 * @param {{ signal: AbortSignal, progress: (done: number) => void }} options
 * @returns {Promise<import("./patch.js").Patch[]>}
 */
export async function fetchRanges(url, ranges, { signal, progress }) {
    /** @type {import("./patch.js").Patch[]} */
    const patches = [];
    let done = 0;
    for (const { start, end } of ranges) {
        /** @type {Blob[]} */
        const parts = [];
        for (let at = start; at < end; at += REQUEST) {
            const stop = Math.min(end, at + REQUEST);
            parts.push(await fetchRange(url, at, stop, signal));
            progress((done += stop - at));
        }
        patches.push({ start, end, bytes: new Blob(parts) });
    }
    return patches;
}

/** @param {string} url @param {number} start @param {number} end @param {AbortSignal} signal */
async function fetchRange(url, start, end, signal) {
    let response;
    try {
        response = await fetch(url, {
            signal, headers: { Range: `bytes=${start}-${end - 1}` }, credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store",
        });
    } catch (cause) {
        if (signal.aborted) throw cause;
        throw new Error(`${url} cannot be fetched: ${String(cause)}. The server must allow requests from other sites (CORS). Download the copy and choose it as a file instead.`, { cause });
    }
    if (response.status !== 206) {
        await response.body?.cancel();
        const found = response.status === 200 ? "it ignores range requests (status 200)" : `it answered with status ${response.status}`;
        throw new Error(`${url}: expected bytes ${start}..${end}, but ${found}. Download the copy and choose it as a file instead.`);
    }
    const bytes = await response.blob();
    if (bytes.size !== end - start) throw new Error(`${url}: expected ${end - start} bytes from ${start} on, found ${bytes.size}`);
    return bytes;
}
