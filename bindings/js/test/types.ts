// Compiled only: what the types of the entries allow, and what not.
import * as mksum from "mksum";
import * as fetched from "mksum/fetch";
import * as hashes from "mksum/hashes";
import * as md5 from "mksum/md5";
import * as sha2 from "mksum/sha2";

const bytes = new Uint8Array(1);
for (const { digest, HASHES } of [mksum, fetched, hashes]) digest(HASHES[0] ?? "sha3-224", bytes);
md5.create("md5").update(bytes).digest();
sha2.hmac("sha512-256", bytes, bytes);
// @ts-expect-error Of another family.
md5.create("sha256");
// @ts-expect-error Of another family.
sha2.digest("md5", bytes);
// @ts-expect-error Of another family.
sha2.md5;
// @ts-expect-error No hash.
mksum.digest("sha257", bytes);
