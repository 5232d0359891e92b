package plan

import (
	"bytes"

	"github.com/duskdb/duskdb/value"
)

// maxExplode is how many ranges may be merged to provide a sort.
const maxExplode = 200

// sortKey is one field of a sort.
type sortKey struct {
	path string
	desc bool
}

// sortKeys reads a sort pattern; ok is false if no index can provide it.
func sortKeys(sort value.Doc) (keys []sortKey, ok bool) {
	for path, v := range sort.All() {
		if !v.IsNumber() || path == "$natural" {
			return nil, false
		}
		keys = append(keys, sortKey{path, v.AsDouble() < 0})
	}
	return keys, true
}

// naturalSort returns the direction of a sort by $natural, 0 for any other.
func naturalSort(sort value.Doc) int {
	if path, v := sort.First(); path == "$natural" && v.IsNumber() {
		if v.AsDouble() < 0 {
			return -1
		}
		return 1
	}
	return 0
}

// sort determines whether the scan returns the order of the query's sort, and
// sets direction and type accordingly.
func (p *Plan) sort(q *Query, fields []fieldBounds, used int) {
	if q.Sort.IsEmpty() {
		return
	}
	keys, ok := sortKeys(q.Sort)
	if !ok || !bytes.Equal(p.Index.CollationDoc, q.Collation) {
		return
	}
	m := &sortMatch{p: p, fields: fields, used: used, keys: keys}
	if !m.run() {
		return
	}
	p.Sorted = true
	if m.explode {
		p.Type = Merge
	}
	if m.reverse {
		p.Reverse = true
		p.Ranges = p.Ranges.backward()
	}
}

// sortMatch walks the fields of an index and those of a sort side by side.
type sortMatch struct {
	p      *Plan
	fields []fieldBounds
	used   int
	keys   []sortKey

	directed bool // reverse has been determined
	reverse  bool
	explode  bool
}

// run matches the fields of the sort with those of the index, in order, and
// reports whether the scan returns the order of the sort.
func (m *sortMatch) run() bool {
	x := m.p.Index
	at := 0
	for i := 0; i < len(x.Fields) && at < len(m.keys); i++ {
		at = m.skipEqual(at)
		if at == len(m.keys) {
			break
		}
		f := &x.Fields[i]
		switch {
		case f.Kind == Plain && f.Path == m.keys[at].path:
			if !m.take(i, m.keys[at]) {
				return false
			}
			at++
		case m.single(i):
		case i < m.used && m.fields[i].set.isPoints() && !m.directed:
			m.explode = true
		default:
			return false
		}
	}
	at = m.skipEqual(at)
	if at < len(m.keys) {
		return false
	}
	return !m.explode || m.mergeable()
}

// skipEqual skips sort fields that have a single value.
func (m *sortMatch) skipEqual(at int) int {
	for at < len(m.keys) && m.constant(m.keys[at].path) {
		at++
	}
	return at
}

func (m *sortMatch) constant(path string) bool {
	for i := range m.p.Index.Fields {
		f := &m.p.Index.Fields[i]
		if f.Path == path && f.Kind == Plain && m.single(i) && m.fields[i].exact && !m.p.Index.arrays(i) {
			return true
		}
	}
	return false
}

// single reports whether the scan sees one value of the i-th field.
func (m *sortMatch) single(i int) bool {
	return i < m.used && m.fields[i].set.isPoint()
}

// take matches the i-th field with a field of the sort.
func (m *sortMatch) take(i int, key sortKey) bool {
	x := m.p.Index
	reverse := x.Fields[i].Desc != key.desc
	if m.directed && reverse != m.reverse {
		return false
	}
	m.directed, m.reverse = true, reverse
	if !x.arrays(i) {
		return true
	}
	// A document occurs first under its least key only if the bounds exclude none
	// of its keys.
	if !m.fields[i].set.isAll() {
		return false
	}
	for k := range x.Fields {
		if k != i && !m.fields[k].set.isAll() && firstPart(x.Fields[k].Path) == firstPart(key.path) {
			return false
		}
	}
	return true
}

// mergeable reports whether the ranges can be merged by what follows their
// prefixes: each must be the whole of one list of points.
func (m *sortMatch) mergeable() bool {
	if m.p.Ranges.Len() > maxExplode {
		return false
	}
	points := 0
	for points < len(m.fields) && points < m.used && m.fields[points].set.isPoints() {
		points++
	}
	// Fields sorted by must not be among those that make up the prefix,
	// unless they have one value.
	for i := range points {
		if m.single(i) {
			continue
		}
		for _, key := range m.keys {
			if m.p.Index.Fields[i].Path == key.path {
				return false
			}
		}
	}
	return true
}
