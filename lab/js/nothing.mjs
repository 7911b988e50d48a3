// Modules of Node that nothing here calls.
export default {};
