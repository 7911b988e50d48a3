// Compiled only, to check which names the types of the entries allow.
import * as mksum from "mksum";
import * as fetched from "mksum/fetch";
import * as hashes from "mksum/hashes";
import * as log from "mksum/log";
import * as md5 from "mksum/md5";
import * as sha2 from "mksum/sha2";

const bytes = new Uint8Array(1);
for (const { digest, HASHES } of [mksum, fetched, hashes]) digest(HASHES[0] ?? "sha3-224", bytes);
md5.create("md5").update(bytes).digest();
md5.create("md5").load(md5.create("md5").update(bytes).save()).digest();
sha2.hmac("sha512-256", bytes, bytes);
for (const { sha256hex } of [mksum, fetched, hashes, sha2]) sha256hex("text").concat(sha256hex(bytes), md5.md5hex(md5.md5("text")));
// @ts-expect-error A key is bytes.
sha2.hmac("sha256", "key", "text");
for (const own of [sha2.create("sha256"), new mksum.Frontier("rfc6962")]) own[Symbol.dispose]();
void sha2.digestFast("sha512", bytes).then((digest) => digest.length);
void new Blob([]).stream().pipeThrough(mksum.through(new mksum.Frontier("rfc6962"))).pipeThrough(sha2.through(sha2.create("sha256")));
void log.parsePolicy("").then((policy) => log.checkProof(log.parseProof(bytes), bytes, policy)).then(({ size }) => size + 1n);
void fetched.verifiedFetch(["https://example.org/a"], { spec: "rfc6962", root: "00", len: 1 }, { rangeBytes: 1 }).then((download) => download.stream().getReader());
void fetched.verifiedFetch(new Blob(), "00", { outboard: new Uint8Array() }).then((download) => download.read(0, 1));
// @ts-expect-error A hash of another family.
void sha2.digestFast("md5", bytes);
// @ts-expect-error A hash of another family.
md5.create("sha256");
// @ts-expect-error A hash of another family.
sha2.digest("md5", bytes);
// @ts-expect-error A hash of another family.
void sha2.md5; // oxlint-disable-line import/namespace -- The type error is expected.
// @ts-expect-error Not a hash.
mksum.digest("sha257", bytes);
