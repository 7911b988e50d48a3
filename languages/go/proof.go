package merkle

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
)

// Proof is an inclusion proof: the siblings of a leaf and of the nodes above it (RFC 9162, 2.1.3).
type Proof struct {
	Index  uint64   // of the leaf, counted from 0
	Leaves uint64   // in the whole tree
	Path   [][]byte // the lowest sibling first; a level on which the leaf's node has none is left out
}

// ErrProof is returned for a proof that is not valid.
var ErrProof = errors.New("merkle: the proof is not valid")

// Verify returns nil if proof proves, with SHA-256, that leaf is under root, and [ErrProof] otherwise. The leaf must have
// segment bytes; the last one may be shorter, but not empty.
//
// Proof.Leaves must come from the source of the root, not from whoever sent the proof. In [Plain] any other number allows
// a forgery: the two digests below a root are the only leaf of a shorter stream with the same root.
func Verify(format Format, segment uint64, root []byte, proof Proof, leaf []byte) error {
	return VerifyWith(crypto.SHA256, format, segment, root, proof, leaf)
}

// VerifyWith is Verify with another hash.
func VerifyWith(h crypto.Hash, format Format, segment uint64, root []byte, proof Proof, leaf []byte) error {
	size, isLast := uint64(len(leaf)), proof.Index+1 == proof.Leaves
	if !format.valid() || proof.Index >= proof.Leaves || size == 0 || size > segment || size < segment && !isLast {
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
			continue // a last node without a sibling is on the next level as it is
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
	tree.siblings = &siblings{index: index}
	return Prover{tree}
}

// Clone returns a copy with a life of its own; it fails as [Tree.Clone] does.
func (p Prover) Clone() (Prover, error) {
	tree, err := p.Tree.Clone()
	return Prover{tree}, err
}

// Proof returns the proof for the leaf in the tree so far. It fails while that leaf has not begun.
func (p Prover) Proof() (Proof, error) {
	proof := Proof{Index: p.siblings.index, Leaves: p.Leaves()}
	if proof.Index >= proof.Leaves {
		return Proof{}, fmt.Errorf("merkle: there is no leaf %d among %d", proof.Index, proof.Leaves)
	}
	kept := *p.siblings
	p.finish(&kept, nil)
	for _, digest := range kept.digests {
		if digest != nil {
			proof.Path = append(proof.Path, append([]byte(nil), digest...))
		}
	}
	return proof, nil
}

// siblings are those on the path of one leaf.
//
// Node n of level k is over the leaves n·2^k to (n+1)·2^k. The leaf is under node index>>k, and that node's sibling is the
// one whose number differs in the last bit.
type siblings struct {
	index   uint64
	digests [levels][]byte
}

// keep keeps the sibling on this level if it is among the digests of the nodes from first on, of size bytes each. Every node
// that is computed is passed to it once.
func (s *siblings) keep(level int, first uint64, digests []byte, size int) {
	if s == nil {
		return
	}
	sibling := s.index>>level ^ 1
	if sibling >= first && sibling-first < uint64(len(digests)/size) {
		at := int(sibling-first) * size
		s.digests[level] = append([]byte(nil), digests[at:at+size]...)
	}
}
