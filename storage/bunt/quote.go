package bunt

import (
	"encoding/binary"
	"sort"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

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

// pendingQuote is a quote of a record that may change again before the commit.
type pendingQuote struct {
	by, of recordKey
	at     int
}

// recordKey is a record of any collection.
type recordKey struct {
	num uint32
	id  storage.RecordID
}

// InsertQuoting implements storage.Quoter.
func (h *collection) InsertQuoting(doc value.Doc, ts int64, quotes []storage.Quote) (storage.RecordID, error) {
	id, err := h.Insert(doc, ts)
	if err == nil && h.tx.snap == nil && h.tx.e.log.quotes() {
		h.tx.quote(recordKey{h.seen.num, id}, quotes)
	}
	return id, err
}

// quotes reports whether the log can have quotes: one of an earlier format cannot.
func (j *journal) quotes() bool { return j.db != nil && j.format >= quotingFormat }

// quote notes the quotes of a new record.
func (t *tx) quote(by recordKey, quotes []storage.Quote) {
	var of *change
	for _, q := range quotes {
		if of == nil || of.cur.info.Namespace != q.Namespace {
			if of = t.changeOf(q.Namespace); of == nil {
				continue
			}
		}
		t.scratch.quotes = append(t.scratch.quotes, pendingQuote{by: by, of: recordKey{of.cur.num, q.ID}, at: len(makeInt64(0)) + q.At})
	}
	for _, ch := range t.changes {
		if ch.cur != nil && ch.cur.num == by.num {
			ch.quoting = true
		}
	}
}

func (t *tx) changeOf(ns storage.Namespace) *change {
	for _, ch := range t.changes {
		if ch.cur != nil && ch.cur.info.Namespace == ns {
			return ch
		}
	}
	return nil
}

// addQuotes gives the operations of a commit the quotes that were noted and are true.
func (t *tx) addQuotes(ops []op) {
	s := t.scratch
	s.found = s.found[:0]
	next, by, from := 0, -1, 0
	for i := range s.quotes {
		q := &s.quotes[i]
		if by < 0 || q.by != s.quotes[i-1].by {
			if by = t.find(ops, q.by, by+1); by >= 0 {
				ops[by].quotes = nil
			}
			from = len(s.found)
		}
		of := t.find(ops, q.of, next)
		if by < 0 || of < 0 || of >= by || !ops[by].contains(q.at, ops[of].value) {
			continue
		}
		next = of + 1
		s.found = append(s.found, quote{at: q.at, of: of})
		ops[by].quotes = s.found[from:len(s.found):len(s.found)]
	}
}

// find returns the number of the operation on a record; likely is a guess. It returns -1
// for a record that the commit does not write.
func (t *tx) find(ops []op, k recordKey, likely int) int {
	is := func(i int) bool {
		return i < len(ops) && ops[i].kind == opRecord && ops[i].num == k.num && ops[i].id == k.id
	}
	if is(likely) {
		return likely
	}
	for _, ch := range t.changes {
		if ch.cur == nil || ch.cur.num != k.num {
			continue
		}
		i := ch.first + sort.Search(ch.records, func(i int) bool { return ops[ch.first+i].id >= k.id })
		if is(i) && i < ch.first+ch.records {
			return i
		}
	}
	return -1
}

// contains reports whether the document of a stored value is part of the operation's value
// at a position behind that of the quotes so far.
func (o *op) contains(at int, stored string) bool {
	if len(stored) < leastQuoted || at < 0 || at+len(stored)-8 > len(o.value) || o.value[at:at+len(stored)-8] != stored[8:] {
		return false
	}
	return len(o.quotes) == 0 || o.quotes[len(o.quotes)-1].at < at
}

// leastQuoted is the size of a value that is worth a quote.
const leastQuoted = 24

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
