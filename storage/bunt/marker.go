package bunt

import (
	"encoding/binary"
	"hash/crc32"
)

// marker is the value of the marker key, which every transaction sets. It
// frames the transaction in the log: BuntDB writes a transaction's commands
// with one write(2) but in no order and without a frame.
type marker struct {
	seq    uint64 // grows by one with every group
	ops    uint32 // commands in the group beside the marker
	sum    uint64 // of the checksums of the commands
	synced uint64 // the last group that was known to be on disk
}

const markerSize = 8 + 4 + 8 + 8 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode ends the marker with a checksum of itself. The nonce of the log
// makes it impossible to forge a marker within a document.
func (m marker) encode(nonce uint64) string {
	b := make([]byte, 0, markerSize)
	b = binary.LittleEndian.AppendUint64(b, m.seq)
	b = binary.LittleEndian.AppendUint32(b, m.ops)
	b = binary.LittleEndian.AppendUint64(b, m.sum)
	b = binary.LittleEndian.AppendUint64(b, m.synced)
	return string(binary.LittleEndian.AppendUint32(b, markerSum(b, nonce)))
}

// decodeMarker reads a marker; ok is false if its own checksum is wrong.
func decodeMarker(b []byte, nonce uint64) (m marker, ok bool) {
	if len(b) != markerSize {
		return m, false
	}
	m.seq = binary.LittleEndian.Uint64(b)
	m.ops = binary.LittleEndian.Uint32(b[8:])
	m.sum = binary.LittleEndian.Uint64(b[12:])
	m.synced = binary.LittleEndian.Uint64(b[20:])
	end := markerSize - 4
	return m, binary.LittleEndian.Uint32(b[end:]) == markerSum(b[:end], nonce)
}

func markerSum(b []byte, nonce uint64) uint32 {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], nonce)
	return crc32.Update(crc32.Checksum(n[:], castagnoli), castagnoli, b)
}

// opSum is the checksum of one command. Sums of commands are added up, so
// their order does not matter.
func opSum(del bool, key, value []byte) uint64 {
	c := crc32.Checksum(key, castagnoli)
	if !del {
		c = crc32.Update(c, castagnoli, value)
	}
	h := uint64(c) | uint64(len(key)+len(value))<<33
	if del {
		h |= 1 << 32
	}
	// Mix (splitmix64), so that errors in two commands do not cancel out.
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
