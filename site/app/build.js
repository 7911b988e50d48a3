// build.js OUT: bundles the page, the element and the offline page into OUT. The package in bindings/js must be built.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const dist = resolve(here, "../../bindings/js/dist");
if (!existsSync(join(dist, "fetch/simd.wasm"))) throw new Error(`${dist} is missing: run \`npm ci && npm run build\` in bindings/js`);
const [given] = process.argv.slice(2);
if (!given) throw new Error("usage: node build.js OUT");
const out = resolve(given);
mkdirSync(out, { recursive: true });

/** The policy of the page. `connect-src` allows good copies on servers that the person names; nothing else uses it. */
export const POLICY = [
    "default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "style-src 'self'", "img-src 'self' data: blob:", "worker-src 'self'",
    "connect-src 'self' https:", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'",
].join("; ");

const common = { bundle: true, minify: true, write: false, target: "es2022", format: "esm", legalComments: "none", charset: "utf8", loader: { ".wasm": "binary" } };

/** Returns the path of a file of the package, as scripts name it. */
const file = (name) => JSON.stringify(join(dist, name));

/** Returns a bundle's text. */
async function bundled(entry, plugins) {
    const { outputFiles } = await build({ ...common, entryPoints: [join(here, entry)], plugins });
    return outputFiles[0].text;
}

/** The page starts its worker from a file, so it does not need the worker's text. */
const withoutText = {
    name: "without-text",
    setup: (own) => {
        own.onResolve({ filter: /\/worker-text\.js$/ }, () => ({ path: "worker-text", namespace: "without-text" }));
        own.onLoad({ filter: /.*/, namespace: "without-text" }, () => ({ contents: "export const script = 'throw new Error(\"worker.js cannot be loaded\")';" }));
    },
};

/** Uses the package with WebAssembly inside the script instead of the one that fetches it: of sums, the module with this content. */
const inlined = (/** @type {"sums" | "published"} */ sums) => ({
    name: "inlined",
    setup: (own) => {
        own.onResolve({ filter: /^mksum\/fetch$/ }, () => ({ path: join(dist, "index.js") }));
        own.onResolve({ filter: /bindings\/js\/dist\/fetch\// }, ({ path }) => ({ path: join(dist, path.slice(path.lastIndexOf("/") + 1)) }));
        // The build without SIMD is inside too, in the place of its file.
        own.onLoad({ filter: /dist[\\/]source\.js$/ }, ({ path }) => {
            const text = readFileSync(path, "utf8");
            const fetched = /compileFile\(new URL\("(\.\/fetch\/scalar\.wasm)",import\.meta\.url\)\)/;
            if (!fetched.test(text)) throw new Error(`${path} fetches no build without SIMD`);
            return { contents: `import scalar from "${text.match(fetched)[1]}";${text.replace(fetched, "WebAssembly.compile(scalar)")}` };
        });
        own.onLoad({ filter: /dist[\\/]sums[\\/]sums\.js$/ }, ({ path }) => {
            const text = readFileSync(path, "utf8");
            const fetched = 'compileFile(new URL("./sums.wasm",import.meta.url))';
            if (!text.includes(fetched)) throw new Error(`${path} fetches no module`);
            return { contents: `import { encoded } from ${file(`sums/${sums}-encoded.js`)}; import { decoded as own } from ${file("decoded.js")};${text.replace(fetched, "WebAssembly.compile(own(encoded))")}` };
        });
    },
});

const page = readFileSync(join(here, "page.html"), "utf8");
const shell = readFileSync(join(here, "shell.html"), "utf8");
const fill = (parts) => shell.replace(/<!--(\w+)-->/g, (_, name) => parts[name] ?? "");
const style = (await build({ ...common, entryPoints: [join(here, "app.css")] })).outputFiles[0].text;

writeFileSync(join(out, "app.js"), await bundled("src/main.js", [withoutText]));
writeFileSync(join(out, "worker.js"), (await build({ ...common, entryPoints: [join(dist, "fetch/worker.js")] })).outputFiles[0].text);
writeFileSync(join(out, "app.css"), style);
for (const name of ["fetch/simd.wasm", "fetch/scalar.wasm", "sums/sums.wasm"]) copyFileSync(join(dist, name), join(out, basename(name)));
writeFileSync(join(out, "index.html"), fill({
    policy: `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    style: "<link rel=\"stylesheet\" href=\"app.css\">",
    page,
    script: "<script type=\"module\" src=\"app.js\"></script>",
}));

writeFileSync(join(out, "verify-download.js"), await bundled("src/element/verify-download.js", [inlined("published")]));

/** Returns the hash of an inline script or style, as a policy names it. */
const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
// A script element ends at the first `</script`, and `<!--` begins a comment in it.
const withoutLinks = page.replace(/^ *<p class="online-only[^]*?<\/p>\n/m, "");
const script = (await bundled("src/main.js", [inlined("sums")])).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const offline = [
    "default-src 'none'", `script-src ${hashOf(script)} 'wasm-unsafe-eval'`, `style-src ${hashOf(style)}`, "img-src data: blob:", "worker-src blob:",
    "connect-src 'none'", "base-uri 'none'", "form-action 'none'",
].join("; ");
writeFileSync(join(out, "offline.html"), fill({
    policy: `<meta http-equiv="Content-Security-Policy" content="${offline}">`,
    style: `<style>${style}</style>`,
    page: withoutLinks,
    script: `<script type="module">${script}</script>`,
}));
