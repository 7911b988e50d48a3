import type { Engine } from "./instance.js";

/** The engine of an entry, once it runs. */
export const current: { engine?: Engine } = {};
