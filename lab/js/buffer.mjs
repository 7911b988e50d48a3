// The engine's own Buffer if it has one, as libraries would find it, and else the package of that name.
import shim from "./node_modules/buffer/index.js";

export const Buffer = globalThis.Buffer ?? shim.Buffer;
export default { ...shim, Buffer };
