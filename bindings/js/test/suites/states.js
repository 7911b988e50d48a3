// Saved states of hashers: continued anywhere, and refused where they are not whole.
import fc from "fast-check";
import { create, createHmac, digest, HASHES, hmac, MksumError, toHex } from "mksum";
import { bytes } from "./bytes.js";

const refused = (code) => (error) => error instanceof MksumError && error.code === code;

/** The length of the header and of the check at the end. */
const [HEADER, CHECK] = [6, 8];

/** Lengths around the ends of blocks and of BLAKE3's chunks, and beyond the stage and the input buffer. */
const LENGTHS = [0, 1, 63, 64, 65, 127, 128, 129, 135, 136, 144, 1023, 1024, 1025, 2047, 2048, 3072, 7168, 65537, 200_000];

/** Returns a state with another body and the check that belongs to it. */
function forged(name, state) {
    const body = state.subarray(0, -CHECK);
    return new Uint8Array([...body, ...digest(name, body).subarray(0, CHECK)]);
}

export default function ({ test, assert }) {
    for (const name of HASHES) {
        test(`${name}: a state is saved anywhere and continued`, () => {
            fc.assert(
                fc.property(fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 8 }), fc.nat(8), (slices, at) => {
                    const whole = Uint8Array.from(slices.flatMap((slice) => [...slice]));
                    const key = bytes(200);
                    for (const [make, expected] of [
                        [() => create(name), digest(name, whole)],
                        [() => createHmac(name, key), hmac(name, key, whole)],
                    ]) {
                        const first = make();
                        slices.slice(0, at).forEach((slice) => first.update(slice));
                        const saved = first.save();
                        const second = make().update(bytes(at)).load(saved);
                        assert.deepEqual(second.save(), saved);
                        for (const slice of slices.slice(at)) {
                            first.update(slice);
                            second.update(slice);
                        }
                        const third = second.copy();
                        for (const hasher of [first, second, third]) assert.equal(toHex(hasher.digest()), toHex(expected));
                    }
                }),
                { numRuns: 50 },
            );
        });

        test(`${name}: changed states are refused, and forged ones harm nothing`, () => {
            const expected = toHex(digest(name, bytes(5)));
            for (const len of LENGTHS) {
                const state = create(name).update(bytes(len)).save();
                const hasher = create(name).update(bytes(2));
                // Any byte changed, any length.
                const wrong = Array.from({ length: 60 }, (_, at) => {
                    const changed = state.slice();
                    changed[(at * 7919) % state.length] ^= 1 << at % 8;
                    return changed;
                });
                for (let cut = 0; cut < state.length; cut += 1 + (cut >> 4)) wrong.push(state.subarray(0, cut));
                wrong.push(new Uint8Array([...state, 0]), new Uint8Array(5000), new Uint8Array(100_000));
                for (const bad of wrong) assert.throws(() => hasher.load(bad), refused("state"));
                // With the check of another body, as an attacker would make it.
                for (let at = 0; at < 60; at++) {
                    const changed = state.slice();
                    const place = HEADER + ((at < 30 ? at : at * 7919) % (state.length - HEADER - CHECK));
                    changed[place] = at % 3 === 0 ? 255 : changed[place] ^ (1 << at % 8);
                    const bad = forged(name, at % 5 === 4 ? changed.subarray(0, state.length - at) : changed);
                    const other = create(name);
                    try {
                        other.load(bad).update(bytes(1500)).copy().digest();
                        other.save();
                    } catch (error) {
                        assert.ok(refused("state")(error), String(error));
                    }
                    // Engines without `using` have no such symbol.
                    other[Symbol.dispose]?.();
                    other.free();
                    assert.throws(() => other.update(bytes(1)), refused("finished"));
                }
                // The hasher that refused them goes on.
                assert.equal(toHex(hasher.update(bytes(5).subarray(2)).digest()), expected);
            }
        });
    }

    test("states of other hashes, versions and keys are refused", () => {
        const data = bytes(1000);
        const state = create("sha256").update(data).save();
        const keyed = createHmac("sha256", bytes(7)).update(data).save();
        const version = state.slice();
        version[3]++;
        for (const [hasher, saved, message] of [
            [create("sha224"), state, /expected a saved state of sha224, version 1, found the state of another hash/],
            [create("sha256"), forged("sha256", version), /found version 2/],
            [create("sha256"), keyed, /expected a saved state of sha256, version 1, found one of HMAC/],
            [createHmac("sha256", bytes(7)), state, /expected a saved state of HMAC with sha256, version 1, found one without a key/],
            [createHmac("sha256", bytes(8)), keyed, /found truncated or damaged bytes, or another key/],
            [create("sha256"), data, /found other bytes/],
        ]) {
            assert.throws(() => hasher.load(saved), (error) => refused("state")(error) && message.test(error.message));
        }
        assert.throws(() => create("sha256").load("text"), refused("argument"));
        assert.throws(() => create("sha256").load(null), refused("argument"));
        const ended = create("sha256");
        ended.digest();
        assert.throws(() => ended.save(), refused("finished"));
        assert.throws(() => ended.load(state), refused("finished"));
    });

    test("states do not depend on the slices, on the build or on the version", () => {
        const states = [];
        for (const name of HASHES) {
            for (const len of LENGTHS) {
                const whole = create(name).update(bytes(len)).save();
                const sliced = create(name);
                for (let at = 0; at < len; at += 777) sliced.update(bytes(len).subarray(at, Math.min(len, at + 777)));
                assert.deepEqual(sliced.save(), whole);
                states.push(...whole);
            }
        }
        // States of version 1: if this changes, TAG in hash.ts gets another version.
        assert.equal(toHex(digest("sha256", new Uint8Array(states))), "90abfce4cbe6c3a770c7f5ef295e79c6fe6a78b63590779a8e9391ebd369ce13");
    });

    test("short messages of many hashers do not mix", () => {
        fc.assert(
            fc.property(fc.array(fc.tuple(fc.nat(4), fc.nat(3), fc.nat(1200)), { maxLength: 30 }), (steps) => {
                const all = Array.from({ length: 5 }, (_, at) => ({ hasher: create(HASHES[at]), parts: [], name: HASHES[at] }));
                for (const [at, step, len] of steps) {
                    const one = all[at];
                    if (step < 2) {
                        one.hasher.update(bytes(len));
                        one.parts.push(...bytes(len));
                    } else if (step === 2) {
                        const copy = one.hasher.copy();
                        one.hasher.free();
                        one.hasher = copy;
                    } else {
                        assert.equal(toHex(one.hasher.digest()), toHex(digest(one.name, new Uint8Array(one.parts))));
                        all[at] = { hasher: create(one.name), parts: [], name: one.name };
                    }
                }
                for (const { hasher, parts, name } of all) {
                    assert.equal(toHex(hasher.digest()), toHex(digest(name, new Uint8Array(parts))));
                }
            }),
            { numRuns: 200 },
        );
    });
}
