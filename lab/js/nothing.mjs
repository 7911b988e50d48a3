// A stub for Node modules that are imported but never called.
export default {};
