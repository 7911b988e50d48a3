// Runs all suites in Node.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { REFERENCE } from "./reference.js";
import * as suites from "./suites/all.js";

const workspace = new URL("../../../", import.meta.url);

const lines = async (path) =>
    readFileSync(new URL(path, workspace), "utf8").split(/\r?\n/).filter((line) => line && !line.startsWith("#"));

for (const suite of Object.values(suites)) {
    suite({ test, assert, lines, reference: async (kind, ...rest) => REFERENCE[kind](...rest) });
}
