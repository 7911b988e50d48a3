// The engine's own Buffer where it has one, as libraries would find it, and the package of that name in browsers.
import shim from "./node_modules/buffer/index.js";

export const Buffer = globalThis.Buffer ?? shim.Buffer;
export default { ...shim, Buffer };
