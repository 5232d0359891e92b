package bunt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// groupKey is the only key of the log. Its value is a group, the operations of one
// commit. A head with little-endian numbers is followed by the operations:
//
//	kind       one byte, deletedBit is set for a deletion
//	number     uvarint: of the collection; none in the header
//	id         uvarint: of a record, none otherwise
//	length     uvarint; none of a deletion
//	value      bytes
const groupKey = "g"

// deletedBit marks the kind of an operation that deletes.
const deletedBit = 0x80

// head frames a group. BuntDB writes a group with a single write(2), which a
// crash can interrupt.
type head struct {
	seq    uint64 // grows by one with every group
	synced uint64 // the last group that was known to be on disk
	ops    uint32 // operations in the group
	sum    uint32 // checksum of the operations
}

const headSize = 8 + 8 + 4 + 4 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// put writes a head, and a checksum of it. The nonce of the log makes it
// impossible to forge a head within a document.
func (h head) put(b []byte, nonce uint64) {
	binary.LittleEndian.PutUint64(b, h.seq)
	binary.LittleEndian.PutUint64(b[8:], h.synced)
	binary.LittleEndian.PutUint32(b[16:], h.ops)
	binary.LittleEndian.PutUint32(b[20:], h.sum)
	binary.LittleEndian.PutUint32(b[24:], nonceSum(b[:24], nonce))
}

// parseHead reads a head; ok is false if its own checksum is wrong.
func parseHead(b []byte, nonce uint64) (h head, ok bool) {
	if len(b) < headSize {
		return h, false
	}
	h.seq = binary.LittleEndian.Uint64(b)
	h.synced = binary.LittleEndian.Uint64(b[8:])
	h.ops = binary.LittleEndian.Uint32(b[16:])
	h.sum = binary.LittleEndian.Uint32(b[20:])
	return h, binary.LittleEndian.Uint32(b[24:]) == nonceSum(b[:24], nonce)
}

func nonceSum(b []byte, nonce uint64) uint32 {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], nonce)
	return crc32.Update(crc32.Checksum(n[:], castagnoli), castagnoli, b)
}

// op is one operation in the log: on a record, or on an entry that exists once
// per collection or log.
type op struct {
	kind  byte
	del   bool
	num   uint32
	id    storage.RecordID
	value string

	quotes []quote // parts of the value, in their order; none once the operation was read
}

// Kinds of operations. Collections are numbered; a number is never reused
// while records of its former collection are in the log.
const (
	opCatalog = 'c' // catalog entry: a document
	opHeader  = 'h' // format, and place of the file in the chain
	opStats   = 's' // statistics of a collection, of which the last id counts
	opRecord  = 'r' // time of the last write in 8 bytes, then the document
	opQuoting = 'q' // a record that has documents of the operations before it, see quote.go
)

// encode appends an operation.
func (o *op) encode(b []byte) []byte {
	kind := o.kind
	if o.del {
		kind |= deletedBit
	}
	b = append(b, kind)
	if o.kind != opHeader {
		b = binary.AppendUvarint(b, uint64(o.num))
	}
	if o.kind == opRecord {
		b = binary.AppendUvarint(b, uint64(o.id))
	}
	if !o.del {
		b = binary.AppendUvarint(b, uint64(len(o.value)))
		b = append(b, o.value...)
	}
	return b
}

// errNewer reports an operation of a newer version.
var errNewer = errors.New("a newer version of DuskDB wrote the log, and is needed to read it: it is not damaged")

// errShort reports a group that ends within an operation.
var errShort = errors.New("an operation in the log is cut short")

// decodeOp reads an operation and returns the bytes after it. The value is a
// view of the bytes, or of room, where one with quotes of the operations before
// it is written.
func decodeOp(b []byte, before []op, room *[]byte) (o op, rest []byte, err error) {
	if len(b) == 0 {
		return o, nil, errShort
	}
	o.kind, o.del = b[0]&^deletedBit, b[0]&deletedBit != 0
	quoting := o.kind == opQuoting && !o.del
	if quoting {
		o.kind = opRecord
	}
	b = b[1:]
	uvarint := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err, n = errShort, 0
		}
		b = b[n:]
		return v
	}
	switch o.kind {
	case opCatalog, opStats, opRecord:
		o.num = uint32(uvarint())
	case opHeader:
	default:
		return o, nil, fmt.Errorf("unknown operation %q: %w", o.kind, errNewer)
	}
	if o.kind == opRecord {
		o.id = storage.RecordID(uvarint())
	}
	if quoting && err == nil {
		var v []byte
		v, b, *room, err = decodeQuoting(b, before, *room)
		o.value = stringView(v)
	} else if !o.del {
		n := uvarint()
		if err == nil && n > uint64(len(b)) {
			err = errShort
		}
		if err == nil {
			o.value, b = stringView(b[:n]), b[n:]
		}
	}
	return o, b, err
}

// decodeOps appends the operations of a group to an empty list.
func decodeOps(dst []op, body []byte, n uint32, room *[]byte) ([]op, error) {
	for range n {
		o, rest, err := decodeOp(body, dst, room)
		if err != nil {
			return dst, err
		}
		dst, body = append(dst, o), rest
	}
	if len(body) > 0 {
		return dst, errShort
	}
	return dst, nil
}

// formatName is the first part of the header: it names the format.
const formatName = "duskdb-bunt-4\n"

// encode is formatName and the numbers of the header, little-endian.
func (h header) encode() string {
	b := binary.LittleEndian.AppendUint64([]byte(formatName), h.nonce)
	b = binary.LittleEndian.AppendUint32(b, h.number)
	b = binary.LittleEndian.AppendUint32(b, h.next)
	b = binary.LittleEndian.AppendUint64(b, h.after)
	if h.followed {
		return string(append(b, 1))
	}
	return string(append(b, 0))
}

// headerSize is the length of a header.
const headerSize = len(formatName) + 8 + 4 + 4 + 8 + 1

// headerBytes is the size of a file with a header alone.
var headerBytes = int64(len(groupCommand) + len("$00\r\n") + headSize + 2 + headerSize + len("\r\n"))

func decodeHeader(s string) (h header, ok bool) {
	n := len(formatName)
	if len(s) != headerSize || s[:n] != formatName {
		return h, false
	}
	b := value.StringView(s[n:])
	h.nonce = binary.LittleEndian.Uint64(b)
	h.number = binary.LittleEndian.Uint32(b[8:])
	h.next = binary.LittleEndian.Uint32(b[12:])
	h.after = binary.LittleEndian.Uint64(b[16:])
	h.followed = b[24] != 0
	return h, true
}

func stringView(b []byte) string { return value.BytesView(b) }
