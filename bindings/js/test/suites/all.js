// All suites. Each takes the platform's test functions.
export { default as errors } from "./errors.js";
export { default as foreign } from "./foreign.js";
export { default as hashes } from "./hashes.js";
export { default as keyed } from "./keyed.js";
export { default as log } from "./log.js";
export { default as rows } from "./rows.js";
export { default as states } from "./states.js";
export { default as trees } from "./trees.js";
