// The page of one library: `prepare` starts its two workers, `hash` hashes the chosen file with them.
import { Pool } from "../../../bindings/js/dist/index.js";

const file = () => document.querySelector("input").files[0];

/** Starts a worker that computes one digest with a library. */
function worker(library, format) {
    const own = new Worker(new URL("./other.js", import.meta.url), { type: "module" });
    const reply = () => new Promise((resolve, reject) => {
        own.addEventListener("message", ({ data }) => resolve(data), { once: true });
        own.addEventListener("error", ({ message }) => reject(new Error(message)), { once: true });
    });
    const ready = reply();
    own.postMessage({ library, format });
    return { ready, hash: (blob) => {
        const digest = reply();
        own.postMessage({ blob });
        return digest;
    } };
}

window.prepare = async (library, formats) => {
    if (library === "mksum") {
        const pool = await Pool.start(2);
        window.digests = async () => (await pool.rootsOf(formats, file())).map(({ text }) => text);
    } else {
        const workers = formats.map((format) => worker(library, format));
        await Promise.all(workers.map(({ ready }) => ready));
        window.digests = () => Promise.all(workers.map(({ hash }) => hash(file())));
    }
    window.formats = formats;
};

window.hash = async () => {
    const start = performance.now();
    const found = await window.digests();
    const seconds = (performance.now() - start) / 1000;
    return { seconds, digests: Object.fromEntries(window.formats.map((format, at) => [format, found[at]])) };
};
