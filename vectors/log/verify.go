package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"filippo.io/torchwood"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// verify checks the whole log and prints what it is: its size, its root in Base64 as in the checkpoint, and the SHA-256 of its entries,
// each after its length in two bytes.
func verify(s source, vkey string) error {
	_, tree, err := s.checkpoint(vkey)
	if err != nil {
		return err
	}
	digest, err := s.entries(tree)
	if err != nil {
		return err
	}
	if err := s.proofs(tree); err != nil {
		return err
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	// Of nothing, tessera asks for a bundle.
	if tree.N > 0 {
		checker := fsck.New(verifier.Name(), verifier, s, leafHashes, fsck.Opts{N: 2})
		if err := checker.Check(context.Background()); err != nil {
			return fmt.Errorf("tessera's fsck: %w", err)
		}
	}
	fmt.Printf("%d %s %x\n", tree.N, tree.Hash, digest)
	return nil
}

// entries compares each entry's hash with that in the tiles, which it has verified up to the root, and returns the digest of all.
func (s source) entries(tree tlog.Tree) (digest []byte, err error) {
	whole := sha256.New()
	hashes := tlog.TileHashReader(tree, s)
	for at := int64(0); at*torchwood.TileWidth < tree.N; at++ {
		entries, err := s.bundle(at, tree.N)
		if err != nil {
			return nil, fmt.Errorf("bundle %d: %w", at, err)
		}
		var indices []int64
		for i, entry := range entries {
			indices = append(indices, tlog.StoredHashIndex(0, at*torchwood.TileWidth+int64(i)))
			whole.Write(binary.BigEndian.AppendUint16(nil, uint16(len(entry))))
			whole.Write(entry)
		}
		stored, err := hashes.ReadHashes(indices)
		if err != nil {
			return nil, fmt.Errorf("tiles of bundle %d: %w", at, err)
		}
		for i, entry := range entries {
			if hash := tlog.RecordHash(entry); hash != stored[i] {
				return nil, fmt.Errorf("entry %d: its hash is %s, and the tile has %s", at*torchwood.TileWidth+int64(i), hash, stored[i])
			}
		}
	}
	return whole.Sum(nil), nil
}

// proofs proves entries and earlier sizes, at the ends and at random, and checks the proofs with another library.
func (s source) proofs(tree tlog.Tree) error {
	hashes := tlog.TileHashReader(tree, s)
	chosen := []int64{0, 1, 2, 254, 255, 256, 257, 511, 512, 65_535, 65_536, tree.N / 2, tree.N - 2, tree.N - 1}
	for range 8 {
		chosen = append(chosen, rand.Int64N(max(tree.N, 1)))
	}
	for _, at := range chosen {
		if at < 0 || at >= tree.N {
			continue
		}
		leaf, err := hashes.ReadHashes([]int64{tlog.StoredHashIndex(0, at)})
		if err != nil {
			return err
		}
		inclusion, err := tlog.ProveRecord(tree.N, at, hashes)
		if err != nil {
			return fmt.Errorf("entry %d: %w", at, err)
		}
		digests := flat(inclusion)
		if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(at), uint64(tree.N), leaf[0][:], digests, tree.Hash[:]); err != nil {
			return fmt.Errorf("entry %d: %w", at, err)
		}
		old, err := tlog.TreeHash(at+1, hashes)
		if err != nil {
			return err
		}
		growth, err := tlog.ProveTree(tree.N, at+1, hashes)
		if err != nil {
			return fmt.Errorf("size %d: %w", at+1, err)
		}
		digests = flat(growth)
		if err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(at+1), uint64(tree.N), digests, old[:], tree.Hash[:]); err != nil {
			return fmt.Errorf("size %d: %w", at+1, err)
		}
	}
	return nil
}

// extends checks that checkpoints are of the log's beginnings: with the tree hashes of x/mod, and with proofs of tessera's client.
func extends(s source, vkey string, paths []string) error {
	_, tree, err := s.checkpoint(vkey)
	if err != nil {
		return err
	}
	hashes := tlog.TileHashReader(tree, s)
	for _, path := range paths {
		old, err := open(read(path), vkey)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if old.N > tree.N {
			return fmt.Errorf("%s: %d entries, and the log has %d", path, old.N, tree.N)
		}
		root, err := tlog.TreeHash(old.N, hashes)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if root != old.Hash {
			return fmt.Errorf("%s: contradicts the log: of its first %d entries, the root is %s, not %s", path, old.N, root, old.Hash)
		}
		if old.N == 0 || old.N == tree.N {
			continue
		}
		builder, err := client.NewProofBuilder(context.Background(), uint64(tree.N), s.ReadTile)
		if err != nil {
			return err
		}
		digests, err := builder.ConsistencyProof(context.Background(), uint64(old.N), uint64(tree.N))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(old.N), uint64(tree.N), digests, old.Hash[:], tree.Hash[:]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// consistency prints the digests that prove that the log of `old` entries is a beginning of the one of `size`.
func consistency(s source, old, size int64) error {
	_, tree, err := s.checkpoint("")
	if err != nil {
		return err
	}
	digests, err := tlog.ProveTree(size, old, tlog.TileHashReader(tree, s))
	for _, digest := range digests {
		fmt.Println(base64.StdEncoding.EncodeToString(digest[:]))
	}
	return err
}

// leafHashes returns the leaf hashes of a bundle, as tessera's fsck wants them.
func leafHashes(bundle []byte) (hashes [][]byte, err error) {
	var entries api.EntryBundle
	if err := entries.UnmarshalText(bundle); err != nil {
		return nil, err
	}
	for _, entry := range entries.Entries {
		hashes = append(hashes, rfc6962.DefaultHasher.HashLeaf(entry))
	}
	return hashes, nil
}

func flat(hashes []tlog.Hash) (digests [][]byte) {
	for _, hash := range hashes {
		digests = append(digests, append([]byte(nil), hash[:]...))
	}
	return digests
}
