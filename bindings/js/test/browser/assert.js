// The functions of node:assert that the suites use, for browsers.
function fail(reason, message) {
    throw new Error(message ? `${message}: ${reason}` : reason);
}

/** Encodes a value as text, which is equal for equal values. */
const text = (value) =>
    JSON.stringify(value, (_, inner) => {
        if (typeof inner === "bigint") return `${inner}n`;
        return ArrayBuffer.isView(inner) ? [inner.constructor.name, ...inner] : inner;
    });

export function ok(value, message) {
    if (!value) fail(`found ${text(value)}`, message);
}

export function equal(found, expected, message) {
    if (!Object.is(found, expected)) fail(`expected ${text(expected)}, found ${text(found)}`, message);
}

export function deepEqual(found, expected, message) {
    equal(text(found), text(expected), message);
}

function matches(error, expected, message) {
    const as = expected instanceof RegExp ? expected.test(error) : expected(error);
    if (!as) fail(`unexpected error: ${error?.code} ${error}`, message);
}

export function throws(act, expected, message) {
    let found;
    try {
        found = act();
    } catch (error) {
        return matches(error, expected, message);
    }
    fail(`expected an error, found ${text(found)}`, message);
}

export async function rejects(promise, expected, message) {
    let found;
    try {
        found = await promise;
    } catch (error) {
        return matches(error, expected, message);
    }
    fail(`expected an error, found ${text(found)}`, message);
}
