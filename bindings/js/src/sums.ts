// What the site takes: the tool's parser of lists and of published sums, its pictures of trees, and the hashing of streams in all formats.
export { load } from "./engine.js";
export { Frontier } from "./frontier.js";
export { choice, isManifest, Lists, loneFile, published, rootGiven, sumLine } from "./lists.js";
export type { Entry, Malformed, Published } from "./lists.js";
export { pictureUnit, treeSvg } from "./picture.js";
export { Spec } from "./spec.js";
