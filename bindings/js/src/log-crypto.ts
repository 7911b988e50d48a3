// What logs need of Web Cryptography: SHA-256, and signatures of Ed25519. So `mksum/log` has no WebAssembly.
import type { OwnBytes } from "./bytes.js";
import { MksumError } from "./errors.js";

const unsupported = (why: string, cause?: unknown) => new MksumError("unsupported", why, { cause });

function subtle(): SubtleCrypto {
    const found = globalThis.crypto?.subtle;
    if (!found) throw unsupported("logs cannot be checked here: Web Cryptography needs a secure context, such as a page that was loaded by HTTPS");
    return found;
}

/**
 * Returns the SHA-256 of several parts, one after the other.
 *
 * @throws {MksumError} `unsupported` if this engine has no Web Cryptography.
 */
export async function sha256(...parts: readonly Uint8Array[]): Promise<OwnBytes> {
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        bytes.set(part, at);
        at += part.length;
    }
    return new Uint8Array(await subtle().digest("SHA-256", bytes));
}

/**
 * Verifies a signature of Ed25519 (RFC 8032).
 *
 * @returns `undefined` if the bytes of the key are none.
 * @throws {MksumError} `unsupported` if this engine has no Ed25519.
 */
export async function isSignature(name: string, key: OwnBytes, message: OwnBytes, signature: OwnBytes): Promise<boolean | undefined> {
    let own: CryptoKey;
    try {
        own = await subtle().importKey("raw", key, "Ed25519", false, ["verify"]);
    } catch (cause) {
        if (cause instanceof MksumError) throw cause;
        // A key that is no point of the curve is a DataError.
        if ((cause as Error | undefined)?.name === "DataError") return undefined;
        const why = "its Web Cryptography has no Ed25519, which browsers have since 2025 and Node since 18";
        throw unsupported(`the signature of ${name} cannot be checked here: ${why}`, cause);
    }
    return subtle().verify("Ed25519", own, signature, message);
}
