// The page can be used on small screens, with the keyboard and with a screen reader, in both colour schemes, and appears fast.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { browser, built, folder, opened, printed, served, settled, start, tool } from "./browser.js";

/** Writes a damaged file with a long name, and its outboard. */
function damaged(own) {
    const path = join(folder(own), "a-long-name-that-does-not-fit-on-a-small-screen-and-has-no-spaces.iso");
    writeFileSync(path, Buffer.alloc(3_000_000, 7));
    tool("keep", path);
    writeFileSync(path, Buffer.concat([Buffer.alloc(1_500_000, 7), Buffer.from("x"), Buffer.alloc(1_499_999, 7)]));
    return path;
}

/** Fails if something is wider than the screen. */
async function fits(page, width) {
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
}

test("nothing is cut off on a screen of 320 pixels", async (own) => {
    const { page } = await start(own, { context: { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true } });
    await fits(page, 320);
    const path = damaged(own);
    await page.getByLabel("Paste a digest").fill("0".repeat(128));
    await page.getByRole("button", { name: "Compare", exact: true }).tap();
    await page.locator("#formats > summary").tap();
    await page.locator("#files").setInputFiles([path, `${path}.mkt`]);
    await page.locator(".strip").waitFor();
    await settled(page);
    await page.locator("details.tools > summary").tap();
    await page.getByRole("button", { name: "Draw the tree" }).tap();
    await page.locator("svg.tree").waitFor();
    await fits(page, 320);
    const small = await page.locator("button:visible").evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().height < 24).map(({ textContent }) => textContent));
    assert.deepEqual(small, [], "a target for fingers has at least 24 pixels");
});

/** The contrast of two colours as WCAG 2 defines it. */
function contrast(...colours) {
    const light = colours.map((colour) => {
        const [red, green, blue] = colour.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    });
    return (Math.max(...light) + 0.05) / (Math.min(...light) + 0.05);
}

for (const colorScheme of ["light", "dark"]) {
    test(`texts can be read in the ${colorScheme} scheme`, async (own) => {
        const { page } = await start(own, { context: { colorScheme } });
        const colours = await page.evaluate(() => {
            const style = getComputedStyle(document.documentElement);
            return Object.fromEntries(["text", "background", "surface", "accent", "muted", "good", "bad"].map((name) => {
                const hex = style.getPropertyValue(`--${name}`).trim().slice(1);
                return [name, hex.match(/../g).map((pair) => parseInt(pair, 16))];
            }));
        });
        for (const back of ["background", "surface"]) {
            for (const front of ["text", "accent", "muted", "good", "bad"]) {
                const found = contrast(colours[front], colours[back]);
                assert.ok(found >= 4.5, `${front} on ${back}: ${found.toFixed(2)}`);
            }
        }
    });
}

test("verdicts are words and signs, not only colours", async (own) => {
    const path = damaged(own);
    const { page } = await start(own);
    await page.getByLabel("Paste a digest").fill(printed("sha256sum", path).slice(0, 64));
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.locator("#files").setInputFiles([path, `${path}.mkt`]);
    await page.locator(".strip").waitFor();
    await settled(page);
    assert.deepEqual(await page.locator("#items .badge").allInnerTexts(), ["✓ Match", "✗ Damaged"]);
    // The worst of them is the largest line.
    assert.equal(await page.locator("#overall").innerText(), "✗\nDamaged");
    // Damage is hatched.
    assert.match(await page.locator(".strip-mark").first().getAttribute("fill"), /^url\(#strip-\d+-hatch\)$/);
});

test("a link tells what is expected, a typed digest which formats it can be in, and differing digits are marked", async (own) => {
    const { page, address } = await start(own);
    await page.getByLabel("Paste a digest").fill("0".repeat(40));
    await page.locator("#claim-guess", { hasText: /^40 hex digits: can be SHA-1/ }).waitFor();
    await page.getByLabel("Paste a digest").fill("");
    // Of "abc"; the last digit is another one.
    await page.goto(`${address}#sha1=a9993e364706816aba3e25717850c26c9cd0d89e`);
    await page.locator("#files").setInputFiles([{ name: "file.txt", mimeType: "", buffer: Buffer.from("abc") }]);
    await settled(page);
    await page.getByText("The SHA-1 of the file is another one.").waitFor();
    assert.deepEqual(await page.locator(".sides mark").allInnerTexts(), ["e", "d"]);
    assert.equal(await page.locator(".intro").evaluate((intro) => intro.getBoundingClientRect().height < 2), true);
    await page.goto(`${address}#root=${encodeURIComponent("SHA256 (file.txt) = ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")}`);
    await page.locator(".verdict.match").waitFor();
});

test("every control has a name, and every result is announced", async (own) => {
    const path = damaged(own);
    const { page } = await start(own);
    await page.locator("#files").setInputFiles([path, `${path}.mkt`]);
    await page.locator(".strip").waitFor();
    await settled(page);
    await page.locator("details.tools > summary").click();
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    const controls = nodes.filter(({ ignored, role }) => !ignored && ["button", "textbox", "checkbox", "combobox", "progressbar", "link", "group"].includes(role?.value));
    assert.ok(controls.length > 15);
    const nameless = controls.filter(({ name, role }) => !name?.value && role.value !== "group");
    assert.deepEqual(nameless.map(({ role }) => role.value), []);
    assert.match(await page.getByRole("status").first().textContent(), /65,536 of 3,000,000 bytes are damaged \(1 range\)/);
});

test("the page is used with the keyboard alone", async (own) => {
    const path = join(folder(own), "file.txt");
    writeFileSync(path, "abc");
    const { page } = await start(own);
    await page.evaluate(() => delete window.showOpenFilePicker);
    const focused = () => page.evaluate(() => document.activeElement.textContent.trim().slice(0, 30) || document.activeElement.id);
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "Choose files");
    const chooser = page.waitForEvent("filechooser");
    // The browser takes the chooser over a moment after that.
    await page.waitForTimeout(500);
    await page.keyboard.press("Enter");
    await (await chooser).setFiles(path);
    await settled(page);
    for (const name of ["Choose a folder", "claim"]) {
        await page.keyboard.press("Tab");
        assert.equal(await focused(), name);
    }
    await page.keyboard.type("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    await page.keyboard.press("Control+Enter");
    await page.getByText("This is the SHA-256 of the file.").waitFor();
});

test("files and folders are dropped anywhere on the page", async (own) => {
    const files = folder(own);
    mkdirSync(join(files, "folder/sub"), { recursive: true });
    for (const name of ["single.txt", "folder/one.txt", "folder/sub/two.txt"]) writeFileSync(join(files, name), name);
    const { page } = await start(own);
    const session = await page.context().newCDPSession(page);
    const data = { items: [], files: [join(files, "single.txt"), join(files, "folder")], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) await session.send("Input.dispatchDragEvent", { type, x: 300, y: 500, data });
    await settled(page);
    const found = await page.evaluate(() => Object.fromEntries(window.mksum.workspace.items.map(({ path, roots }) => [path, roots.get("sha256")])));
    assert.deepEqual(found, Object.fromEntries(["single.txt", "folder/one.txt", "folder/sub/two.txt"].map((name) => [name, printed("sha256sum", join(files, name)).slice(0, 64)])));
});

// At 1.6 Mbit/s and 150 ms, 40 KB and four round trips take 0.8 s: the page appears within a second.
test("the page appears without its script, from less than 40 KB", async (own) => {
    const out = built(own);
    const sizes = ["index.html", "app.css"].map((name) => readFileSync(join(out, name)).length);
    assert.ok(sizes[0] + sizes[1] < 40_000, `${sizes.join(" + ")} bytes`);
    const { address } = await served(own, out);
    const page = await (await browser(own)).newPage();
    await page.route("**/app.js", () => {});
    await page.goto(address, { waitUntil: "commit" });
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length === 1);
    await page.unrouteAll();
});

test("a page that cannot start its engine says why", async (own) => {
    const out = built(own);
    writeFileSync(join(out, "simd.wasm"), readFileSync(join(out, "app.css")));
    const { address } = await served(own, out);
    const page = await opened(own, await browser(own), address);
    assert.match(await page.getByRole("alert").first().innerText(), /The page cannot start: .*WebAssembly/);
});

test("a folder is chosen with the picker for folders, where there is one", async (own) => {
    const { page } = await start(own);
    // The browser's private files have the same handles as those that the picker gives.
    await page.evaluate(async () => {
        const root = await navigator.storage.getDirectory();
        const folder = await (await root.getDirectoryHandle("folder", { create: true })).getDirectoryHandle("sub", { create: true });
        const writable = await (await folder.getFileHandle("file.txt", { create: true })).createWritable();
        await writable.write("abc");
        await writable.close();
        window.showDirectoryPicker = () => root.getDirectoryHandle("folder");
    });
    await page.getByRole("button", { name: "Choose a folder" }).click();
    await settled(page);
    const found = await page.evaluate(() => window.mksum.workspace.items.map(({ path, roots }) => [path, roots.get("sha256")]));
    assert.deepEqual(found, [["folder/sub/file.txt", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"]]);
});

test("letters that are invisible or turn a line around are shown as escapes", async (own) => {
    const { page } = await start(own);
    const name = "a\u202egpj.exe";
    await page.locator("#files").setInputFiles([{ name, mimeType: "", buffer: Buffer.from("a") }, { name: "b\u200b\x1b.txt", mimeType: "", buffer: Buffer.from("b") }]);
    await settled(page);
    await page.getByLabel("Paste a digest").fill(`${"0".repeat(64)}  gone\u2066.bin`);
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByText("gone\\u2066.bin").waitFor();
    assert.deepEqual(await page.locator("article.item h3").allTextContents(), ["a\\u202egpj.exe", "b\\u200b\\u001b.txt"]);
    assert.equal(await page.getByRole("button", { name: "Remove a\\u202egpj.exe" }).count(), 1);
    const text = await page.locator("#app").innerHTML();
    for (const hidden of ["\u202e", "\u200b", "\u2066", "\x1b"]) assert.ok(!text.includes(hidden));
});
