// An example: a damaged file, its outboard and a good copy.
import { keep, Outboard } from "mksum/fetch";
import { announce } from "./announce.js";
import { byId } from "./dom.js";

const LEN = 6_000_000;

/** The bytes that are damaged. */
const FLIPPED = [700_000, 700_001, 3_400_000, 3_500_000, 5_999_999];

/**
 * Adds the example when its button is pressed.
 *
 * @param {import("../workspace.js").Workspace} workspace
 * @param {Promise<unknown>} ready
 */
export function offerExample(workspace, ready) {
    byId("example").addEventListener("click", async () => {
        await ready;
        // Any bytes will do, as long as they are the same each time.
        const good = Uint8Array.from({ length: LEN }, (_, at) => (at * 131 + (at >> 8) * 17) & 0xff);
        const bad = good.slice();
        for (const at of FLIPPED) bad[at] = ~(bad[at] ?? 0) & 0xff;
        workspace.learn([{ kind: "outboard", name: "example.img.mkt", outboard: Outboard.open(keep("rfc6962:sha256:64KiB", 1 << 16, good)) }]);
        workspace.add([{ path: "example copy.img", file: new File([good], "example copy.img") }, { path: "example.img", file: new File([bad], "example.img") }]);
        announce("An example: a damaged file, its outboard and a good copy");
    });
}
