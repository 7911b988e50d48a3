//go:build !purego

package merkle

import "encoding/binary"

// pairState is two SHA-256 states in the order that the instructions want: f e b a, h g d c of the first message, then of
// the second.
type pairState [16]uint32

// initial is the state before the first block (FIPS 180-4, 5.3.3).
var initial = pairState{
	0x9b05688c, 0x510e527f, 0xbb67ae85, 0x6a09e667, 0x5be0cd19, 0x1f83d9ab, 0xa54ff53a, 0x3c6ef372,
	0x9b05688c, 0x510e527f, 0xbb67ae85, 0x6a09e667, 0x5be0cd19, 0x1f83d9ab, 0xa54ff53a, 0x3c6ef372,
}

// blocks hashes the next count blocks of both messages, 64 bytes each.
//
//go:noescape
func blocks(state *pairState, first, second *byte, count int)

// after64 hashes the block that follows every message of exactly 64 bytes: padding that is always the same, so that
// nothing of its schedule is left to compute.
//
//go:noescape
func after64(state *pairState)

// cpuHasSHA reports whether the processor has SHA, SSSE3 and SSE4.1.
func cpuHasSHA() bool

var hasPairs = cpuHasSHA()

// newPair returns the state before the first block of two messages that come in pieces.
func newPair() *pairState {
	state := initial
	return &state
}

// blocks hashes the next whole blocks of both messages.
func (s *pairState) blocks(first, second []byte) {
	if len(first) > 0 {
		blocks(s, &first[0], &second[0], len(first)/blockSize)
	}
}

// finish hashes the last bytes of both messages, fewer than a block of each, and writes their digests; size is the length
// of a whole message.
func (s *pairState) finish(first, second []byte, size uint64, digests []byte) {
	var ends [2][2 * blockSize]byte
	end := blockSize
	if len(first)+9 > blockSize {
		end = 2 * blockSize
	}
	copy(ends[0][:], first)
	copy(ends[1][:], second)
	for m := range ends {
		pad(ends[m][:end], len(first), size)
	}
	s.blocks(ends[0][:end], ends[1][:end])
	s.put(digests)
}

// put writes both digests.
func (s *pairState) put(digests []byte) {
	digests = digests[:64]
	for m, at := 0, 0; m < 16; m, at = m+8, at+32 {
		binary.BigEndian.PutUint32(digests[at:], s[m+3])
		binary.BigEndian.PutUint32(digests[at+4:], s[m+2])
		binary.BigEndian.PutUint32(digests[at+8:], s[m+7])
		binary.BigEndian.PutUint32(digests[at+12:], s[m+6])
		binary.BigEndian.PutUint32(digests[at+16:], s[m+1])
		binary.BigEndian.PutUint32(digests[at+20:], s[m])
		binary.BigEndian.PutUint32(digests[at+24:], s[m+5])
		binary.BigEndian.PutUint32(digests[at+28:], s[m+4])
	}
}

// inPairs returns a manyFunc for SHA-256 that hashes two messages at a time, since one alone leaves half of the
// processor's SHA unit idle; one is for the last of an odd number.
func inPairs(one manyFunc) manyFunc {
	return func(prefix, messages []byte, size, count int, digests []byte) {
		pairs := count / 2
		if size == blockSize && len(prefix) == 0 {
			pairsOf64(messages, pairs, digests)
		} else if len(prefix)+size+9 <= blockSize {
			pairsOfOneBlock(prefix, messages, size, pairs, digests)
		} else {
			pairsOfAny(prefix, messages, size, pairs, digests)
		}
		if count%2 == 1 {
			done := 2 * pairs
			one(prefix, messages[done*size:], size, 1, digests[done*32:])
		}
	}
}

// pairsOf64 is for plain nodes, and leaves of 64 bytes.
func pairsOf64(messages []byte, pairs int, digests []byte) {
	for i := 0; i < pairs; i++ {
		pair, state := messages[i*128:i*128+128], initial
		blocks(&state, &pair[0], &pair[64], 1)
		after64(&state)
		state.put(digests[i*64:])
	}
}

// pad writes the padding after the first at bytes of the blocks that end a message of size bytes.
func pad(end []byte, at int, size uint64) {
	end[at] = 0x80
	binary.BigEndian.PutUint64(end[len(end)-8:], size*8)
}

// pairsOfOneBlock is for messages that fit into one block with their padding.
func pairsOfOneBlock(prefix, messages []byte, size, pairs int, digests []byte) {
	var ends [2][blockSize]byte
	for m := range ends {
		at := copy(ends[m][:], prefix)
		pad(ends[m][:], at+size, uint64(at+size))
	}
	first, second := ends[0][len(prefix):][:size], ends[1][len(prefix):][:size]
	for i := 0; i < pairs; i++ {
		pair, state := messages[2*i*size:2*(i+1)*size], initial
		copy(first, pair)
		copy(second, pair[size:])
		blocks(&state, &ends[0][0], &ends[1][0], 1)
		state.put(digests[i*64:])
	}
}

// pairsOfAny is for all messages: a first block where there is a prefix, blocks straight from the message, and one or two
// blocks with the rest and the padding.
func pairsOfAny(prefix, messages []byte, size, pairs int, digests []byte) {
	total := len(prefix) + size
	// Bytes of the message in the first block; in the blocks that lie as they are; in the last ones.
	head := 0
	if len(prefix) > 0 && total >= blockSize {
		head = blockSize - len(prefix)
	}
	before := 0 // of the prefix in the last blocks, when the message is short
	if head == 0 {
		before = len(prefix)
	}
	whole := (size - head) / blockSize
	if before > 0 {
		whole = 0
	}
	rest := size - head - whole*blockSize
	end := blockSize
	if before+rest+9 > blockSize {
		end = 2 * blockSize
	}
	var heads [2][blockSize]byte
	var ends [2][2 * blockSize]byte
	for m := range ends {
		copy(heads[m][:], prefix)
		copy(ends[m][:before], prefix)
		pad(ends[m][:end], before+rest, uint64(total))
	}
	for i := 0; i < pairs; i++ {
		first, second := messages[2*i*size:(2*i+1)*size], messages[(2*i+1)*size:(2*i+2)*size]
		state := initial
		if head > 0 {
			copy(heads[0][len(prefix):], first)
			copy(heads[1][len(prefix):], second)
			blocks(&state, &heads[0][0], &heads[1][0], 1)
			first, second = first[head:], second[head:]
		}
		if whole > 0 {
			blocks(&state, &first[0], &second[0], whole)
			first, second = first[whole*blockSize:], second[whole*blockSize:]
		}
		copy(ends[0][before:], first)
		copy(ends[1][before:], second)
		blocks(&state, &ends[0][0], &ends[1][0], end/blockSize)
		state.put(digests[i*64:])
	}
}
