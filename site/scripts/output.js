// Where the site is built, and of what.
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The folder `site` of the repository. */
export const source = fileURLToPath(new URL("..", import.meta.url));

/** The repository. */
export const repository = path.dirname(source);

/** The built site: target/site, or the folder that MKSUM_SITE names. */
export const output = path.resolve(
    process.env.MKSUM_SITE ?? path.join(process.env.CARGO_TARGET_DIR ?? path.join(repository, "target"), "site"),
);
