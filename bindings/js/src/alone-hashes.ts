// The functions of one hash each in the entry `mksum`: a page loads only the modules of the functions that it imports.
import { alone } from "./alone.js";
import { small as md5Module } from "./small-md5.js";
import { small as sha1Module } from "./small-sha1.js";
import { small as sha2Module } from "./small-sha2.js";
import { small as blake2Module } from "./small-blake2.js";
import { small as blake3Module } from "./small-blake3.js";
import { small as sha3Module } from "./small-sha3.js";
import { small as ripemd160Module } from "./small-ripemd160.js";

export const md5 = /* @__PURE__ */ alone(md5Module, "md5");
export const sha1 = /* @__PURE__ */ alone(sha1Module, "sha1");
export const sha224 = /* @__PURE__ */ alone(sha2Module, "sha224");
export const sha256 = /* @__PURE__ */ alone(sha2Module, "sha256");
export const sha384 = /* @__PURE__ */ alone(sha2Module, "sha384");
export const sha512 = /* @__PURE__ */ alone(sha2Module, "sha512");
export const sha512_224 = /* @__PURE__ */ alone(sha2Module, "sha512-224");
export const sha512_256 = /* @__PURE__ */ alone(sha2Module, "sha512-256");
export const blake2s = /* @__PURE__ */ alone(blake2Module, "blake2s");
export const blake2b = /* @__PURE__ */ alone(blake2Module, "blake2b");
export const blake3 = /* @__PURE__ */ alone(blake3Module, "blake3");
export const sha3_224 = /* @__PURE__ */ alone(sha3Module, "sha3-224");
export const sha3_256 = /* @__PURE__ */ alone(sha3Module, "sha3-256");
export const sha3_384 = /* @__PURE__ */ alone(sha3Module, "sha3-384");
export const sha3_512 = /* @__PURE__ */ alone(sha3Module, "sha3-512");
export const keccak256 = /* @__PURE__ */ alone(sha3Module, "keccak256");
export const ripemd160 = /* @__PURE__ */ alone(ripemd160Module, "ripemd160");
