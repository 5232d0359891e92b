package bunt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/duskdb/duskdb/storage"
)

// The first format of the log had a key for each record and catalog entry, and
// in each transaction a marker under the key "m". BuntDB writes the commands
// of a transaction in any order, so the marker has their number and the sum of
// their checksums, which does not depend on the order. Logs of this format are
// converted when they are opened.

const (
	oldFormatName = "duskdb-bunt-1\n"
	oldMarker     = "m"
	oldMarkerSize = 8 + 4 + 8 + 8 + 4
)

// oldBegin is the beginning of a log, up to its first key.
const oldBegin = "*3\r\n$3\r\nset\r\n$1\r\n"

// isOld reports whether these are the first bytes of a log of the first
// format: the header or its marker.
func isOld(begin []byte) bool {
	key, ok := strings.CutPrefix(string(begin), oldBegin)
	return ok && (key == string(rune(opHeader)) || key == oldMarker)
}

// oldGroup reads the commands of one transaction.
func (s *scanner) oldGroup() (h head, err error) {
	var raw []byte // the marker's value
	var n, sum uint64
	s.ops = s.ops[:0]
	for raw == nil || n < uint64(h.ops) {
		del, err := s.command()
		if errors.Is(err, io.EOF) && (n > 0 || raw != nil) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return h, err
		}
		switch {
		case string(s.key) != oldMarker:
			n++
			sum += oldSum(del, s.key, s.value)
			if err := s.oldOp(del); err != nil {
				return h, err
			}
		case raw != nil || del || len(s.value) != oldMarkerSize:
			return h, errDamaged
		default:
			raw = bytes.Clone(s.value)
			h, _, _ = parseOldMarker(raw, s.nonce)
		}
	}
	h, want, ok := parseOldMarker(raw, s.nonce)
	if !ok || n != uint64(h.ops) || sum != want {
		return h, errDamaged
	}
	return h, nil
}

// oldOp takes the command read last as an operation.
func (s *scanner) oldOp(del bool) error {
	if len(s.key) == 0 {
		return errDamaged
	}
	o := op{kind: s.key[0], del: del, value: string(s.value)}
	switch rest := s.key[1:]; {
	case o.kind == opHeader && len(rest) == 0:
		if s.nonce, s.hdr = decodeHeaderOf(oldFormatName, o.value); !s.hdr {
			return errDamaged
		}
	case (o.kind == opCatalog || o.kind == opLastID) && len(rest) == 4:
		o.num = binary.BigEndian.Uint32(rest)
	case o.kind == opRecord && len(rest) == 12:
		o.num, o.id = binary.BigEndian.Uint32(rest), storage.RecordID(binary.BigEndian.Uint64(rest[4:]))
	default:
		return fmt.Errorf("unknown key %q in the log", strings.Clone(stringView(s.key)))
	}
	s.ops = append(s.ops, o)
	return nil
}

// parseOldMarker reads the head of a transaction, and the sum of its
// commands.
func parseOldMarker(b []byte, nonce uint64) (h head, sum uint64, ok bool) {
	if len(b) < oldMarkerSize {
		return h, 0, false
	}
	h.seq = binary.LittleEndian.Uint64(b)
	h.ops = binary.LittleEndian.Uint32(b[8:])
	sum = binary.LittleEndian.Uint64(b[12:])
	h.synced = binary.LittleEndian.Uint64(b[20:])
	end := oldMarkerSize - 4
	return h, sum, binary.LittleEndian.Uint32(b[end:]) == nonceSum(b[:end], nonce)
}

// oldSum is the checksum of one command.
func oldSum(del bool, key, val []byte) uint64 {
	c := crc32.Checksum(key, castagnoli)
	if !del {
		c = crc32.Update(c, castagnoli, val)
	}
	h := uint64(c) | uint64(len(key)+len(val))<<33
	if del {
		h |= 1 << 32
	}
	// Mix (splitmix64), so that errors in two commands do not cancel out.
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

var oldMarkerCommand = fmt.Appendf(nil, "*3\r\n$3\r\nset\r\n$1\r\n%s\r\n$%d\r\n", oldMarker, oldMarkerSize)

// findOldMarker is findHead for logs of the first format.
func findOldMarker(r io.Reader, nonce uint64, fn func(h head) bool) error {
	return findAll(r, oldMarkerCommand, func(rest []byte) bool {
		h, _, ok := parseOldMarker(rest, nonce)
		return !ok || fn(h)
	})
}
