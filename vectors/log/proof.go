package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// prove prints a proof file of an entry (c2sp.org/tlog-proof).
func prove(s source, index int64) error {
	signed, tree, err := s.checkpoint("")
	if err != nil {
		return err
	}
	digests, err := tlog.ProveRecord(tree.N, index, tlog.TileHashReader(tree, s))
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(torchwood.FormatProof(index, digests, signed))
	return err
}

// check checks a proof file with the policy and the entry in other files.
func check(path, policyPath, entryPath string) error {
	policy, err := torchwood.ParsePolicy(read(policyPath))
	if err != nil {
		return err
	}
	return torchwood.VerifyProof(policy, tlog.RecordHash(read(entryPath)), read(path))
}

// newWitness returns a witness whose secret of 32 bytes is in a file, which it writes if it is not there, and the text of its public key.
// The key of a name that begins with "mldsa" is one of ML-DSA-44, others are of Ed25519.
func newWitness(name, path string) (note.Signer, string, error) {
	seed, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		seed = make([]byte, ed25519.SeedSize)
		rand.Read(seed)
		err = os.WriteFile(path, seed, 0o600)
	}
	if err != nil {
		return nil, "", err
	}
	if strings.HasPrefix(name, "mldsa") {
		signer, err := newMLDSAWitness(name, seed)
		if err != nil {
			return nil, "", err
		}
		return signer, signer.String(), nil
	}
	signer, err := torchwood.NewCosignatureSigner(name, ed25519.NewKeyFromSeed(seed))
	if err != nil {
		return nil, "", err
	}
	return signer, signer.Verifier().String(), nil
}

func witness(name, path string) error {
	_, key, err := newWitness(name, path)
	if err != nil {
		return err
	}
	fmt.Println(key)
	return nil
}

// cosign prints a checkpoint with a witness's signature beside those that it has.
func cosign(name, path, checkpoint string) error {
	signer, _, err := newWitness(name, path)
	if err != nil {
		return err
	}
	signed := read(checkpoint)
	_, err = note.Open(signed, note.VerifierList())
	unverified, ok := err.(*note.UnverifiedNoteError)
	if !ok {
		return fmt.Errorf("not a note: %w", err)
	}
	cosigned, err := note.Sign(unverified.Note, signer)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(cosigned)
	return err
}
