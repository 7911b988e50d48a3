// The reference implementation: Node's crypto, which is OpenSSL.
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";

export const REFERENCE = {
    digest: (name, data) => createHash(name).update(data).digest("hex"),
    hmac: (name, key, data) => createHmac(name, key).update(data).digest("hex"),
    pbkdf2: (name, password, salt, iterations, length) => pbkdf2Sync(password, salt, iterations, length, name).toString("hex"),
};
