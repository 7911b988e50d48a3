// @chainsafe/as-sha256 1: AssemblyScript compiled to WebAssembly. It has one state, so streams cannot be interleaved.
import { digest } from "@chainsafe/as-sha256";

export default {
    name: "@chainsafe/as-sha256",
    kind: "wasm",
    load: () => ({ hashes: { sha256: (bytes) => digest(bytes) } }),
};
