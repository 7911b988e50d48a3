// Keeps the whole site for use without a network. The build writes FILES before this text: each file's path and its digest.
//
// A version is a cache of its own, which is complete or does not exist: every file is fetched with its digest, so files of two
// versions never mix. A new version waits until the reader asks for it or the last page of the old one is closed.
/* global FILES, VERSION */

const OURS = `mksum ${self.registration.scope} `;
const NAME = OURS + VERSION;
const LIST = "files.json";
/** How many files are fetched at once. */
const AT_ONCE = 8;

const absolute = (path) => new URL(path, self.registration.scope).href;

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("message", (event) => {
    if (event.data === "activate") self.skipWaiting();
});
self.addEventListener("fetch", (event) => {
    const { request } = event;
    if (request.method === "GET" && request.url.startsWith(self.registration.scope)) event.respondWith(respond(request));
});

async function install() {
    const known = await versions();
    try {
        const cache = await caches.open(NAME);
        const waiting = Object.entries(FILES);
        const work = async () => {
            for (let next = waiting.pop(); next; next = waiting.pop()) {
                const [path, digest] = next;
                await cache.put(absolute(path), (await kept(known, path, digest)) ?? (await fetched(path, digest)));
            }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, work));
        await cache.put(absolute(LIST), Response.json(FILES));
    } catch (error) {
        await caches.delete(NAME);
        throw error;
    }
}

/** Returns the caches of earlier versions, with the digests of their files. */
async function versions() {
    const names = (await caches.keys()).filter((name) => name.startsWith(OURS) && name !== NAME);
    const found = names.map(async (name) => {
        const cache = await caches.open(name);
        return { cache, files: await (await cache.match(absolute(LIST)))?.json() };
    });
    return Promise.all(found);
}

/** Returns a file that has not changed since an earlier version. */
function kept(known, path, digest) {
    return known.find(({ files }) => files?.[path] === digest)?.cache.match(absolute(path));
}

async function fetched(path, digest) {
    const response = await fetch(absolute(path), { cache: "no-cache", integrity: digest });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    // Pages cannot be answered with a response that was redirected, as servers do that leave out `.html`.
    return response.redirected ? new Response(await response.blob(), { headers: response.headers }) : response;
}

/** Deletes the caches of other versions. */
async function activate() {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith(OURS) && name !== NAME).map((name) => caches.delete(name)));
    await self.clients.claim();
}

async function respond(request) {
    const cache = await caches.open(NAME);
    const path = decodeURI(new URL(request.url).pathname.slice(new URL(self.registration.scope).pathname.length));
    const name = [path, `${path}index.html`, `${path}.html`, `${path}/index.html`].find((one) => Object.hasOwn(FILES, one));
    return (name !== undefined && (await cache.match(absolute(name)))) || fetch(request);
}
