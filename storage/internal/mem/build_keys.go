package mem

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/value"
)

// part holds the entries of an index for some records of a collection.
type part struct {
	entries  []keyed
	keys     keyRoom
	prefix   string // prefix of all keys
	multikey storage.Multikey
}

// keyed is an entry: its id, where its key is, and the bytes of the key that follow the
// prefix of all keys. Most comparisons end there and do not read the key, which is
// elsewhere in memory. It has no pointer, so the garbage collector does not look at it.
type keyed struct {
	head uint64
	id   storage.RecordID
	at   keyPlace
}

// keyRoom holds keys, each behind its length, in chunks that do not move.
type keyRoom struct{ chunks [][]byte }

// keyPlace is where a key is: the number of the chunk, and the offset in it.
type keyPlace uint64

const (
	chunkBytes = 256 << 10
	chunkShift = 32
)

// keep copies a key.
func (r *keyRoom) keep(key []byte) keyPlace {
	size := len(key) + binary.MaxVarintLen64
	last := len(r.chunks) - 1
	if last < 0 || cap(r.chunks[last])-len(r.chunks[last]) < size {
		r.chunks = append(r.chunks, make([]byte, 0, max(chunkBytes, size)))
		last++
	}
	b := r.chunks[last]
	at := keyPlace(last)<<chunkShift | keyPlace(len(b))
	r.chunks[last] = append(binary.AppendUvarint(b, uint64(len(key))), key...)
	return at
}

// key returns a key, which stays valid.
func (r *keyRoom) key(at keyPlace) string {
	b := r.chunks[at>>chunkShift][uint32(at):]
	n, size := uint64(b[0]), 1
	if n >= 0x80 {
		n, size = binary.Uvarint(b)
	}
	return stringView(b[size : size+int(n)])
}

// filling computes the entries of several indexes over a range of records.
type filling struct {
	w      work
	makers []namedMaker
	parts  []*part // the part of each index
	room   []byte
	keys   [][]byte
}

// fill computes the entries of the records with ids from first to end-1.
func (f *filling) fill(ctx context.Context, t *records, first, end storage.RecordID) (err *kv.BuildError) {
	n := 0
	t.Ascend(first, func(id storage.RecordID, stored string) bool {
		if id >= end {
			return false
		}
		if n++; n%workEach == 0 {
			f.w.add(workEach * int64(len(f.parts)))
			if ctx.Err() != nil {
				err = &kv.BuildError{Index: f.makers[0].name, Err: ctx.Err()}
				return false
			}
		}
		r := record(id, stored)
		for k, p := range f.parts {
			if failed := f.add(p, f.makers[k].maker, r); failed != nil {
				err = &kv.BuildError{Index: f.makers[k].name, Err: failed}
				return false
			}
		}
		return true
	})
	f.w.add(int64(n%workEach) * int64(len(f.parts)))
	return err
}

// add computes the entries of a record.
func (f *filling) add(p *part, maker storage.Index, r storage.Record) (err error) {
	if w, ok := maker.(storage.KeyWriter); ok {
		if key, ok := w.WriteKey(f.room[:0], r); ok {
			f.room = key
			p.add(key, r.ID)
			return nil
		}
	}
	var multi storage.Multikey
	if f.keys, multi, err = maker.Keys(f.keys[:0], r); err != nil {
		return err
	}
	p.multikey |= multi
	if len(f.keys) > 1 {
		f.keys = keydiff.Sorted(f.keys)
	}
	for _, k := range f.keys {
		p.add(k, r.ID)
	}
	return nil
}

func (p *part) add(key []byte, id storage.RecordID) {
	at := p.keys.keep(key)
	if len(p.entries) == 0 {
		p.prefix = p.keys.key(at)
	} else if k := stringView(key); !strings.HasPrefix(k, p.prefix) {
		p.prefix = p.prefix[:commonPrefix(p.prefix, k)]
	}
	p.entries = append(p.entries, keyed{id: id, at: at})
}

// commonPrefixOf returns the prefix of the keys of all parts.
func commonPrefixOf(parts []part) string {
	prefix, found := "", false
	for i := range parts {
		p := &parts[i]
		switch {
		case len(p.entries) == 0:
		case !found:
			prefix, found = p.prefix, true
		default:
			prefix = prefix[:commonPrefix(prefix, p.prefix)]
		}
	}
	return prefix
}

// keyList is a sorted list of entries, with the room of their keys.
type keyList struct {
	entries []keyed
	keys    *keyRoom
}

func (l *keyList) entry(i int) entry { return entry{l.keys.key(l.entries[i].at), l.entries[i].id} }

// before reports whether the first entry of a list comes before that of another.
func (l *keyList) before(other *keyList) bool {
	a, b := &l.entries[0], &other.entries[0]
	if a.head != b.head {
		return a.head < b.head
	}
	return compareEntries(l.entry(0), other.entry(0)) < 0
}

// sort sorts the entries, whose keys begin with prefix.
func (p *part) sort(prefix string, room *sortRoom) {
	for i := range p.entries {
		e := &p.entries[i]
		e.head = wideHead(p.keys.key(e.at)[len(prefix):])
	}
	room.sortHeads(p.entries)
	for i := 0; i < len(p.entries); {
		end := i + 1
		for end < len(p.entries) && p.entries[end].head == p.entries[i].head {
			end++
		}
		if end-i > 1 {
			slices.SortFunc(p.entries[i:end], p.compare)
		}
		i = end
	}
}

func (p *part) compare(a, b keyed) int {
	return compareEntries(entry{p.keys.key(a.at), a.id}, entry{p.keys.key(b.at), b.id})
}

// wideHead returns the first eight bytes of a key as a number that sorts as
// they do.
func wideHead(rest string) uint64 {
	b := value.StringView(rest)
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var h uint64
	for i, c := range b {
		h |= uint64(c) << (56 - 8*i)
	}
	return h
}

// sortRoom is memory for sorting, which is used again.
type sortRoom struct{ entries []keyed }

// smallSort is the number of entries below which comparing them takes less time than
// distributing them by each byte.
const smallSort = 512

// sortHeads sorts entries by their heads: by distributing them by the last byte, then by
// the one before it, and so on. What has the same head keeps its order.
func (r *sortRoom) sortHeads(list []keyed) {
	byHead := func(a, b keyed) int { return cmp.Compare(a.head, b.head) }
	if slices.IsSortedFunc(list, byHead) {
		return
	}
	if len(list) < smallSort {
		slices.SortStableFunc(list, byHead)
		return
	}
	var counts [8][256]int
	for i := range list {
		for k := range counts {
			counts[k][byte(list[i].head>>(8*k))]++
		}
	}
	if cap(r.entries) < len(list) {
		r.entries = make([]keyed, len(list))
	}
	from, to := list, r.entries[:len(list)]
	for k := range counts {
		if counts[k][byte(list[0].head>>(8*k))] == len(list) {
			continue // all have the same
		}
		distribute(from, to, &counts[k], 8*k)
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
}

// distribute copies entries in the order of one byte of their heads; counts says how often
// it has each value.
func distribute(from, to []keyed, counts *[256]int, shift int) {
	next := 0
	for i, n := range counts {
		counts[i], next = next, next+n
	}
	for i := range from {
		b := byte(from[i].head >> shift)
		to[counts[b]] = from[i]
		counts[b]++
	}
}
