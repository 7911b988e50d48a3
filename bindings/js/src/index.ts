export * from "./hashes.js";
export { type Damage, keep, keepOf, Outboard } from "./outboard.js";
export { Pool } from "./pool.js";
export { type Claim, Proof, type Trusted } from "./proof.js";
export { Frontier } from "./frontier.js";
export { Root } from "./root.js";
export { type FileLike, type FileResult, type FileResults, hashFiles } from "./hash-files.js";
export { root, rootOf, rootsOf } from "./root-of.js";
export { type Binding, type Family, formats, Spec } from "./spec.js";
