// Bundles a program with each bundler in its default settings, for the tests in a browser.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import nodeResolve from "@rollup/plugin-node-resolve";
import { build as esbuild } from "esbuild";
import { rollup } from "@rollup/wasm-node";
import { build as vite } from "vite";
import webpack from "webpack";

/** Hashes with the page's engine and with workers, and prints both. */
const TESTED = `
    const file = new File([new Uint8Array(9_000_000).fill(7)], "file");
    const pool = await Pool.start(2);
    const roots = [await rootOf("rfc6962", file), await pool.rootOf("rfc6962", file)].map(String);
    const digests = [];
    for await (const { root } of pool.hashFiles("sha256", [new File(["abc"], "abc")])) digests.push(root.text);
    pool.end();
    window.results = [toHex(sha256(new TextEncoder().encode("abc"))), ...digests, roots[0] === roots[1]];
`;
const NAMES = "Pool, rootOf, sha256, toHex";

/** The programs by name. esbuild and rollup do not copy the file of `mksum/fetch`: there a program says where it is. */
export const PROGRAMS = {
    inlined: `import { ${NAMES} } from "mksum"; (async () => {${TESTED}})();`,
    fetched: `import { load, ${NAMES} } from "mksum/fetch"; (async () => { await load(); ${TESTED} })();`,
    given: `import { load, ${NAMES} } from "mksum/fetch";
        (async () => { await load(await WebAssembly.compileStreaming(fetch("/package/fetch/simd.wasm"))); ${TESTED} })();`,
};

const asModule = (file) => `<!doctype html><link rel="icon" href="data:,"><script type="module" src="./${file}"></script>`;
const asScript = (file) => `<!doctype html><link rel="icon" href="data:,"><script src="./${file}"></script>`;

function refuse({ message }) {
    throw new Error(message);
}

/** The bundlers. Each writes the program `entry` to `folder` and returns the page that runs it. */
const BUNDLERS = {
    async esbuild(entry, folder) {
        await esbuild({ entryPoints: [entry], bundle: true, outfile: join(folder, "main.js"), logLevel: "silent" });
        return asScript("main.js");
    },
    async "esbuild, modules"(entry, folder) {
        const options = { bundle: true, format: "esm", splitting: true, minify: true };
        await esbuild({ entryPoints: [entry], outdir: folder, entryNames: "main", logLevel: "silent", ...options });
        return asModule("main.js");
    },
    async webpack(entry, folder) {
        const stats = await new Promise((resolve, reject) => {
            webpack({ mode: "production", entry, output: { path: folder }, performance: { hints: false } }, (error, found) =>
                error ? reject(error) : resolve(found),
            );
        });
        const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
        if (errors.length + warnings.length > 0) throw new Error([...errors, ...warnings].map(({ message }) => message).join("\n"));
        return asScript("main.js");
    },
    async rollup(entry, folder) {
        const bundle = await rollup({ input: entry, plugins: [nodeResolve({ browser: true })], onwarn: refuse });
        await bundle.write({ dir: folder, entryFileNames: "main.js" });
        await bundle.close();
        return asModule("main.js");
    },
    async vite(entry, folder) {
        const rolldownOptions = { input: entry, output: { entryFileNames: "main.js" } };
        await vite({ root: join(entry, ".."), base: "./", configFile: false, logLevel: "error", build: { outDir: folder, emptyOutDir: true, rolldownOptions } });
        return asModule("main.js");
    },
};

/** Parcel, which names the files itself and writes the page too. Without a setting it knows only the main entry. */
function parcel(program) {
    return (entry, folder) => {
        const settings = join(entry, "../package.json");
        const own = JSON.parse(readFileSync(settings, "utf8"));
        own["@parcel/resolver-default"] = { packageExports: !entry.endsWith("inlined.js") };
        writeFileSync(settings, JSON.stringify(own));
        const page = join(entry, "../parcel.html");
        writeFileSync(page, asModule(basename(entry)));
        const flags = ["--dist-dir", folder, "--public-url", "./", "--no-cache", "--no-autoinstall", "--log-level", "error"];
        execFileSync(program, ["build", page, ...flags], { cwd: join(entry, ".."), stdio: ["ignore", "inherit", "inherit"] });
        return readFileSync(join(folder, "parcel.html"), "utf8");
    };
}

/**
 * Bundles all programs in a project with the package, for which `others` installs programs. Returns the folders of the pages, by their
 * names.
 */
export async function bundles(project, others) {
    const pages = new Map();
    const bundlers = { ...BUNDLERS, parcel: parcel(join(others("parcel@2.16.4"), "parcel")) };
    for (const [bundler, bundle] of Object.entries(bundlers)) {
        for (const [program, text] of Object.entries(PROGRAMS)) {
            // Only these copy the file that `mksum/fetch` fetches.
            if (program === (["parcel", "webpack", "vite"].includes(bundler) ? "given" : "fetched")) continue;
            const entry = join(project, `${program}.js`);
            const name = `${bundler}-${program}`.replaceAll(/\W+/g, "-");
            const folder = join(project, "bundles", name);
            writeFileSync(entry, text);
            try {
                const page = await bundle(entry, folder);
                writeFileSync(join(folder, "index.html"), page);
            } catch (error) {
                throw new Error(`${bundler}, ${program}: ${error.message}`, { cause: error });
            }
            pages.set(`${bundler}, ${program}`, name);
        }
    }
    return pages;
}
