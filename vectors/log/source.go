package main

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/torchwood"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// source is a log in a folder or on a web server. It implements tlog.TileReader with tessera's fetchers.
type source struct {
	fsck.Fetcher
}

func newSource(place string) source {
	if !strings.Contains(place, "://") {
		return source{client.FileFetcher{Root: place}}
	}
	root, err := url.Parse(strings.TrimSuffix(place, "/") + "/")
	if err != nil {
		panic(err)
	}
	fetcher, err := client.NewHTTPFetcher(root, &http.Client{Timeout: 20 * time.Second})
	if err != nil {
		panic(err)
	}
	return source{fetcher}
}

func (s source) Height() int { return torchwood.TileHeight }

func (s source) SaveTiles([]tlog.Tile, [][]byte) {}

// ReadTiles returns the hashes of tiles, cut to the widths that are asked for.
func (s source) ReadTiles(tiles []tlog.Tile) (all [][]byte, err error) {
	for _, tile := range tiles {
		// 0 stands for the whole tile.
		data, err := s.ReadTile(context.Background(), uint64(tile.L), uint64(tile.N), uint8(tile.W%torchwood.TileWidth))
		if err != nil {
			return nil, err
		}
		if wanted := tile.W * tlog.HashSize; len(data) > wanted {
			data = data[:wanted]
		}
		all = append(all, data)
	}
	return all, nil
}

// bundle returns the entries with the indices of a bundle that are below size.
func (s source) bundle(index, size int64) (entries [][]byte, err error) {
	width := min(size-index*torchwood.TileWidth, torchwood.TileWidth)
	data, err := s.ReadEntryBundle(context.Background(), uint64(index), uint8(width%torchwood.TileWidth))
	for err == nil && int64(len(entries)) < width {
		var one []byte
		one, data, err = torchwood.ReadTileEntry(data)
		entries = append(entries, one)
	}
	return entries, err
}

// checkpoint returns the log's signed note and its tree, whose signature it verifies if a key is given.
func (s source) checkpoint(vkey string) (signed []byte, tree tlog.Tree, err error) {
	if signed, err = s.ReadCheckpoint(context.Background()); err != nil {
		return nil, tree, err
	}
	tree, err = open(signed, vkey)
	return signed, tree, err
}

// open returns the tree of a signed note, whose signature and origin it verifies if a key is given.
func open(signed []byte, vkey string) (tree tlog.Tree, err error) {
	text := string(signed)
	if vkey == "" {
		// The note's text ends before the empty line.
		before, _, _ := strings.Cut(text, "\n\n")
		text = before + "\n"
	} else {
		verifier, err := note.NewVerifier(vkey)
		if err != nil {
			return tree, err
		}
		policy := torchwood.ThresholdPolicy(2, torchwood.OriginPolicy(verifier.Name()), torchwood.SingleVerifierPolicy(verifier))
		_, opened, err := torchwood.VerifyCheckpoint(signed, policy)
		if err != nil {
			return tree, err
		}
		text = opened.Text
	}
	parsed, err := torchwood.ParseCheckpoint(text)
	return parsed.Tree, err
}

func read(path string) []byte {
	bytes, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return bytes
}

// put writes a file of a log, and the folders that it is in.
func put(folder, path string, bytes []byte) error {
	path = filepath.Join(folder, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, bytes, 0o644)
}
