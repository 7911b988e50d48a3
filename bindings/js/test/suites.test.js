// Runs all suites with the default module of this engine, which uses SIMD.
import "./node.js";
