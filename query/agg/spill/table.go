package spill

import (
	"bufio"
	"encoding/binary"
	"io"
	"sort"
)

// Table is a list of pairs of a hash and a number in a temporary file, in which the numbers of
// a hash are found. Pairs are added in order of their hashes; it keeps in memory one hash of
// each block of the file. Its zero value is ready; it belongs to one goroutine.
type Table struct {
	Dir   string // the directory of the file, "": the system's
	store Store
	w     *bufio.Writer
	n     int      // pairs
	first []uint64 // hashes of the blocks
	block []byte   // the block that was read last
	at    int      // the number of that block, plus 1; 0: none
}

const (
	pairSize   = 16
	blockPairs = 256
)

// Add appends a pair. Its hash must not be less than that of the pair before.
func (t *Table) Add(hash, number uint64) error {
	if t.w == nil {
		t.store.Dir = t.Dir
		if err := t.store.open(); err != nil {
			return err
		}
		t.w = bufio.NewWriterSize(t.store.file, bufferSize)
	}
	if t.n%blockPairs == 0 {
		t.first = append(t.first, hash)
	}
	t.n++
	var pair [pairSize]byte
	binary.BigEndian.PutUint64(pair[:], hash)
	binary.BigEndian.PutUint64(pair[8:], number)
	_, err := t.w.Write(pair[:])
	return err
}

// Size is the number of bytes.
func (t *Table) Size() int64 { return int64(t.n) * pairSize }

// Flush makes the pairs that were added ready to be found.
func (t *Table) Flush() error {
	if t.w == nil {
		return nil
	}
	return t.w.Flush()
}

// Find appends the numbers of a hash, in the order in which they were added.
func (t *Table) Find(dst []uint64, hash uint64) ([]uint64, error) {
	// They may begin in the block before the first one that begins with the hash.
	i := sort.Search(len(t.first), func(i int) bool { return t.first[i] >= hash })
	for i = max(0, i-1); i < len(t.first) && t.first[i] <= hash; i++ {
		if err := t.read(i); err != nil {
			return dst, err
		}
		n := len(t.block) / pairSize
		k := sort.Search(n, func(k int) bool { return t.hash(k) >= hash })
		for ; k < n && t.hash(k) == hash; k++ {
			dst = append(dst, binary.BigEndian.Uint64(t.block[k*pairSize+8:]))
		}
	}
	return dst, nil
}

// hash is that of pair k of the block.
func (t *Table) hash(k int) uint64 { return binary.BigEndian.Uint64(t.block[k*pairSize:]) }

// read reads block i.
func (t *Table) read(i int) error {
	if t.at == i+1 {
		return nil
	}
	if t.block == nil {
		t.block = make([]byte, 0, blockPairs*pairSize)
	}
	t.block, t.at = t.block[:min(blockPairs, t.n-i*blockPairs)*pairSize], 0
	if _, err := io.ReadFull(io.NewSectionReader(t.store.file, int64(i)*blockPairs*pairSize, int64(len(t.block))), t.block); err != nil {
		return err
	}
	t.at = i + 1
	return nil
}

// Close removes the file. It may be called more than once.
func (t *Table) Close() error { return t.store.Close() }
