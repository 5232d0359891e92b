package bunt

import "encoding/binary"

// A record of the change log contains the documents that its transaction has inserted.
// The log has them once: such a record is an operation of the kind opQuoting, whose value
// is made of its own bytes and of values of operations before it in the same group. So a
// group can be read without any other.
//
//	kind, number, id  as of opRecord
//	length            uvarint: of the whole value
//	quotes            uvarint: their number
//	for each quote
//	  own             uvarint: the number of bytes between the quote before and this one
//	  again           uvarint: how many of them repeat: their end is that of the bytes
//	                  before the quote before
//	  bytes           those that do not repeat
//	  of              varint: the operation, relative to the one after the last quoted
//	bytes             the rest of the value
//
// What is quoted is the document, that is, the value without the time of the last write.

// quote is a part of an operation's value: the document of another operation.
type quote struct {
	at int // in the value
	of int // number of the other operation in the group
}

// encodeQuoting appends an operation with quotes of the operations ops.
func (o *op) encodeQuoting(b []byte, ops []op) []byte {
	b = append(b, opQuoting)
	b = binary.AppendUvarint(b, uint64(o.num))
	b = binary.AppendUvarint(b, uint64(o.id))
	b = binary.AppendUvarint(b, uint64(len(o.value)))
	b = binary.AppendUvarint(b, uint64(len(o.quotes)))
	done, next, last := 0, 0, ""
	for _, q := range o.quotes {
		own := o.value[done:q.at]
		again := commonEnd(own, last)
		b = binary.AppendUvarint(b, uint64(len(own)))
		b = binary.AppendUvarint(b, uint64(again))
		b, last = append(b, own[:len(own)-again]...), own
		b = binary.AppendVarint(b, int64(q.of-next))
		done, next = q.at+len(ops[q.of].value)-8, q.of+1
	}
	return append(b, o.value[done:]...)
}

// commonEnd returns the length of the common end of two strings.
func commonEnd(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}

// decodeQuoting reads the value of an operation of the kind opQuoting, from its length on.
// before are the operations of the group before it. The value is appended to room.
func decodeQuoting(b []byte, before []op, room []byte) (value, rest, into []byte, err error) {
	start := len(room)
	take := func(n uint64) bool {
		if n > uint64(len(b)) {
			return false
		}
		room, b = append(room, b[:n]...), b[n:]
		return true
	}
	size, n := binary.Uvarint(b)
	if n <= 0 || size > maxGroup {
		return nil, b, room, errShort
	}
	b = b[n:]
	quotes, n := binary.Uvarint(b)
	if n <= 0 {
		return nil, b, room, errShort
	}
	b = b[n:]
	next, last, end := int64(0), uint64(0), 0
	for range quotes {
		own, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, b, room, errShort
		}
		b = b[n:]
		again, n := binary.Uvarint(b)
		if n <= 0 || again > own || again > last {
			return nil, b, room, errShort
		}
		if b = b[n:]; !take(own - again) {
			return nil, b, room, errShort
		}
		room = append(room, room[end-int(again):end]...)
		last, end = own, len(room)
		of, n := binary.Varint(b)
		if n <= 0 || of+next < 0 || of+next >= int64(len(before)) {
			return nil, b, room, errShort
		}
		b, next = b[n:], of+next+1
		quoted := before[next-1].value
		if len(quoted) < 8 || uint64(len(room)-start+len(quoted)) > size+8 {
			return nil, b, room, errShort
		}
		room = append(room, quoted[8:]...)
	}
	if done := uint64(len(room) - start); done > size || !take(size-done) {
		return nil, b, room, errShort
	}
	return room[start:], b, room, nil
}
