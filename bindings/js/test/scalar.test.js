// Runs all suites with the module for engines without SIMD.
WebAssembly.validate = () => false;
const { load } = await import("mksum");
await load();
await import("./node.js");
