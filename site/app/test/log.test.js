// Proofs of logs are checked with the entry and the key or policy: the worked example of spec/log.md.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, start } from "./browser.js";

const [, example] = readFileSync(new URL("../../../spec/log.md", import.meta.url), "utf8").split("## A worked example");
const [keys, , , proof, , witness] = Array.from(example.matchAll(/```\n([^]*?)```/g), ([, block]) => block);
const key = keys.split("\n")[1];
const [witnessKey, cosignature] = witness.split("\n");
const policy = `log ${key}\nwitness w ${witnessKey}\nquorum w\n`;

/** Opens the page with a proof, and returns what adds files, pastes texts and reads the verdict. */
async function withProof(own, text = proof, name = "1.tlog-proof", options = {}) {
    const files = folder(own);
    const { page, requests } = await start(own, options);
    const add = async (file, content) => {
        writeFileSync(join(files, file), content);
        await page.locator("#files").setInputFiles(join(files, file));
    };
    const paste = async (pasted) => {
        await page.getByLabel("Paste a digest").fill(pasted);
        await page.getByRole("button", { name: "Compare", exact: true }).click();
    };
    const says = (expected) => page.locator(".proof .verdict > p", { hasText: expected }).waitFor({ timeout: 300_000 });
    await add(name, text);
    return { page, requests, add, paste, says };
}

test("an entry matches its proof, another file does not, and what is missing is said", async (own) => {
    const { page, add, paste, says } = await withProof(own);
    await says("? Cannot check Paste the key of the log above");
    await paste(key);
    await says("? Cannot check Add the file that is the entry.");
    await add("two.txt", "two");
    await says("✓ Match two.txt is entry 1 of 3 in the log example.com/ledger, which is signed as you trust.");
    await add("two.txt", "two\n");
    await says("✓ Match two.txt, without the newline at its end, is entry 1 of 3");
    await add("two.txt", "three");
    await says("✗ Mismatch two.txt: the proof does not lead from this entry at index 1 to the root of the checkpoint");
    await add("right", "two");
    await says("✓ Match right is entry 1");
    await paste(policy);
    await says("✗ Mismatch None of these 2 files: the checkpoint is cosigned by 0 of 1 witnesses of the policy, which is no quorum");
    await page.getByRole("button", { name: "Remove: Trusted for proofs of logs: policy with logs example.com/ledger and witnesses w.example" }).click();
    await says("✓ Match right is entry 1");
    await paste(key.replace("3481d542", "3481d543"));
    await page.locator("#claim-problem", { hasText: "its identifier is 3481d543" }).waitFor();
});

test("a policy with witnesses is taken from a file, and a changed proof is a mismatch or is named", async (own) => {
    const { page, add, paste, says } = await withProof(own, proof + cosignature + "\n");
    await add("policy.txt", policy);
    await add("entry", "two");
    await says("✓ Match entry is entry 1 of 3");
    await page.getByRole("button", { name: "Remove: 1.tlog-proof" }).click();
    await paste((proof + cosignature).replace("\n3\n", "\n4\n"));
    await says("✗ Mismatch entry: the signature of example.com/ledger is not valid");
    await add("2.tlog-proof", proof.replace("c2sp", "c3sp"));
    await page.locator("#claim-problem", { hasText: "2.tlog-proof: not a tlog-proof: line 1: expected" }).waitFor();
});

test("without Ed25519 in the browser, a proof cannot be checked", async (own) => {
    const { page, add, paste, says } = await withProof(own);
    await page.evaluate(() => {
        SubtleCrypto.prototype.importKey = () => Promise.reject(new DOMException("no Ed25519", "NotSupportedError"));
    });
    await paste(key);
    await add("two.txt", "two");
    await says("? Cannot check the signature of example.com/ledger cannot be checked here: its Web Cryptography has no Ed25519");
});

for (const width of [320, 1400]) {
    test(`a proof is shown at ${width} pixels without scrolling sideways`, async (own) => {
        const { page, add, paste, says } = await withProof(own, proof, "1.tlog-proof", { context: { viewport: { width, height: 900 } } });
        await paste(policy);
        await add("two.txt", "two");
        await says("✗ Mismatch");
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
        if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `log-${width}.png`), fullPage: true });
    });
}
