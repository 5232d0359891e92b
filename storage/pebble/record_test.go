package pebble

import (
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// logChunk encodes a chunk of a log.
func logChunk(kind byte, data []byte, log uint32) []byte {
	b := make([]byte, logHeader, logHeader+len(data))
	binary.LittleEndian.PutUint16(b[4:], uint16(len(data)))
	b[6] = logKind + kind
	binary.LittleEndian.PutUint32(b[7:], log)
	b = append(b, data...)
	sum := crc32.Checksum(b[6:], castagnoli)
	binary.LittleEndian.PutUint32(b, (sum>>15|sum<<17)+0xa282ead8)
	return b
}

// A record that begins where a block has room for a header alone has a chunk without data there.
func TestRecordAtTheEndOfABlock(t *testing.T) {
	const log = 2
	b := logChunk(fullChunk, make([]byte, blockBytes-2*logHeader), log)
	b = append(b, logChunk(firstChunk, nil, log)...)
	b = append(b, logChunk(lastChunk, []byte("record"), log)...)
	b = binary.LittleEndian.AppendUint32(append(b, 0, 0, 0, 0, 0, 0, logKind), log+1)
	n := 0
	if r := readRecords(b, log, func([]byte) { n++ }); n != 2 || !r.closed {
		t.Errorf("%d records, closed %v, read up to byte %d of %d", n, r.closed, r.at, len(b))
	}
}
