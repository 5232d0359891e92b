package exec

import (
	"slices"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// keyDocs makes documents from index entries, with the fields whose values are in the
// keys. A covered query returns them in place of the records. For other queries the
// filter is applied to them before a record is fetched.
type keyDocs struct {
	desc   []bool
	read   []bool // the keys have the value of this field
	tree   []keyNode
	values []value.Value
	reader value.KeyReader
	doc    value.Builder
	arena  []byte
}

// keyNode is a field of the documents: one of the index, or one with fields
// below it.
type keyNode struct {
	name  string
	field int // of the index, -1: none
	below []keyNode
}

// keyArena is how much room is made at once for documents.
const keyArena = 16 << 10

func newKeyDocs(p *plan.Plan) *keyDocs {
	x := p.Index
	k := &keyDocs{read: x.Readable(), desc: make([]bool, len(x.Fields)), values: make([]value.Value, len(x.Fields))}
	for i := range x.Fields {
		k.desc[i] = x.Fields[i].Desc
		if k.read[i] || i == p.Skip-1 { // distinct returns the elements of arrays
			k.tree = addKeyNode(k.tree, value.ParsePath(x.Fields[i].Path).Parts(), i)
		}
	}
	return k
}

// addKeyNode adds a field to the tree. A field below another field of the index is not
// added: the value of the outer field contains it.
func addKeyNode(list []keyNode, path []string, field int) []keyNode {
	at := -1
	for i := range list {
		if list[i].name == path[0] {
			at = i
		}
	}
	if at < 0 {
		at = len(list)
		list = append(list, keyNode{name: path[0], field: -1})
	}
	n := &list[at]
	if len(path) == 1 {
		n.field = field
	} else {
		n.below = addKeyNode(n.below, path[1:], field)
	}
	return list
}

// of makes the document of an entry; ok is false if the record must be read.
func (k *keyDocs) of(entry []byte) (d value.Doc, ok bool) {
	k.reader.Reset(entry, k.desc)
	for i := range k.values {
		if k.values[i], ok = k.reader.Next(k.desc[i]); !ok {
			return nil, false
		}
	}
	k.doc.Reset(k.doc.Bytes()[:0])
	k.append(k.tree)
	return k.keep(k.doc.Doc()), true
}

func (k *keyDocs) append(tree []keyNode) {
	for i := range tree {
		n := &tree[i]
		switch {
		case n.field >= 0:
			k.doc.Append(n.name, k.values[n.field])
		case k.any(n.below):
			k.doc.StartDocument(n.name)
			k.append(n.below)
			k.doc.End()
		}
	}
}

// any reports whether a field of the tree is there.
func (k *keyDocs) any(tree []keyNode) bool {
	for i := range tree {
		n := &tree[i]
		if n.field >= 0 && !k.values[n.field].IsMissing() || n.field < 0 && k.any(n.below) {
			return true
		}
	}
	return false
}

// keep copies a document to where it stays as it is.
func (k *keyDocs) keep(d value.Doc) value.Doc {
	if cap(k.arena)-len(k.arena) < len(d) {
		k.arena = make([]byte, 0, max(keyArena, len(d)))
	}
	start := len(k.arena)
	k.arena = append(k.arena, d...)
	return k.arena[start:len(k.arena):len(k.arena)]
}

// useKeys lets an index scan use the keys in place of the records, as far as the plan
// allows it.
func (r *ScanIterator) useKeys(p *plan.Plan, q *canonical.Query) *ScanIterator {
	if p.Covered || p.Filtered || p.Skip > 0 {
		r.keyDocs, r.covered, r.skip = newKeyDocs(p), p.Covered, p.Skip
	}
	if p.Filtered {
		r.filter = q
	}
	return r
}

// useBranches lets the joined scans use keys in place of records, if all of them can.
func (r *ScanIterator) useBranches(p *plan.Plan) *ScanIterator {
	if p.Covered {
		r.covered = true
		for _, part := range p.Parts {
			r.branches = append(r.branches, newKeyDocs(part))
		}
	}
	return r
}

// scanIndex visits entries of an index. Those whose own values are not enough
// come with their records, or are left to fetch.
func (r *ScanIterator) scanIndex(coll storage.Collection, index string, kr storage.KeyRange, visit func(key []byte, rec storage.Record) bool) error {
	if r.keyDocs == nil {
		return coll.ScanRecords(index, kr, visit)
	}
	r.waiting = r.waiting[:0]
	r.waitingKeys.Reset()
	err := coll.ScanIndex(index, kr, func(key []byte, id storage.RecordID) bool { return visit(key, storage.Record{ID: id}) })
	if err != nil || r.failed != nil || len(r.waiting) == 0 {
		return err
	}
	return r.fetch(coll)
}

// waitingEntry is an entry of an index behind one whose record must be read.
type waitingEntry struct {
	rec   storage.Record // with the values of the key, if they are known
	known bool           // they are
	fetch bool           // the record must be read all the same
}

// entry adds what an index entry leads to: its own values if they are enough,
// or its record, which is rec if that has a document. An entry whose record must
// be read waits until all of the chunk are read together, and so do those
// behind it.
func (r *ScanIterator) entry(key []byte, rec storage.Record) error {
	e := waitingEntry{rec: rec}
	if r.keyDocs == nil {
		return r.take(key, &e, true)
	}
	e.rec.Doc, e.known = r.keyDocs.of(key)
	if e.known && r.filter != nil {
		if hit, err := r.filter.Matcher.Match(r.x.Env, e.rec.Doc); err != nil || !hit {
			return err
		}
	}
	e.fetch = !e.known || !r.covered || r.mayHaveExpired(r.x.Running().Now)
	if !e.fetch && len(r.waiting) == 0 {
		return r.take(key, &e, false)
	}
	r.waiting = append(r.waiting, e)
	r.waitingKeys.add(key)
	return nil
}

// fetch reads the records of the entries that wait, and takes them.
func (r *ScanIterator) fetch(coll storage.Collection) error {
	ids := r.ids[:0]
	for i := range r.waiting {
		if r.waiting[i].fetch {
			ids = append(ids, r.waiting[i].rec.ID)
		}
	}
	r.ids = ids
	r.records = r.records[:0]
	err := coll.GetMany(ids, func(rec storage.Record) bool { r.records = append(r.records, rec); return true })
	if err != nil {
		return err
	}
	next := 0
	for i := range r.waiting {
		e := &r.waiting[i]
		if e.fetch {
			if next == len(r.records) || r.records[next].ID != e.rec.ID {
				continue // it is gone
			}
			e.rec = r.records[next]
			next++
		}
		if err := r.take(r.waitingKeys.at(i), e, e.fetch); err != nil {
			return err
		}
	}
	return nil
}

// take adds an entry, whose record has been read if fetched is true, unless it
// has expired or does not match.
func (r *ScanIterator) take(key []byte, e *waitingEntry, fetched bool) error {
	now := r.x.Running().Now
	if fetched && r.mayHaveExpired(now) && !r.meta.Visible(&e.rec, now) {
		return nil
	}
	if !e.known && r.covered && r.filter != nil { // nobody judges it later
		if hit, err := r.filter.Matcher.Match(r.x.Env, e.rec.Doc); err != nil || !hit {
			return err
		}
	}
	if len(r.buf) == cap(r.buf) {
		r.grow(len(key))
	}
	r.buf = append(r.buf, e.rec)
	r.keys.add(key)
	r.Scans[r.at.scan].Counts.Passed++
	if r.covered {
		r.fetched = append(r.fetched, fetched)
	}
	return nil
}

// grow makes room for more entries of the chunk, with keys of about so many bytes: for a few at
// first, since most finds have only a few, and soon for all.
func (r *ScanIterator) grow(key int) {
	more := max(4, min(8*len(r.buf), r.chunk)-len(r.buf))
	r.buf = slices.Grow(r.buf, more)
	r.keys.bytes, r.keys.ends = slices.Grow(r.keys.bytes, more*key), slices.Grow(r.keys.ends, more)
}
