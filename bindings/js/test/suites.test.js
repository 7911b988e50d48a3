// All suites with the module of this engine: with SIMD.
import "./node.js";
