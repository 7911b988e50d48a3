// Where the site is built.
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The folder `site` of the repository. */
export const source = fileURLToPath(new URL("..", import.meta.url));

/** The built site: target/site, or the folder that MKSUM_SITE names. */
export const output = path.resolve(
    process.env.MKSUM_SITE ?? path.join(process.env.CARGO_TARGET_DIR ?? path.join(source, "../target"), "site"),
);
