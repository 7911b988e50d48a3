package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"
)

// The leaf size, and the format that uses it.
const leafSize, leafFormat = 16, "rfc6962:sha256:16"

// proofJSON is the output of `mksum prove --json`.
type proofJSON struct {
	Root       string
	Kind       string
	Length     int64
	Start, End int64
	Digests    []string
}

// checkProofs verifies proofs of the program mksum with tlog and transparency-dev/merkle, and proofs of these libraries with
// mksum, for trees of 1 to 40 leaves and one of 1000; for trees of up to 15 leaves, every leaf and every older size.
func checkProofs(mksum string) {
	folder, err := os.MkdirTemp("", "proofs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "input")
	var counts [2]int
	for _, leaves := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 33, 40, 1000} {
		// The last leaf is short.
		bytes := input("mod251", leaves*leafSize-5)
		if err := os.WriteFile(path, bytes, 0o600); err != nil {
			log.Fatal(err)
		}
		tree := newTree(pieces(bytes, leafSize))
		step := max(1, leaves/8)
		for at := 0; at < leaves; at += step {
			start, end := at*leafSize, min((at+1)*leafSize, len(bytes))
			ours := prove(mksum, path, "--range", fmt.Sprintf("%d..%d", start, end))
			tree.verifyInclusion(at, ours)
			tree.acceptsInclusion(mksum, folder, at, bytes)
			counts[0] += 2
			if at == 0 {
				continue
			}
			ours = prove(mksum, path, "--consistency", strconv.Itoa(start))
			tree.verifyConsistency(at, ours)
			tree.acceptsConsistency(mksum, folder, at, len(bytes))
			counts[1] += 2
		}
	}
	fmt.Printf("proofs: %d of inclusion and %d of consistency, made by each program and verified by the others\n", counts[0], counts[1])
}

func prove(mksum, path, flag, value string) (proof proofJSON) {
	output, err := exec.Command(mksum, "prove", path, "-f", leafFormat, flag, value, "--json").Output()
	if err != nil {
		log.Fatalf("mksum prove %s %s: %v", flag, value, err)
	}
	if err := json.Unmarshal(output, &proof); err != nil {
		log.Fatal(err)
	}
	return proof
}

// tree is a log whose records are the leaves, in the representation of both libraries.
type tree struct {
	leaves [][]byte
	stored []tlog.Hash
	nodes  map[compact.NodeID][]byte
}

func newTree(leaves [][]byte) *tree {
	t := &tree{leaves: leaves, nodes: map[compact.NodeID][]byte{}}
	grown := (&compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}).NewEmptyRange(0)
	for i, leaf := range leaves {
		hashes, err := tlog.StoredHashes(int64(i), leaf, t)
		if err != nil {
			log.Fatal(err)
		}
		t.stored = append(t.stored, hashes...)
		visit := func(id compact.NodeID, hash []byte) { t.nodes[id] = hash }
		hash := rfc6962.DefaultHasher.HashLeaf(leaf)
		visit(compact.NewNodeID(0, uint64(i)), hash)
		if err := grown.Append(hash, visit); err != nil {
			log.Fatal(err)
		}
	}
	return t
}

// ReadHashes implements tlog.HashReader.
func (t *tree) ReadHashes(indexes []int64) (hashes []tlog.Hash, err error) {
	for _, index := range indexes {
		hashes = append(hashes, t.stored[index])
	}
	return hashes, nil
}

func (t *tree) root(size int) tlog.Hash {
	root, err := tlog.TreeHash(int64(size), t)
	if err != nil {
		log.Fatal(err)
	}
	return root
}

func (t *tree) size() int { return len(t.leaves) }

func unhex(texts []string) (digests [][]byte, hashes []tlog.Hash) {
	for _, text := range texts {
		digest, err := hex.DecodeString(text)
		if err != nil || len(digest) != tlog.HashSize {
			log.Fatalf("not a digest: %s", text)
		}
		digests, hashes = append(digests, digest), append(hashes, tlog.Hash(digest))
	}
	return digests, hashes
}

func (t *tree) verifyInclusion(at int, ours proofJSON) {
	digests, hashes := unhex(ours.Digests)
	root := t.root(t.size())
	if ours.Root != hex.EncodeToString(root[:]) {
		log.Fatalf("the root of %d leaves: expected %s, found %s", t.size(), root, ours.Root)
	}
	if err := tlog.CheckRecord(hashes, int64(t.size()), root, int64(at), tlog.RecordHash(t.leaves[at])); err != nil {
		log.Fatalf("tlog, leaf %d of %d: %v", at, t.size(), err)
	}
	leaf := rfc6962.DefaultHasher.HashLeaf(t.leaves[at])
	if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(at), uint64(t.size()), leaf, digests, root[:]); err != nil {
		log.Fatalf("merkle, leaf %d of %d: %v", at, t.size(), err)
	}
}

func (t *tree) verifyConsistency(old int, ours proofJSON) {
	digests, hashes := unhex(ours.Digests)
	root, oldRoot := t.root(t.size()), t.root(old)
	if err := tlog.CheckTree(hashes, int64(t.size()), root, int64(old), oldRoot); err != nil {
		log.Fatalf("tlog, %d of %d: %v", old, t.size(), err)
	}
	sizes := []uint64{uint64(old), uint64(t.size())}
	if err := proof.VerifyConsistency(rfc6962.DefaultHasher, sizes[0], sizes[1], digests, oldRoot[:], root[:]); err != nil {
		log.Fatalf("merkle, %d of %d: %v", old, t.size(), err)
	}
}

// acceptsInclusion checks that mksum accepts both libraries' proofs of a leaf.
func (t *tree) acceptsInclusion(mksum, folder string, at int, bytes []byte) {
	root := t.root(t.size())
	record, err := tlog.ProveRecord(int64(t.size()), int64(at), t)
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := proof.Inclusion(uint64(at), uint64(t.size()))
	if err != nil {
		log.Fatal(err)
	}
	start, end := at*leafSize, min((at+1)*leafSize, len(bytes))
	for _, digests := range [][][]byte{flat(record), t.digests(nodes)} {
		accept(mksum, folder, wire(0, len(bytes), start, end, digests), bytes[start:end],
			"--length", strconv.Itoa(len(bytes)), text(root))
	}
}

// acceptsConsistency checks that mksum accepts both libraries' proofs of consistency with the first `old` leaves.
func (t *tree) acceptsConsistency(mksum, folder string, old, length int) {
	root, oldRoot := t.root(t.size()), t.root(old)
	grown, err := tlog.ProveTree(int64(t.size()), int64(old), t)
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := proof.Consistency(uint64(old), uint64(t.size()))
	if err != nil {
		log.Fatal(err)
	}
	for _, digests := range [][][]byte{flat(grown), t.digests(nodes)} {
		accept(mksum, folder, wire(1, length, 0, old*leafSize, digests), nil, "--length", strconv.Itoa(length),
			"--old-length", strconv.Itoa(old*leafSize), "--old-root", text(oldRoot), text(root))
	}
}

// digests returns the digests of a proof's nodes; some must be joined first.
func (t *tree) digests(nodes proof.Nodes) [][]byte {
	var all [][]byte
	for _, id := range nodes.IDs {
		all = append(all, t.nodes[id])
	}
	all, err := nodes.Rehash(all, rfc6962.DefaultHasher.HashChildren)
	if err != nil {
		log.Fatal(err)
	}
	return all
}

func text(hash tlog.Hash) string { return hex.EncodeToString(hash[:]) }

func flat(hashes []tlog.Hash) (digests [][]byte) {
	for _, hash := range hashes {
		digests = append(digests, bytes.Clone(hash[:]))
	}
	return digests
}

// wire encodes a proof as in spec/proofs.md.
func wire(kind byte, length, start, end int, digests [][]byte) []byte {
	proof := append([]byte("mksumprf"), 1, kind)
	proof = binary.LittleEndian.AppendUint16(proof, uint16(len(leafFormat)))
	proof = append(proof, leafFormat...)
	for _, number := range []int{length, start, end} {
		proof = binary.LittleEndian.AppendUint64(proof, uint64(number))
	}
	return append(proof, bytes.Join(digests, nil)...)
}

func accept(mksum, folder string, proof, held []byte, flags ...string) {
	path := filepath.Join(folder, "proof")
	if err := os.WriteFile(path, proof, 0o600); err != nil {
		log.Fatal(err)
	}
	command := exec.Command(mksum, append(append([]string{"check-proof", "-f", leafFormat}, flags...), path)...)
	command.Stdin = bytes.NewReader(held)
	if output, err := command.CombinedOutput(); err != nil {
		log.Fatalf("mksum check-proof %v: %v: %s", flags, err, output)
	}
}
