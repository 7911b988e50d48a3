package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// write makes a log and grows it through sizes, in rising order: after each, its tiles, partial ones too, and its checkpoint are there,
// the latter also as checkpoint.SIZE beside the folder. It prints the key that verifies the log.
func write(folder, name string, sizes []int64) error {
	secret, vkey, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return err
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		return err
	}
	var stored []tlog.Hash
	hashes := tlog.HashReaderFunc(func(indices []int64) (found []tlog.Hash, err error) {
		for _, index := range indices {
			found = append(found, stored[index])
		}
		return found, nil
	})
	var old int64
	var bundle []byte
	for _, size := range sizes {
		if size < old {
			return errors.New("the sizes must not fall")
		}
		for at := old; at < size; at++ {
			more, err := tlog.StoredHashes(at, entry(at), hashes)
			if err != nil {
				return err
			}
			stored = append(stored, more...)
			if bundle, err = torchwood.AppendTileEntry(bundle, entry(at)); err != nil {
				return err
			}
			if (at+1)%torchwood.TileWidth == 0 || at+1 == size {
				tile := tlog.Tile{H: torchwood.TileHeight, L: -1, N: at / torchwood.TileWidth, W: int(at%torchwood.TileWidth) + 1}
				if err := put(folder, torchwood.TilePath(tile), bundle); err != nil {
					return err
				}
			}
			if (at+1)%torchwood.TileWidth == 0 {
				bundle = nil
			}
		}
		for _, tile := range tlog.NewTiles(torchwood.TileHeight, old, size) {
			data, err := tlog.ReadTileData(tile, hashes)
			if err != nil {
				return err
			}
			if err := put(folder, torchwood.TilePath(tile), data); err != nil {
				return err
			}
		}
		root, err := tlog.TreeHash(size, hashes)
		if err != nil {
			return err
		}
		text := torchwood.Checkpoint{Origin: name, Tree: tlog.Tree{N: size, Hash: root}}.String()
		signed, err := note.Sign(&note.Note{Text: text}, signer)
		if err != nil {
			return err
		}
		for _, path := range []string{"checkpoint", fmt.Sprintf("../%s.%d", filepath.Base(folder), size)} {
			if err := put(folder, path, signed); err != nil {
				return err
			}
		}
		old = size
	}
	fmt.Fprintln(os.Stdout, vkey)
	return nil
}
