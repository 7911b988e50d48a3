// An adapter of a package that does not exist, for study.test.mjs.
import hash from "mksum-lab-no-such-package";

export default { name: "not installed", kind: "js", load: () => ({ hashes: { sha256: hash } }) };
