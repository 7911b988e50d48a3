// profile.mjs [WORD]: prints the share of each function's own time in a call, from V8's sampling profiler in Node. Build the
// engine with function names first:
//   cd bindings/js && CARGO_PROFILE_WASM_STRIP=debuginfo npm run build
import { Session } from "node:inspector/promises";
import * as mksum from "../../bindings/js/dist/fetch/index.js";

await mksum.load();

const data = Uint8Array.from({ length: 1 << 20 }, (_, at) => at % 251);
const short = data.subarray(0, 16);
const secret = { password: short, salt: short };
const streams = Array.from({ length: 64 }, () => mksum.create("sha256"));

const CASES = {
    "md5 of 1 MiB": () => mksum.md5(data),
    "sha1 of 1 MiB": () => mksum.sha1(data),
    "sha256 of 1 MiB": () => mksum.sha256(data),
    "sha512 of 1 MiB": () => mksum.sha512(data),
    "blake2s of 1 MiB": () => mksum.blake2s(data),
    "blake2b of 1 MiB": () => mksum.blake2b(data),
    "blake3 of 1 MiB": () => mksum.blake3(data),
    "sha256 of 16 bytes": () => mksum.sha256(short),
    "plain:sha256:1KiB of 1 MiB": () => mksum.root("plain:sha256:1KiB", data),
    "64 streams, 16 KiB each in turn": () => streams.forEach((stream) => stream.update(data.subarray(0, 1 << 14))),
    "PBKDF2-SHA256, one key": () => mksum.pbkdf2Many("sha256", [secret], 1000, 32),
    "PBKDF2-SHA256, four keys": () => mksum.pbkdf2Many("sha256", [secret, secret, secret, secret], 1000, 32),
};

/** Repeats a call for this many milliseconds. */
function run(call, milliseconds) {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) call();
}

/** Shortens a function's name: removes the crate and the hash of the engine's functions. */
const shortened = (name) => name.replace(/^_ZN\d+|17h[0-9a-f]{16}E$/g, "").replace(/^(.{60}).*/, "$1…");

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.setSamplingInterval", { interval: 200 });
for (const [name, call] of Object.entries(CASES)) {
    if (!name.includes(process.argv[2] ?? "")) continue;
    run(call, 500);
    await session.post("Profiler.start");
    run(call, 2000);
    const { profile } = await session.post("Profiler.stop");
    const [own, names] = [new Map(), new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame.functionName]))];
    profile.samples.forEach((id, at) => {
        const called = names.get(id) || "(script)";
        own.set(called, (own.get(called) ?? 0) + profile.timeDeltas[at]);
    });
    const all = [...own.values()].reduce((sum, time) => sum + time);
    const most = [...own].toSorted(([, a], [, b]) => b - a).filter(([, time]) => time > all / 100);
    console.log(`\n${name}`);
    for (const [called, time] of most) console.log(`${((100 * time) / all).toFixed(1).padStart(6)} %  ${shortened(called)}`);
}
