package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// serveWitness is a witness of one log on 127.0.0.1 (c2sp.org/tlog-witness): it prints its URL, cosigns what extends the tree that it
// cosigned last, and forgets that when it ends.
func serveWitness(name, path, vkey string) error {
	signer, _, err := newWitness(name, path)
	if err != nil {
		return err
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var lock sync.Mutex
	var seen tlog.Tree
	fmt.Printf("http://%s\n", listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/add-checkpoint" {
			http.Error(w, "expected POST /add-checkpoint", http.StatusBadRequest)
			return
		}
		old, proof, signed, err := parseRequest(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		origin, _, _ := strings.Cut(string(signed), "\n")
		opened, err := note.Open(signed, note.VerifierList(verifier))
		switch {
		case origin != verifier.Name():
			http.Error(w, "unknown log", http.StatusNotFound)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		checkpoint, err := torchwood.ParseCheckpoint(opened.Text)
		switch {
		case err != nil || checkpoint.N < old:
			http.Error(w, fmt.Sprintf("no checkpoint, or it is older than the old one: %v", err), http.StatusBadRequest)
			return
		case old != seen.N:
			w.Header().Set("Content-Type", "text/x.tlog.size")
			w.WriteHeader(http.StatusConflict)
			fmt.Fprintln(w, seen.N)
			return
		case old > 0:
			if err := tlog.CheckTree(proof, checkpoint.N, checkpoint.Hash, seen.N, seen.Hash); err != nil {
				http.Error(w, err.Error(), http.StatusUnprocessableEntity)
				return
			}
		case len(proof) > 0:
			http.Error(w, "a proof since nothing", http.StatusUnprocessableEntity)
			return
		}
		cosigned, err := note.Sign(&note.Note{Text: opened.Text}, signer)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		seen = checkpoint.Tree
		w.Write(cosigned[len(opened.Text)+1:])
	}))
}

// parseRequest returns the size of the older tree, the proof since then, and the signed checkpoint.
func parseRequest(body []byte) (old int64, proof tlog.TreeProof, signed []byte, err error) {
	head, signed, ok := bytes.Cut(body, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	size, isOld := strings.CutPrefix(lines[0], "old ")
	if old, err = strconv.ParseInt(size, 10, 64); err != nil || !ok || !isOld || len(lines) > 64 {
		return 0, nil, nil, errors.New("expected 'old N', hashes, an empty line and a checkpoint")
	}
	for _, line := range lines[1:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return 0, nil, nil, err
		}
		proof = append(proof, hash)
	}
	return old, proof, signed, nil
}
