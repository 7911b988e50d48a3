// Tessera appends entries of 100 bytes to a log in a folder, with tessera's storage in POSIX files, and prints the seconds from the
// first entry to the checkpoint that covers the last, and those until the last entry has its index and is in the tree:
//
//	tessera FOLDER ENTRIES BATCH
//
// BATCH is the most entries of a batch. As many appenders as a batch has entries add at once, each after its last entry has an index.
package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/storage/posix"
	"golang.org/x/mod/sumdb/note"
	"k8s.io/klog/v2"
)

// The bytes of an entry.
const entrySize = 100

func main() {
	log.SetFlags(0)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if len(os.Args) != 4 {
		log.Fatal("tessera FOLDER ENTRIES BATCH")
	}
	entries, batch := number(os.Args[2]), number(os.Args[3])
	secret, _, err := note.GenerateKey(rand.Reader, "example.com/tessera")
	check(err)
	signer, err := note.NewSigner(secret)
	check(err)
	ctx := context.Background()
	driver, err := posix.New(ctx, posix.Config{Path: os.Args[1]})
	check(err)
	// The shortest interval that tessera has.
	options := tessera.NewAppendOptions().WithCheckpointSigner(signer).WithBatching(uint(batch), 5*time.Millisecond).
		WithCheckpointInterval(100 * time.Millisecond).WithPushback(uint(2*batch + 1))
	appender, shutdown, reader, err := tessera.NewAppender(ctx, driver, options)
	check(err)
	begin := time.Now()
	var adding sync.WaitGroup
	var last tessera.IndexFuture
	for first := range batch {
		adding.Add(1)
		go func() {
			defer adding.Done()
			for at := first; at < entries; at += batch {
				bytes := make([]byte, entrySize)
				binary.BigEndian.PutUint64(bytes, uint64(at))
				future := appender.Add(ctx, tessera.NewEntry(bytes))
				_, err := future()
				check(err)
				if at == entries-1 {
					last = future
				}
			}
		}()
	}
	adding.Wait()
	integrated := time.Since(begin)
	awaiter := tessera.NewPublicationAwaiter(ctx, reader.ReadCheckpoint, time.Millisecond)
	_, _, err = awaiter.Await(ctx, last)
	check(err)
	fmt.Printf("%.6f %.6f\n", time.Since(begin).Seconds(), integrated.Seconds())
	check(shutdown(ctx))
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
