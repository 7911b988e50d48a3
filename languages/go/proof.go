package merkle

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
)

// Proof says that a leaf is under a root: its siblings from the leaf up (RFC 6962, 2.1.1).
type Proof struct {
	Index  uint64   // of the leaf, the first being 0
	Leaves uint64   // in the whole tree
	Path   [][]byte // the lowest sibling first; a level on which the leaf's node has none is left out
}

// ErrProof says that a proof does not hold.
var ErrProof = errors.New("merkle: the proof does not hold")

// Verify returns nil if proof shows that leaf, with SHA-256, is under root, and else ErrProof.
//
// Proof.Leaves has to come from where the root comes from. In [Plain] anything else can be forged: two digests of a tree
// are themselves the leaf of a shorter one with the same root. That the leaf has the length of a segment is the
// caller's to check as well.
func Verify(format Format, root []byte, proof Proof, leaf []byte) error {
	return VerifyWith(crypto.SHA256, format, root, proof, leaf)
}

// VerifyWith is Verify with another hash.
func VerifyWith(h crypto.Hash, format Format, root []byte, proof Proof, leaf []byte) error {
	if !format.valid() || proof.Index >= proof.Leaves {
		return ErrProof
	}
	hash := h.New()
	digest := func(prefix []byte, messages ...[]byte) []byte {
		hash.Reset()
		hash.Write(prefix)
		for _, message := range messages {
			hash.Write(message)
		}
		return hash.Sum(nil)
	}
	node, path := digest(format.leafPrefix(), leaf), proof.Path
	// Up the levels: at is the node above the leaf, last the last node of the level.
	for at, last := proof.Index, proof.Leaves-1; last > 0; at, last = at/2, last/2 {
		if at^1 > last {
			continue // no neighbour: it moves up as it is
		}
		if len(path) == 0 || len(path[0]) != h.Size() {
			return ErrProof
		}
		if at%2 == 0 {
			node = digest(format.nodePrefix(), node, path[0])
		} else {
			node = digest(format.nodePrefix(), path[0], node)
		}
		path = path[1:]
	}
	if len(path) > 0 || !bytes.Equal(node, root) {
		return ErrProof
	}
	return nil
}

// Prover is a Tree that keeps what the proof for one leaf needs: a digest for each level.
type Prover struct {
	*Tree
}

// NewProver returns an empty tree that proves the leaf index, the first being 0. It panics as New does.
func NewProver(format Format, segment, index uint64) Prover {
	return NewProverWith(crypto.SHA256, format, segment, index)
}

// NewProverWith is NewProver with another hash.
func NewProverWith(h crypto.Hash, format Format, segment, index uint64) Prover {
	tree := NewWith(h, format, segment)
	tree.watch = &watch{index: index}
	return Prover{tree}
}

// Proof returns the proof for the leaf in the tree so far. It fails while that leaf has not begun.
func (p Prover) Proof() (Proof, error) {
	proof := Proof{Index: p.watch.index, Leaves: p.Leaves()}
	if proof.Index >= proof.Leaves {
		return Proof{}, fmt.Errorf("merkle: no leaf %d among %d", proof.Index, proof.Leaves)
	}
	w := *p.watch
	p.finish(&w, nil)
	for _, sibling := range w.siblings {
		if sibling != nil {
			proof.Path = append(proof.Path, append([]byte(nil), sibling...))
		}
	}
	return proof, nil
}

// watch keeps the siblings on the path of one leaf.
//
// Node n of level k stands over the leaves n·2^k to (n+1)·2^k. A leaf is under node index>>k, and that node's sibling is
// the neighbour with the other last bit. Whoever computes nodes shows them here.
type watch struct {
	index    uint64
	siblings [levels][]byte
}

// show passes the digests, of size bytes each, of the nodes of a level from node first on.
func (w *watch) show(level int, first uint64, digests []byte, size int) {
	if w == nil {
		return
	}
	sibling := w.index>>level ^ 1
	if sibling >= first && sibling-first < uint64(len(digests)/size) {
		at := int(sibling-first) * size
		w.siblings[level] = append([]byte(nil), digests[at:at+size]...)
	}
}
