export * from "./hashes.js";
export { type Damage, keep, Outboard } from "./outboard.js";
export { Pool } from "./pool.js";
export { type Claim, Proof, type Trusted } from "./proof.js";
export { Frontier, Root, root } from "./root.js";
export { rootOf } from "./root-of.js";
export { type Binding, type Family, formats, Spec } from "./spec.js";
