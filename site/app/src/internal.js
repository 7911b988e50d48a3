// The one function that the page takes from the package's inside: where a tree over `len` bytes splits.
export { cover } from "../../../bindings/js/dist/fetch/pieces.js";
