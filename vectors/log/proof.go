package main

import (
	"crypto/ed25519"
	"fmt"
	"os"

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

// newWitness returns a witness whose secret is in a file, which it writes if it is not there.
func newWitness(name, path string) (*torchwood.CosignatureSigner, error) {
	seed, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			return nil, err
		}
		seed = key.Seed()
		if err := os.WriteFile(path, seed, 0o600); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	return torchwood.NewCosignatureSigner(name, ed25519.NewKeyFromSeed(seed))
}

func witness(name, path string) error {
	signer, err := newWitness(name, path)
	if err != nil {
		return err
	}
	fmt.Println(signer.Verifier())
	return nil
}

// cosign prints a checkpoint with a witness's signature beside those that it has.
func cosign(name, path, checkpoint string) error {
	signer, err := newWitness(name, path)
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
