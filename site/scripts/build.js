// build.js: builds the site into target/site. It needs the built JavaScript package: bindings/js/dist.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import Eleventy from "@11ty/eleventy";
import { build } from "./app.js";
import { output, source } from "./output.js";
import { precache } from "./precache.js";

process.chdir(source);
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const appPolicy = build(output);
await new Eleventy("pages", output, {
    configPath: "eleventy.config.js",
    quietMode: true,
    config: (config) => config.addGlobalData("appPolicy", appPolicy),
}).write();
for (const file of readdirSync("browser")) cpSync(path.join("browser", file), path.join(output, file));
for (const file of ["site.css", "icon.svg"]) cpSync(file, path.join(output, file));
// Last, because it lists all files.
precache(output, readFileSync("service-worker.js", "utf8"));
console.log(`built ${output}`);
