package merkle

import (
	"crypto"
	"errors"
	"io"
)

// pieceSize is how many bytes of each of two leaves are read at once.
const pieceSize = 1 << 16

// AppendFrom appends the size bytes at offset of r. Leaves of more than 64 KiB are read and hashed two at a time, which takes
// less time than Write where the processor has SHA instructions and the hash is SHA-256.
//
// It returns [io.ErrUnexpectedEOF] if r ends before. After an error the tree is to be Reset.
func (t *Tree) AppendFrom(r io.ReaderAt, offset, size int64) error {
	if offset < 0 || size < 0 {
		return errors.New("merkle: AppendFrom: negative offset or size")
	}
	// One buffer for both: a piece of each leaf, after a block of room for what is left from the piece before. So a piece begins at
	// a multiple of 64: into other places, some processors copy at a third of the speed.
	buffer := make([]byte, 2*(blockSize+pieceSize))
	first, second := buffer[:blockSize+pieceSize], buffer[blockSize+pieceSize:]
	for size > 0 {
		segment := int64(t.segment)
		if hasPairs && t.hash == crypto.SHA256 && t.filled == 0 && segment > pieceSize && size/2 >= segment {
			var digests [64]byte
			if err := t.twoLeaves(r, offset, first, second, digests[:]); err != nil {
				return err
			}
			for _, digest := range [][]byte{digests[:32], digests[32:]} {
				copy(t.batch[t.waiting*t.size:], digest)
				t.pushed(1)
			}
			offset, size = offset+2*segment, size-2*segment
			continue
		}
		// Up to the end of a leaf that has begun; else whole leaves, so that none is put together from two reads.
		most := int64(len(buffer))
		if rest := segment - int64(t.filled); t.filled > 0 && rest < most {
			most = rest
		} else if t.filled == 0 && segment < most {
			most -= most % segment
		}
		if size < most {
			most = size
		}
		if err := readAt(r, buffer[:most], offset); err != nil {
			return err
		}
		t.Write(buffer[:most])
		offset, size = offset+most, size-most
	}
	return nil
}

// twoLeaves hashes the leaf at offset and the one after it side by side, through two buffers.
func (t *Tree) twoLeaves(r io.ReaderAt, offset int64, first, second, digests []byte) error {
	segment, prefix := int64(t.segment), t.format.leafPrefix()
	hashed := newPair()
	begin := blockSize - len(prefix) // where the bytes begin that are not hashed yet
	copy(first[begin:], prefix)
	copy(second[begin:], prefix)
	for at := int64(0); at < segment; {
		size := int64(pieceSize)
		if size > segment-at {
			size = segment - at
		}
		end := blockSize + int(size)
		if err := readAt(r, first[blockSize:end], offset+at); err != nil {
			return err
		}
		if err := readAt(r, second[blockSize:end], offset+segment+at); err != nil {
			return err
		}
		rest := end - (end-begin)%blockSize
		hashed.blocks(first[begin:rest], second[begin:rest])
		begin = blockSize - (end - rest)
		copy(first[begin:], first[rest:end])
		copy(second[begin:], second[rest:end])
		at += size
	}
	hashed.finish(first[begin:blockSize], second[begin:blockSize], uint64(len(prefix))+t.segment, digests)
	return nil
}

// readAt fills p.
func readAt(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
