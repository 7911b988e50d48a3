package merkle

import (
	"bytes"
	"crypto"
	_ "crypto/md5"
	_ "crypto/sha1"
	"crypto/sha256"
	_ "crypto/sha512"
	"fmt"
	"hash"
	"io"
	"math/rand"
	"sync"
	"testing"
	"testing/iotest"
)

var formats = []Format{Plain, RFC6962}

// sample returns bytes that do not repeat on a power of two.
func sample(size int) []byte {
	input := make([]byte, size)
	for i := range input {
		input[i] = byte(i*131 + i>>8*17)
	}
	return input
}

// definition is the root as spec/rfc6962.md defines it: split at the largest power of two below the number of leaves.
func definition(h crypto.Hash, format Format, segment int, input []byte) []byte {
	digest := func(prefix []byte, message ...byte) []byte {
		hash := h.New()
		hash.Write(append(append([]byte(nil), prefix...), message...))
		return hash.Sum(nil)
	}
	if len(input) == 0 {
		return digest(nil)
	}
	if len(input) <= segment {
		return digest(format.leafPrefix(), input...)
	}
	left := segment
	for 2*left < len(input) {
		left *= 2
	}
	pair := definition(h, format, segment, input[:left])
	return digest(format.nodePrefix(), append(pair, definition(h, format, segment, input[left:])...)...)
}

// check compares roots.
func check(t *testing.T, got, want []byte, context string, arguments ...any) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: root %x, expected %x", fmt.Sprintf(context, arguments...), got, want)
	}
}

func TestZeros(t *testing.T) {
	tree := New(Plain, 64)
	tree.Write(make([]byte, 1<<22+32))
	if got := fmt.Sprintf("%x", tree.Sum(nil)); got != "e9683665a90bd70aabd7705cba57c2be2a4e913a0ca1a14d765497112c178120" {
		t.Fatal(got)
	}
}

func TestManyAsOneByOne(t *testing.T) {
	input, one := sample(7*300), oneByOne(sha256.New())
	for _, prefix := range [][]byte{nil, {0}, {1}, {255}} {
		for size := 0; size <= 300; size++ {
			for count := 0; count <= 5; count++ {
				want, got := make([]byte, 6*32), make([]byte, 6*32)
				one(prefix, input[1:], size, count, want)
				newMany(crypto.SHA256)(prefix, input[1:], size, count, got)
				check(t, got, want, "prefix %v, %d messages of %d bytes", prefix, count, size)
			}
		}
	}
}

func TestDefinition(t *testing.T) {
	random, input := rand.New(rand.NewSource(1)), sample(15000)
	for _, h := range []crypto.Hash{crypto.SHA256, crypto.MD5, crypto.SHA1, crypto.SHA512, crypto.SHA512_256} {
		for _, format := range formats {
			for i := 0; i < 60; i++ {
				segment := 1 + random.Intn(50)
				size := random.Intn(len(input))
				if i%3 == 0 {
					size -= size % segment
				}
				tree := NewWith(h, format, uint64(segment))
				tree.Write(input[:size])
				want := definition(h, format, segment, input[:size])
				check(t, tree.Sum(nil), want, "%v %v, %d bytes in segments of %d", format, h, size, segment)
			}
		}
	}
}

// Pieces of any size give the root of the whole; roots on the way are right and disturb nothing; Reset is complete.
func TestPieces(t *testing.T) {
	random, input := rand.New(rand.NewSource(2)), sample(12000)
	for _, format := range formats {
		for i := 0; i < 50; i++ {
			segment := 1 + random.Intn(50)
			tree := New(format, uint64(segment))
			tree.Write(input[:random.Intn(len(input))])
			tree.Reset()
			check(t, tree.Sum(nil), definition(crypto.SHA256, format, segment, nil), "after Reset")
			for at, size := 0, random.Intn(len(input)); at < size; {
				piece := 1 + random.Intn(10+i*90)
				if piece > size-at {
					piece = size - at
				}
				if n, err := tree.Write(input[at : at+piece]); n != piece || err != nil {
					t.Fatalf("Write: %d, %v", n, err)
				}
				if at += piece; at == size || random.Intn(50) == 0 {
					want := definition(crypto.SHA256, format, segment, input[:at])
					check(t, tree.Sum(nil), want, "%v, %d bytes in segments of %d", format, at, segment)
					check(t, tree.Sum([]byte("kept"))[4:], want, "Sum appends")
					if leaves := uint64((at + segment - 1) / segment); tree.Leaves() != leaves {
						t.Fatalf("%d leaves, expected %d", tree.Leaves(), leaves)
					}
				}
			}
		}
	}
}

func TestHashInterface(t *testing.T) {
	var tree hash.Hash = NewWith(crypto.SHA1, RFC6962, 1000)
	if tree.Size() != 20 || tree.BlockSize() != 1000 {
		t.Errorf("size %d, block size %d", tree.Size(), tree.BlockSize())
	}
	if size := New(Plain, 1<<40).BlockSize(); size != 1<<30 {
		t.Errorf("block size %d of segments of 1 TiB", size)
	}
	input := sample(54321)
	if _, err := io.Copy(tree, iotest.HalfReader(bytes.NewReader(input))); err != nil {
		t.Fatal(err)
	}
	check(t, tree.Sum(nil), definition(crypto.SHA1, RFC6962, 1000, input), "io.Copy")
}

// What only reads a tree may be called from several goroutines; go test -race sees what they share.
func TestConcurrentReaders(t *testing.T) {
	input := sample(64*700 + 10)
	for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA512, crypto.MD5} {
		for _, format := range formats {
			prover := NewProverWith(h, format, 64, 600)
			prover.Write(input)
			want := definition(h, format, 64, input)
			var group sync.WaitGroup
			for i := 0; i < 8; i++ {
				group.Add(1)
				go func() {
					defer group.Done()
					for i := 0; i < 20; i++ {
						if got := prover.Sum(nil); !bytes.Equal(got, want) {
							t.Errorf("%v %v: root %x, expected %x", format, h, got, want)
						}
						proof, err := prover.Proof()
						if err == nil {
							err = VerifyWith(h, format, 64, want, proof, leafAt(input, 64, 600))
						}
						if err != nil {
							t.Errorf("%v %v: %v", format, h, err)
						}
						if clone, err := prover.Clone(); err != nil || clone.Leaves() != 701 {
							t.Errorf("%v %v: %v", format, h, err)
						}
					}
				}()
			}
			group.Wait()
		}
	}
}

// A clone and its original go on apart, whatever was shared between them.
func TestClone(t *testing.T) {
	random, input := rand.New(rand.NewSource(4)), sample(14000)
	for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA512, crypto.MD5, crypto.SHA1} {
		for i := 0; i < 30; i++ {
			segment, cut := 1+random.Intn(30), random.Intn(9000)
			index := random.Intn(cut/segment + 1)
			original := NewProverWith(h, RFC6962, uint64(segment), uint64(index))
			original.Write(input[:cut])
			clone, err := original.Clone()
			if err != nil {
				t.Fatal(err)
			}
			original.Write(input[cut : cut+5000])
			clone.Write(input[9000:])
			other := append(append([]byte(nil), input[:cut]...), input[9000:]...)
			for _, one := range []struct {
				prover Prover
				bytes  []byte
			}{{original, input[:cut+5000]}, {clone, other}} {
				root := definition(h, RFC6962, segment, one.bytes)
				check(t, one.prover.Sum(nil), root, "%v, cut at %d of segments of %d", h, cut, segment)
				proof, err := one.prover.Proof()
				if err == nil {
					err = VerifyWith(h, RFC6962, uint64(segment), root, proof, leafAt(one.bytes, segment, index))
				}
				if err != nil {
					t.Fatalf("%v, leaf %d of segments of %d: %v", h, index, segment, err)
				}
			}
		}
	}
}

type failingReaderAt struct {
	io.ReaderAt
	reads, failsAt int
}

func (r *failingReaderAt) ReadAt(p []byte, offset int64) (int, error) {
	if r.reads++; r.reads == r.failsAt {
		return len(p) / 2, io.ErrClosedPipe
	}
	return r.ReaderAt.ReadAt(p, offset)
}

func TestAppendFrom(t *testing.T) {
	random, input := rand.New(rand.NewSource(5)), sample(900_000)
	for i := 0; i < 60; i++ {
		for _, format := range formats {
			segment := uint64(1 + random.Intn(200_000))
			if i%4 == 0 {
				segment = 65_536 + uint64(random.Intn(3)) // just above and below what is read two at a time
			}
			before, size := random.Intn(1000)*(i%2), random.Intn(800_000)
			tree := New(format, segment)
			tree.Write(input[:before])
			if err := tree.AppendFrom(bytes.NewReader(input), int64(before), int64(size)); err != nil {
				t.Fatal(err)
			}
			want := definition(crypto.SHA256, format, int(segment), input[:before+size])
			check(t, tree.Sum(nil), want, "%v, %d and %d bytes in segments of %d", format, before, size, segment)

			counting := &failingReaderAt{ReaderAt: bytes.NewReader(input)}
			New(format, segment).AppendFrom(counting, 0, int64(size))
			failing := &failingReaderAt{ReaderAt: bytes.NewReader(input), failsAt: 1 + random.Intn(counting.reads+1)}
			err := New(format, segment).AppendFrom(failing, 0, int64(size))
			if expected := failing.failsAt <= counting.reads; expected != (err == io.ErrClosedPipe) {
				t.Fatalf("a read that fails: %v", err)
			}
		}
	}
	if err := New(Plain, 100_000).AppendFrom(bytes.NewReader(input), 0, 900_001); err != io.ErrUnexpectedEOF {
		t.Errorf("a source that ends too soon: %v", err)
	}
	if err := New(Plain, 100_000).AppendFrom(bytes.NewReader(input), -1, 1); err == nil {
		t.Error("a negative offset")
	}
}

// The length in bits of a message of more than 2^29 bytes; the digest is that of a SHA-256 in Python that takes the length as
// an argument. (A leaf in pieces is crypto/sha256's, which has its own tests.)
func TestMoreThan2To32Bits(t *testing.T) {
	if !hasPairs {
		t.Log("nothing to test: all messages are crypto/sha256's")
		return
	}
	digests := make([]byte, 64)
	newPair().finish([]byte("abc"), []byte("abc"), 0x5c0000043, digests)
	for _, digest := range [][]byte{digests[:32], digests[32:]} {
		if got := fmt.Sprintf("%x", digest); got != "6f4b2092600157b7435334d871afe0d90babaf5074a983495c504ad38b11e869" {
			t.Fatal(got)
		}
	}
}

func TestPanics(t *testing.T) {
	for name, call := range map[string]func(){
		"segment 0": func() { New(Plain, 0) },
		"segment":   func() { New(Plain, MaxSegment+1) },
		"format":    func() { New(Format(2), 64) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}

// perfect returns the root of 2^level leaves of one zero byte.
func perfect(format Format, level int) []byte {
	digest := definition(crypto.SHA256, format, 1, []byte{0})
	for ; level > 0; level-- {
		digest = node(format, digest, digest)
	}
	return digest
}

func node(format Format, left, right []byte) []byte {
	h := sha256.New()
	h.Write(format.nodePrefix())
	h.Write(left)
	h.Write(right)
	return h.Sum(nil)
}

// A tree just below 2^32 equal leaves is put together by hand, and more leaves come.
func TestPastFourBillionLeaves(t *testing.T) {
	for _, format := range formats {
		tree := NewProver(format, 1, 1<<32)
		tree.joined = 1<<32 - batchSize
		for level := batchLevel; level < 32; level++ {
			tree.frontier[level] = perfect(format, level)
		}
		tree.Write(make([]byte, batchSize-1))
		tree.Write(make([]byte, 1))
		check(t, tree.Sum(nil), perfect(format, 32), "2^32 leaves")
		if _, err := tree.Proof(); err == nil {
			t.Fatal("a proof for a leaf that is not there")
		}
		for more := 1; more <= 3; more++ {
			tree.Write(make([]byte, 1))
			right := definition(crypto.SHA256, format, 1, make([]byte, more))
			check(t, tree.Sum(nil), node(format, perfect(format, 32), right), "2^32 + %d leaves", more)
			proof, err := tree.Proof()
			if err != nil || proof.Leaves != 1<<32+uint64(more) {
				t.Fatal(proof, err)
			}
			if err := Verify(format, 1, tree.Sum(nil), proof, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func prove(t *testing.T, h crypto.Hash, format Format, segment, index int, input []byte) Proof {
	t.Helper()
	prover := NewProverWith(h, format, uint64(segment), uint64(index))
	prover.Write(input)
	prover.Reset()
	prover.Write(input[:len(input)/3])
	prover.Proof() // on the way: disturbs nothing
	prover.Write(input[len(input)/3:])
	proof, err := prover.Proof()
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

func leafAt(input []byte, segment, index int) []byte {
	if end := (index + 1) * segment; end < len(input) {
		return input[index*segment : end]
	}
	return input[index*segment:]
}

func TestEveryProofAndNoOther(t *testing.T) {
	const segment = 3
	for _, format := range formats {
		for leaves := 1; leaves <= 35; leaves++ {
			input := sample(leaves*segment - 1)
			root := definition(crypto.SHA256, format, segment, input)
			for index := 0; index < leaves; index++ {
				proof, leaf := prove(t, crypto.SHA256, format, segment, index, input), leafAt(input, segment, index)
				holds := func(proof Proof, leaf []byte) bool { return Verify(format, segment, root, proof, leaf) == nil }
				if !holds(proof, leaf) {
					t.Fatalf("%v: leaf %d of %d: no proof", format, index, leaves)
				}
				if holds(proof, nil) || holds(proof, leaf[1:]) || holds(proof, append(leaf[:1:1], leaf...)) {
					t.Fatalf("%v: leaf %d of %d: another leaf has the proof", format, index, leaves)
				}
				for at := range proof.Path {
					proof.Path[at][at%32] ^= 1
					if holds(proof, leaf) {
						t.Fatalf("%v: leaf %d of %d: a flipped bit is not noticed", format, index, leaves)
					}
					proof.Path[at][at%32] ^= 1
				}
				longer, shorter := proof, proof
				longer.Path = append(append([][]byte(nil), proof.Path...), root)
				if holds(longer, leaf) {
					t.Fatal("a longer path holds")
				}
				if len(proof.Path) > 0 {
					if shorter.Path = proof.Path[1:]; holds(shorter, leaf) {
						t.Fatal("a shorter path holds")
					}
				}
				for other := 0; other <= leaves; other++ {
					elsewhere := proof
					elsewhere.Index = uint64(other)
					if holds(elsewhere, leaf) != (other == index) {
						t.Fatalf("%v: leaf %d of %d is taken for leaf %d", format, index, leaves, other)
					}
				}
			}
		}
	}
}

func TestProofsOfLargeTrees(t *testing.T) {
	random, input := rand.New(rand.NewSource(3)), sample(12000)
	for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA384} {
		for _, format := range formats {
			for i := 0; i < 25; i++ {
				segment, size := 1+random.Intn(30), 1+random.Intn(len(input))
				index := random.Intn((size + segment - 1) / segment)
				proof := prove(t, h, format, segment, index, input[:size])
				root := definition(h, format, segment, input[:size])
				if err := VerifyWith(h, format, uint64(segment), root, proof, leafAt(input[:size], segment, index)); err != nil {
					t.Fatalf("%v %v: leaf %d of %d: %v", format, h, index, proof.Leaves, err)
				}
			}
		}
	}
}

// What spec/plain.md warns of: the two digests below a root are a leaf of a tree of one leaf with the same root.
func TestForgeryInPlainOnly(t *testing.T) {
	for _, format := range formats {
		input := sample(128)
		digests := append(definition(crypto.SHA256, format, 64, input[:64]), definition(crypto.SHA256, format, 64, input[64:])...)
		err := Verify(format, 64, definition(crypto.SHA256, format, 64, input), Proof{Index: 0, Leaves: 1}, digests)
		if forged := err == nil; forged != (format == Plain) {
			t.Errorf("%v: %v", format, err)
		}
	}
}

func FuzzPiecesAndProofs(f *testing.F) {
	f.Add(false, uint8(63), uint16(3), uint8(7), sample(1000))
	f.Add(true, uint8(0), uint16(0), uint8(0), []byte{})
	f.Fuzz(func(t *testing.T, prefixed bool, short uint8, index uint16, step uint8, input []byte) {
		format, segment, piece := Plain, int(short)+1, int(step)+1
		if prefixed {
			format = RFC6962
		}
		prover := NewProver(format, uint64(segment), uint64(index))
		for at := 0; at < len(input); at += piece {
			end := at + piece
			if end > len(input) {
				end = len(input)
			}
			prover.Write(input[at:end])
		}
		root := definition(crypto.SHA256, format, segment, input)
		check(t, prover.Sum(nil), root, "%v, %d bytes in segments of %d", format, len(input), segment)
		proof, err := prover.Proof()
		if inside := uint64(index) < prover.Leaves(); inside != (err == nil) {
			t.Fatal(err)
		}
		if err == nil {
			if err := Verify(format, uint64(segment), root, proof, leafAt(input, segment, int(index))); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkTree(b *testing.B) {
	input := sample(1 << 20)
	for _, segment := range []uint64{16, 64, 256, 1024, 4096, 1 << 20} {
		b.Run(fmt.Sprint(segment), func(b *testing.B) {
			tree := New(Plain, segment)
			b.SetBytes(int64(len(input)))
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				tree.Write(input)
			}
		})
	}
}
