// Package merkle computes Merkle roots of byte streams, and inclusion proofs.
//
// A [Tree] is a [hash.Hash]: write to it, ask for the root with Sum at any moment, and go on writing. Its memory is some
// hundred digests and one for each bit of the number of leaves, whatever the size of a leaf.
//
// It computes the tree of RFC 6962, section 2.1, over the segments of the input, with the prefixes that distinguish leaves
// from nodes ([RFC6962]) or without ([Plain]).
package merkle

import (
	"crypto"
	_ "crypto/sha256" // the hash that New uses
	"encoding"
	"fmt"
	"hash"
)

// Format says what is hashed for a leaf and for a node.
type Format int

const (
	// Plain hashes a leaf as H(bytes) and a node as H(left ‖ right). A proof is worth nothing without a trusted number
	// of leaves.
	Plain Format = iota
	// RFC6962 hashes a leaf as H(00 ‖ bytes) and a node as H(01 ‖ left ‖ right).
	RFC6962
)

// MaxSegment is the size of the largest leaf in bytes.
const MaxSegment = 1 << 40

var formatNames = [...]string{Plain: "plain", RFC6962: "rfc6962"}

// ParseFormat returns the format named "plain" or "rfc6962".
func ParseFormat(name string) (Format, error) {
	for format, known := range formatNames {
		if name == known {
			return Format(format), nil
		}
	}
	return 0, fmt.Errorf("'%s' is neither plain nor rfc6962", name)
}

// String returns the name that ParseFormat reads.
func (f Format) String() string {
	if f.valid() {
		return formatNames[f]
	}
	return fmt.Sprintf("Format(%d)", int(f))
}

func (f Format) valid() bool { return f == Plain || f == RFC6962 }

// leafPrefix returns the bytes that are hashed before a leaf.
func (f Format) leafPrefix() []byte {
	if f == RFC6962 {
		return prefixes[:1]
	}
	return nil
}

// nodePrefix returns the bytes that are hashed before a node.
func (f Format) nodePrefix() []byte {
	if f == RFC6962 {
		return prefixes[1:]
	}
	return nil
}

var prefixes = []byte{0, 1}

const (
	batchLevel = 8
	// batchSize is how many digests of leaves are joined together, level by level: enough to keep two messages in the
	// processor at once on most levels, few enough to stay in its first cache.
	batchSize = 1 << batchLevel
	// levels is how many levels a tree has at most: leaves are counted in 64 bits.
	levels = 64
)

// Tree is the tree over the bytes written so far. It implements [hash.Hash].
//
// Methods that only read a Tree (Sum, Leaves, Size, BlockSize, Clone) may be called from several goroutines at once, while
// none writes to it or resets it.
type Tree struct {
	format  Format
	segment uint64
	hash    crypto.Hash
	size    int      // of a digest
	many    manyFunc // for Write only: it holds a hash.Hash

	joined   uint64         // leaves under frontier: a multiple of batchSize
	frontier [levels][]byte // [k] is the digest of 2^k leaves, where bit k of joined is set
	batch    []byte         // digests of the leaves after the first joined
	waiting  int            // how many: below batchSize

	leaf   hash.Hash // of the incomplete leaf
	filled uint64    // bytes in it

	siblings *siblings // nil unless a leaf is to be proven
}

var _ hash.Hash = (*Tree)(nil)

// New returns an empty tree with SHA-256 over leaves of segment bytes. It panics unless segment is 1 to [MaxSegment] and the
// format is known.
func New(format Format, segment uint64) *Tree {
	return NewWith(crypto.SHA256, format, segment)
}

// NewWith is New with another hash, whose package the program has to import.
func NewWith(h crypto.Hash, format Format, segment uint64) *Tree {
	if segment == 0 || segment > MaxSegment {
		panic(fmt.Sprintf("merkle: a segment has 1 to 2^40 bytes, not %d", segment))
	}
	if !format.valid() {
		panic("merkle: unknown format " + format.String())
	}
	return &Tree{
		format:  format,
		segment: segment,
		hash:    h,
		size:    h.Size(),
		many:    newMany(h),
		batch:   make([]byte, batchSize*h.Size()),
		leaf:    h.New(),
	}
}

// Size returns the length of the root in bytes.
func (t *Tree) Size() int { return t.size }

// BlockSize returns the length of a leaf: writes of whole leaves are the fastest.
func (t *Tree) BlockSize() int {
	if t.segment > 1<<30 {
		return 1 << 30
	}
	return int(t.segment)
}

// Reset removes all bytes.
func (t *Tree) Reset() {
	t.joined, t.waiting, t.filled = 0, 0, 0
	if t.siblings != nil {
		t.siblings = &siblings{index: t.siblings.index}
	}
}

// Clone returns a copy with a life of its own. It fails if a leaf is incomplete and the hash cannot be copied; those of the
// standard library can.
func (t *Tree) Clone() (*Tree, error) {
	clone := *t
	clone.many, clone.leaf = newMany(t.hash), t.hash.New()
	clone.batch = append([]byte(nil), t.batch...)
	for level, digest := range t.frontier {
		clone.frontier[level] = append([]byte(nil), digest...)
	}
	if t.siblings != nil {
		kept := *t.siblings // its digests are never changed
		clone.siblings = &kept
	}
	if t.filled == 0 {
		return &clone, nil
	}
	from, canMarshal := t.leaf.(encoding.BinaryMarshaler)
	to, canUnmarshal := clone.leaf.(encoding.BinaryUnmarshaler)
	if !canMarshal || !canUnmarshal {
		return nil, fmt.Errorf("merkle: %v cannot be copied", t.hash)
	}
	state, err := from.MarshalBinary()
	if err == nil {
		err = to.UnmarshalBinary(state)
	}
	if err != nil {
		return nil, fmt.Errorf("merkle: %v cannot be copied: %w", t.hash, err)
	}
	return &clone, nil
}

// Leaves returns the number of leaves so far, including a short last one.
func (t *Tree) Leaves() uint64 {
	leaves := t.joined + uint64(t.waiting)
	if t.filled > 0 {
		leaves++
	}
	return leaves
}

// Write appends bytes. It never fails and keeps none of them.
func (t *Tree) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		var used int
		if t.filled == 0 && uint64(len(p)) >= t.segment {
			used = t.writeLeaves(p)
		} else {
			used = t.writePart(p)
		}
		p = p[used:]
	}
	return written, nil
}

// writeLeaves hashes whole leaves where they lie, as many as the batch has room for; it returns their bytes.
func (t *Tree) writeLeaves(p []byte) int {
	segment := int(t.segment)
	count := len(p) / segment
	if room := batchSize - t.waiting; count > room {
		count = room
	}
	t.many(t.format.leafPrefix(), p, segment, count, t.batch[t.waiting*t.size:])
	t.pushed(count)
	return count * segment
}

// writePart hashes a part of a leaf, up to its end; it returns the bytes of that part.
func (t *Tree) writePart(p []byte) int {
	if t.filled == 0 {
		t.leaf.Reset()
		t.leaf.Write(t.format.leafPrefix())
	}
	if rest := t.segment - t.filled; uint64(len(p)) > rest {
		p = p[:rest]
	}
	t.leaf.Write(p)
	t.filled += uint64(len(p))
	if t.filled == t.segment {
		t.leaf.Sum(t.batch[:t.waiting*t.size])
		t.filled = 0
		t.pushed(1)
	}
	return len(p)
}

// pushed counts digests that were added to the batch.
func (t *Tree) pushed(count int) {
	if t.waiting += count; t.waiting == batchSize {
		t.joinBatch()
	}
}

// join makes one digest of the count in digests, those of the leaves from first on, and leaves it in front. A last node
// without a neighbour moves up as it is. It overwrites all digests. first is a multiple of batchSize, so that the levels
// above see a whole node or the right edge.
func (t *Tree) join(many manyFunc, kept *siblings, first uint64, digests []byte, count int) {
	for level := 0; count > 1; level++ {
		kept.keep(level, first>>level, digests[:count*t.size], t.size)
		many(t.format.nodePrefix(), digests, 2*t.size, count/2, digests)
		if count%2 == 1 {
			copy(digests[count/2*t.size:][:t.size], digests[(count-1)*t.size:])
		}
		count = (count + 1) / 2
	}
}

// node sets right to the digest of the node over left and right; pair has room for both.
func (t *Tree) node(many manyFunc, left, right, pair []byte) {
	pair = append(append(pair[:0], left...), right...)
	many(t.format.nodePrefix(), pair, 2*t.size, 1, right)
}

// joinBatch makes one digest of a full batch and adds it to the frontier, as one is added to a binary number: each carry
// is a node.
func (t *Tree) joinBatch() {
	first := t.joined
	t.join(t.many, t.siblings, first, t.batch, batchSize)
	digest, pair := t.batch[:t.size], t.batch[t.size:3*t.size]
	level := batchLevel
	for ; first>>level&1 == 1; level++ {
		t.siblings.keep(level, first>>level-1, t.frontier[level], t.size)
		t.siblings.keep(level, first>>level, digest, t.size)
		t.node(t.many, t.frontier[level], digest, pair)
	}
	t.frontier[level] = append(t.frontier[level][:0], digest...)
	t.joined += batchSize
	t.waiting = 0
}

// Sum appends the root of the bytes so far. The tree does not change: more may be written.
func (t *Tree) Sum(b []byte) []byte {
	return t.finish(nil, b)
}

// finish appends the root, and keeps the siblings on the right edge. It changes nothing of the tree, and hashes with a
// hash.Hash of its own, so that several goroutines may call it.
func (t *Tree) finish(kept *siblings, b []byte) []byte {
	many, first, count := newMany(t.hash), t.joined, t.waiting
	digests := make([]byte, 0, (count+4)*t.size)
	digests = append(digests, t.batch[:count*t.size]...)
	if t.filled > 0 {
		digests = t.leaf.Sum(digests)
		count++
	}
	t.join(many, kept, first, digests, count)
	edge, pair := digests[:0], make([]byte, 2*t.size)
	if count > 0 {
		edge = digests[:t.size]
	}
	// Every subtree of the frontier is larger than all to its right: those are its right sibling.
	for level := batchLevel; level < levels; level++ {
		switch left := t.frontier[level]; {
		case first>>level&1 == 0:
		case len(edge) == 0:
			edge = append(edge, left...)
		default:
			kept.keep(level, first>>level-1, left, t.size)
			kept.keep(level, first>>level, edge, t.size)
			t.node(many, left, edge, pair)
		}
	}
	if len(edge) == 0 {
		edge = digests[:t.size]
		many(nil, nil, 0, 1, edge) // no bytes: H of nothing, in both formats
	}
	return append(b, edge...)
}
