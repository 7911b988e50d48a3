package merkle

import (
	"crypto"
	"hash"
)

// blockSize is the bytes in a block of SHA-256.
const blockSize = 64

// manyFunc hashes count messages of size bytes that lie one after another, each after the prefix of at most one byte, and
// puts their digests one after another. The digests may lie over the messages, from the first on, when a message is at
// least twice as long as a digest.
type manyFunc func(prefix, messages []byte, size, count int, digests []byte)

// newMany returns the fastest way to hash many messages here. It is for one goroutine: it holds a hash.Hash.
func newMany(h crypto.Hash) manyFunc {
	one := oneByOne(h.New())
	if h == crypto.SHA256 && hasPairs {
		return inPairs(one)
	}
	return one
}

// oneByOne hashes any messages with one hash.Hash.
func oneByOne(h hash.Hash) manyFunc {
	size := h.Size()
	return func(prefix, messages []byte, length, count int, digests []byte) {
		for i := 0; i < count; i++ {
			h.Reset()
			h.Write(prefix)
			h.Write(messages[i*length : (i+1)*length])
			h.Sum(digests[i*size : i*size : (i+1)*size])
		}
	}
}
