// The one function that the page takes from the package's inside: where a tree over `len` bytes splits.
export { cover } from "../../../bindings/js/dist/fetch/pieces.js";
// The tool's parser of lists and of published sums, its pictures of trees, and the roots of all its formats.
export * as tool from "../../../bindings/js/dist/sums/sums.js";
