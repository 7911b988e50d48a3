// Tests medians and intervals with numbers whose distribution is known.
import assert from "node:assert/strict";
import { test } from "node:test";
import { interval, median, seeded } from "../bootstrap.mjs";
import { Random } from "../random.mjs";

test("a median is the middle number, or the mean of the two in the middle", () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 3, 2]), 2.5);
    assert.equal(median([10, 9, 100]), 10);
});

const three = [
    [1, 1.1, 1.2, 1.3, 1.4],
    [1.05, 1.15, 1.25, 1.35, 1.45],
    [1.1, 1.2, 1.3, 1.4, 9],
];

test("the same seed gives the same interval, within the trials and around their median", () => {
    assert.deepEqual(interval(three, 5), interval(three, 5));
    const [low, high] = interval(three, 5);
    const middle = median(three.flat());
    assert.ok(1 <= low && low < middle && middle < high && high < 9, `${low} ${middle} ${high}`);
    assert.notEqual(seeded(1, "sha256 mksum 64"), seeded(1, "sha256 mksum 65"));
    assert.notEqual(seeded(1, "sha256 mksum 64"), seeded(2, "sha256 mksum 64"));
});

test("processes that differ make the interval as wide as their difference, although each has equal trials", () => {
    const processes = [1, 2, 3].map((each) => Array(5).fill(each));
    assert.deepEqual(interval(processes, 1), [1, 3]);
    assert.deepEqual(interval([[7], [7], [7]], 1), [7, 7]);
});

/** Returns in how many of 300 experiments the interval holds the true median, 0. */
function coverage(spread) {
    const random = new Random(11);
    // The sum of twelve uniform numbers is nearly normal.
    const normal = () => Array.from({ length: 12 }, () => random.below(1e6) / 1e6).reduce((sum, one) => sum + one, -6);
    let held = 0;
    for (let turn = 0; turn < 300; turn++) {
        const processes = Array.from({ length: 3 }, () => {
            const own = spread * normal();
            return Array.from({ length: 5 }, () => own + normal());
        });
        const [low, high] = interval(processes, turn);
        held += low <= 0 && 0 <= high;
    }
    return held / 300;
}

test("intervals hold the true median as often as the page says", () => {
    const alike = coverage(0);
    assert.ok(alike >= 0.95, `processes that are alike: ${alike}`);
    const differing = coverage(5);
    assert.ok(differing > 0.65 && differing < 0.85, `processes that differ more than their trials: ${differing}`);
});
