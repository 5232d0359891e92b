package storagetest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Model is the naive engine that others are compared with: one collection
// after another, records in a map, no indexes but what is computed when
// asked for. It does not persist and has no errors of its own.
type Model struct {
	colls map[storage.Namespace]*modelColl
}

type modelColl struct {
	options value.Doc
	indexes []storage.IndexSpec
	records map[storage.RecordID]modelRecord
	lastID  storage.RecordID
}

type modelRecord struct {
	doc value.Doc
	ts  int64
}

// NewModel returns an empty model.
func NewModel() *Model { return &Model{colls: map[storage.Namespace]*modelColl{}} }

// Clone copies the model.
func (m *Model) Clone() *Model {
	n := NewModel()
	for ns, c := range m.colls {
		d := *c
		d.indexes = slices.Clone(c.indexes)
		d.records = maps.Clone(c.records)
		n.colls[ns] = &d
	}
	return n
}

// keys computes the distinct keys of a document in an index, in order.
func (x indexDef) keys(d value.Doc) [][]byte {
	ks, _, _ := x.index.Keys(nil, storage.Record{Doc: d})
	slices.SortFunc(ks, bytes.Compare)
	return slices.CompactFunc(ks, bytes.Equal)
}

type indexDef struct {
	storage.IndexSpec
	index storage.Index
}

func (c *modelColl) defs() (defs []indexDef) {
	for _, s := range c.indexes {
		x, _ := Indexer{}.Index(nil, s)
		defs = append(defs, indexDef{s, x})
	}
	return defs
}

func (c *modelColl) ids() []storage.RecordID { return slices.Sorted(maps.Keys(c.records)) }

// duplicate finds the first unique index that has a key of d for another
// record, in the order in which an engine looks.
func (c *modelColl) duplicate(d value.Doc, self storage.RecordID) (index string) {
	for _, x := range c.defs() {
		if !x.index.Unique() {
			continue
		}
		for _, k := range x.keys(d) {
			if owner := c.owner(x, k); owner != 0 && owner != self {
				return x.Name
			}
		}
	}
	return ""
}

func (c *modelColl) owner(x indexDef, k []byte) storage.RecordID {
	for _, id := range c.ids() {
		for _, have := range x.keys(c.records[id].doc) {
			if bytes.Equal(have, k) {
				return id
			}
		}
	}
	return 0
}

// selfDuplicate reports whether a unique index over the records cannot be.
func (c *modelColl) selfDuplicate(x indexDef) bool {
	for _, id := range c.ids() {
		for _, k := range x.keys(c.records[id].doc) {
			if c.owner(x, k) != id {
				return true
			}
		}
	}
	return false
}

func (c *modelColl) size() (n int) {
	for _, r := range c.records {
		n += len(r.doc)
	}
	return n
}

// Dump writes the model as [Dump] writes an engine.
func (m *Model) Dump() string {
	var b strings.Builder
	all := slices.SortedFunc(maps.Keys(m.colls), func(a, b storage.Namespace) int {
		return strings.Compare(a.DB+"\x00"+a.Coll, b.DB+"\x00"+b.Coll)
	})
	for _, ns := range all {
		c := m.colls[ns]
		fmt.Fprintf(&b, "%s %v count=%d size=%d last=%d\n", ns, c.options, len(c.records), c.size(), c.lastID)
		for _, id := range c.ids() {
			fmt.Fprintf(&b, "  %d @%d %v\n", id, c.records[id].ts, c.records[id].doc)
		}
		for _, x := range c.defs() {
			c.dumpIndex(&b, x)
		}
	}
	return b.String()
}

func (c *modelColl) dumpIndex(b *strings.Builder, x indexDef) {
	type pair struct {
		key []byte
		id  storage.RecordID
	}
	var pairs []pair
	for _, id := range c.ids() {
		for _, k := range x.keys(c.records[id].doc) {
			pairs = append(pairs, pair{k, id})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	fmt.Fprintf(b, "  index %s %v entries=%d\n", x.Name, x.Spec, len(pairs))
	for _, p := range pairs {
		fmt.Fprintf(b, "    %x/%d\n", p.key, p.id)
	}
}
