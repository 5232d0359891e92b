package pebble

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// Logs and manifests consist of blocks, and these of chunks: a checksum, the
// length, a kind, in a log its number, and the data. A record is one chunk, or a first
// one, any number of middle ones and a last one.
const (
	blockBytes     = 32 << 10
	manifestHeader = 7
	logHeader      = manifestHeader + 4
)

// The kinds of chunks, and the rest of a block that has no room for one.
const (
	fullChunk = iota
	firstChunk
	middleChunk
	lastChunk
	filler
)

// The first kind in manifests and in logs.
const (
	manifestKind = 1
	logKind      = 5
)

// headBytes is how much of a record readers see.
const headBytes = 128

// records is what a file has from its beginning.
type records struct {
	end    int  // where the last whole record ends
	at     int  // where the last whole chunk ends
	closed bool // the mark of a log that was closed follows
}

// readRecords calls fn with the beginning of each whole record. log is the number of the
// log, whose file may have the rest of an earlier one behind its own; 0: a manifest.
func readRecords(b []byte, log uint32, fn func(head []byte)) (r records) {
	head, open := make([]byte, 0, headBytes), false
	for r.at < len(b) {
		c, whole := readChunk(b, r.at, log)
		if !whole {
			break
		}
		r.at = c.end
		switch c.kind {
		case filler:
			continue
		case fullChunk, firstChunk:
			head, open = head[:0], true
		}
		head = append(head, c.data[:min(len(c.data), headBytes-len(head))]...)
		if open && (c.kind == fullChunk || c.kind == lastChunk) {
			open, r.end = false, c.end
			fn(head)
		}
	}
	r.closed = isTrailer(b, r.at, log)
	return r
}

// isTrailer reports whether a log was closed at a place: there is the header of a chunk without
// data and checksum, and with the number of the next log. Pebble does not look at the
// checksum, and takes a chunk whose number is damaged for the end.
func isTrailer(b []byte, at int, log uint32) bool {
	if log == 0 || at+logHeader > len(b) || blockBytes-at%blockBytes < logHeader {
		return false
	}
	want := binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0, 0, 0, logKind}, log+1)
	return bytes.Equal(b[at:at+logHeader], want)
}

// damagedAt finds a chunk that is not whole although there is a whole one behind
// it; -1: none. What is not whole at the very end was being written when the
// process or the machine ended.
func damagedAt(b []byte, log uint32) int {
	r := readRecords(b, log, func([]byte) {})
	if r.closed || nextChunk(b, r.at+1, log) < 0 {
		return -1
	}
	return r.at
}

// nextChunk finds the next whole chunk from a place on; -1: there is none. All chunks of a
// log have its number, which is found faster than they are checked.
func nextChunk(b []byte, at int, log uint32) int {
	if log == 0 {
		for ; at < len(b); at++ {
			if c, whole := readChunk(b, at, log); whole && c.kind != filler {
				return at
			}
		}
		return -1
	}
	return nextNumber(b, at, log, func(at int) bool {
		c, whole := readChunk(b, at, log)
		return whole && c.kind != filler
	})
}

// nextTrailer finds the next place from another on where a log was closed; -1: there is none.
func nextTrailer(b []byte, at int, log uint32) int {
	return nextNumber(b, at, log+1, func(at int) bool { return isTrailer(b, at, log) })
}

// nextNumber finds the next place from another on where the header of a chunk would have a
// number, and which is right otherwise.
func nextNumber(b []byte, at int, number uint32, right func(at int) bool) int {
	text := binary.LittleEndian.AppendUint32(nil, number)
	for at+manifestHeader < len(b) {
		i := bytes.Index(b[at+manifestHeader:], text)
		if i < 0 {
			return -1
		}
		if at += i; right(at) {
			return at
		}
		at++
	}
	return -1
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chunk is a part of a record.
type chunk struct {
	kind int
	data []byte
	end  int // where it ends
}

// readChunk reads the chunk at a place.
func readChunk(b []byte, at int, log uint32) (c chunk, whole bool) {
	header, first := manifestHeader, byte(manifestKind)
	if log != 0 {
		header, first = logHeader, logKind
	}
	if room := blockBytes - at%blockBytes; room < header {
		return chunk{kind: filler, end: at + room}, true
	}
	block := min(at-at%blockBytes+blockBytes, len(b))
	if at+header > block {
		return chunk{}, false
	}
	kind := b[at+6] - first
	end := at + header + int(binary.LittleEndian.Uint16(b[at+4:]))
	if kind > lastChunk || end > block { // a record that begins at the end of a block has a chunk without data there
		return chunk{}, false
	}
	if log != 0 && binary.LittleEndian.Uint32(b[at+manifestHeader:]) != log {
		return chunk{}, false
	}
	sum := crc32.Checksum(b[at+6:end], castagnoli)
	if binary.LittleEndian.Uint32(b[at:]) != (sum>>15|sum<<17)+0xa282ead8 {
		return chunk{}, false
	}
	return chunk{kind: int(kind), data: b[at+header : end], end: end}, true
}
