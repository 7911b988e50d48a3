// bench.js: compares this package with hash-wasm in one run: best MB/s for 1 MiB, short messages, PBKDF2. A quick check;
// lab/js compares all libraries in all engines.
import * as peer from "hash-wasm";
import { create, digest, pbkdf2Many, root, sha256 } from "mksum";

const data = Uint8Array.from({ length: 1 << 20 }, (_, at) => at % 251);

/** Returns the shortest time of a call, in milliseconds. */
function best(call, times = 30) {
    let least = Infinity;
    for (let time = -times / 3; time < times; time++) {
        const begin = performance.now();
        call();
        if (time >= 0) least = Math.min(least, performance.now() - begin);
    }
    return least;
}

const print = (name, ours, theirs = NaN) => console.log(name.padEnd(28), ours.toFixed(0).padStart(8), theirs.toFixed(0).padStart(8));
const speed = (bytes, call, times) => bytes / 1000 / best(call, times);

console.log("".padEnd(28), "   mksum hash-wasm");
const PEERS = {
    md5: peer.createMD5, sha1: peer.createSHA1, sha256: peer.createSHA256, sha512: peer.createSHA512,
    ripemd160: peer.createRIPEMD160, blake2s: peer.createBLAKE2s, blake2b: peer.createBLAKE2b, blake3: peer.createBLAKE3,
};
for (const [name, make] of Object.entries(PEERS)) {
    const hasher = await make();
    const theirs = () => hasher.init().update(data).digest("binary");
    print(`${name}, MB/s`, speed(data.length, () => digest(name, data)), speed(data.length, theirs));
}
print("tree of 1 KiB leaves, MB/s", speed(data.length, () => root("rfc6962:sha256:1KiB", data)));

const [short, many] = [data.subarray(0, 16), 100_000];
const hasher = await peer.createSHA256();
const repeated = (call) => () => {
    for (let left = many; left > 0; left--) call();
};
print("sha256 of 16 bytes, MB/s", speed(16 * many, repeated(() => sha256(short)), 6),
    speed(16 * many, repeated(() => hasher.init().update(short).digest("binary")), 6));

const streams = Array.from({ length: 64 }, () => create("sha256"));
const slice = data.subarray(0, 1 << 14);
print("64 streams in turn, MB/s", speed(64 * slice.length, () => streams.forEach((stream) => stream.update(slice))));

const secret = { password: short, salt: short };
for (const name of ["sha1", "sha256", "sha512"]) {
    for (const secrets of [1, 4]) {
        const call = () => pbkdf2Many(name, Array.from({ length: secrets }, () => secret), 10_000, 16);
        print(`PBKDF2-${name} × ${secrets}, iterations/ms`, (secrets * 10_000) / best(call, 9));
    }
}
