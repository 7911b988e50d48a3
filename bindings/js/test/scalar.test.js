// All suites with the module for engines that have no SIMD.
WebAssembly.validate = () => false;
const { load } = await import("mksum");
await load();
await import("./node.js");
