/++
The Merkle root of a byte stream, in constant memory, and proofs that a segment is in it.

A stream is cut into segments of one size, the last of which may be shorter. Each is hashed: a leaf. Pairs of neighbours are
hashed together, level by level, up to the root; a node without a neighbour goes up as it is. The root of no bytes
is the hash of no bytes.

$(UL
$(LI $(D merkle.tree): $(D MerkleTree), an output range and a digest)
$(LI $(D merkle.proof): $(D InclusionProver) and $(D verifyInclusion))
$(LI $(D merkle.sha256): $(D SHA256), with the processor's instructions where it has them))

License: MIT or Apache-2.0
+/
module merkle;

public import merkle.proof;
public import merkle.sha256;
public import merkle.tree;
