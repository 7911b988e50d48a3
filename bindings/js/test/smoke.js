// A short test of every feature that needs only the package, for engines without Node's test runner.
import { create, digestFast, digestOf, hmac, pbkdf2, Pool, Proof, root, rootOf, sha256, through, toHex } from "mksum";
import { scrypt } from "mksum/extra";
import { parseKey } from "mksum/log";

function equal(found, expected) {
    if (found !== expected) throw new Error(`expected ${expected}, found ${found}`);
}

const abc = new TextEncoder().encode("abc");
equal(toHex(sha256(abc)), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
equal(toHex(create("blake3").update(abc).digest()), "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
// RFC 4231, test case 2; RFC 7914, 11.
const text = (string) => new TextEncoder().encode(string);
equal(
    toHex(hmac("sha256", text("Jefe"), text("what do ya want for nothing?"))),
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
);
equal(
    toHex(pbkdf2("sha256", text("passwd"), text("salt"), 1, 64)),
    "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
        + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783",
);
equal(toHex(create("md5").load(create("md5").update(abc).save()).digest()), "900150983cd24fb0d6963f7d28e17f72");
const data = new Uint8Array(9_000_000).map((_, at) => at % 251);
const file = new Blob([data]);
const expected = root("rfc6962", data);
equal((await rootOf("rfc6962", file)).text, expected.text);
equal((await rootOf("rfc6962", file.stream())).text, expected.text);
equal(toHex(await digestOf("sha256", file)), toHex(sha256(data)));
equal(toHex(await digestFast("sha256", data)), toHex(sha256(data)));
const hasher = create("sha256");
equal((await new Response(file.stream().pipeThrough(through(hasher))).arrayBuffer()).byteLength, data.length);
equal(toHex(hasher.digest()), toHex(sha256(data)));
Proof.parse(Proof.ofRange("rfc6962", data, 5, 100).toBytes()).verifyRange(expected, data.subarray(5, 100));
const pool = await Pool.start(2);
equal((await pool.rootOf("rfc6962", file)).text, expected.text);
pool.end();
// RFC 7914, 12.
equal(toHex(scrypt(text(""), text(""), { cost: 16, blockSize: 1, length: 8 })), "77d6576238657b20");
// C2SP signed-note, "Verifier keys".
equal((await parseKey("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")).id, "530d903a");
console.log("passed");
