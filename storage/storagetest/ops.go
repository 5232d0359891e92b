package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Op is one random operation within an Update.
type Op struct {
	Kind string
	NS   storage.Namespace
	To   storage.Namespace // target of a rename
	ID   storage.RecordID
	Doc  value.Doc
	TS   int64
	Spec storage.IndexSpec
}

func (o Op) String() string {
	return fmt.Sprintf("%s %s to=%s id=%d %v @%d %s", o.Kind, o.NS, o.To, o.ID, o.Doc, o.TS, o.Spec.Name)
}

// recordKinds and catalogKinds are the operations; records come up more
// often.
var (
	recordKinds  = []string{"insert", "insert", "insert", "update", "update", "delete", "delete", "deleteRange"}
	catalogKinds = []string{"create", "drop", "rename", "truncate", "options", "createIndex", "dropIndex"}
)

// DrawOps draws the operations of one Update.
func DrawOps(t *rapid.T, m *Model, atMost int) []Op {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Op { return drawOp(t, m) }), 1, atMost).Draw(t, "ops")
}

func drawOp(t *rapid.T, m *Model) Op {
	kinds := recordKinds
	if rapid.IntRange(0, 7).Draw(t, "catalog") == 0 || len(m.colls) == 0 {
		kinds = catalogKinds
	}
	op := Op{
		Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
		NS:   drawNS(t),
		To:   drawNS(t),
		TS:   rapid.Int64Range(0, 99).Draw(t, "ts"),
		Doc:  drawDoc(t),
		Spec: Spec(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "index")),
	}
	if rapid.Bool().Draw(t, "unique") {
		op.Spec = UniqueSpec(op.Spec.Name)
	}
	last := storage.RecordID(5)
	if c := m.colls[op.NS]; c != nil {
		last = c.lastID + 2
	}
	op.ID = storage.RecordID(rapid.Int64Range(max(1, int64(last)-8), int64(last)).Draw(t, "id"))
	return op
}

func drawNS(t *rapid.T) storage.Namespace {
	return rapid.SampledFrom([]storage.Namespace{NS, NS, NS, NS, ns("db", "x"), ns("e", "y")}).Draw(t, "ns")
}

func drawDoc(t *rapid.T) value.Doc {
	d := value.NewDoc("_id", value.Int32(rapid.Int32Range(0, 20).Draw(t, "_id")))
	b := value.NewBuilder().Append("_id", d.Lookup("_id"))
	switch rapid.IntRange(0, 3).Draw(t, "a") {
	case 0:
		b.Int32("a", rapid.Int32Range(0, 50).Draw(t, "a1"))
	case 1:
		vs := []value.Value{}
		for _, n := range rapid.SliceOfN(rapid.Int32Range(0, 50), 0, 3).Draw(t, "as") {
			vs = append(vs, value.Int32(n))
		}
		b.Append("a", value.NewArray(vs...))
	}
	if rapid.Bool().Draw(t, "b") {
		b.String("b", rapid.StringN(0, 12, -1).Draw(t, "s"))
	}
	return b.Doc()
}

// Apply does the operation on the model and returns the error that an
// engine must give; nil for the kinds it does not know.
func (m *Model) Apply(o Op) error {
	c := m.colls[o.NS]
	if o.Kind == "create" {
		if c != nil {
			return storage.ErrExists
		}
		m.colls[o.NS] = &modelColl{indexes: []storage.IndexSpec{UniqueSpec("_id")},
			records: map[storage.RecordID]modelRecord{}}
		return nil
	}
	if c == nil {
		return storage.ErrNotFound
	}
	switch o.Kind {
	case "insert", "update", "delete":
		return c.applyRecord(o)
	case "deleteRange":
		c.deleteRange(o)
	case "drop":
		delete(m.colls, o.NS)
	case "rename":
		if m.colls[o.To] != nil {
			return storage.ErrExists
		}
		delete(m.colls, o.NS)
		m.colls[o.To] = c
	case "truncate":
		clear(c.records)
	case "options":
		c.options = o.Doc
	default:
		return c.applyIndex(o)
	}
	return nil
}

func (c *modelColl) applyRecord(o Op) error {
	if o.Kind == "insert" {
		o.ID = c.lastID + 1
	} else if _, ok := c.records[o.ID]; !ok {
		return storage.ErrNoRecord
	}
	if o.Kind == "delete" {
		delete(c.records, o.ID)
		return nil
	}
	if index := c.duplicate(o.Doc, o.ID); index != "" {
		return &storage.DuplicateKeyError{Index: index}
	}
	c.records[o.ID] = modelRecord{doc: o.Doc, ts: o.TS}
	c.lastID = max(c.lastID, o.ID)
	return nil
}

// few is how many records a ranged delete of an Op may visit.
const few = 4

// deleteRange removes the records of odd age among the first few in the index on
// _id, from that of the Op's document on.
func (c *modelColl) deleteRange(o Op) {
	x := c.defs()[0]
	from := x.keys(o.Doc)[0]
	left := slices.DeleteFunc(c.ids(), func(id storage.RecordID) bool { return bytes.Compare(x.keys(c.records[id].doc)[0], from) < 0 })
	slices.SortFunc(left, func(a, b storage.RecordID) int {
		return bytes.Compare(x.keys(c.records[a].doc)[0], x.keys(c.records[b].doc)[0])
	})
	for _, id := range left[:min(few, len(left))] {
		if c.records[id].ts%2 == 1 {
			delete(c.records, id)
		}
	}
}

// deleteRange is that of the model.
func deleteRange(c storage.Collection, o Op) error {
	_, err := c.DeleteRange(&storage.RangeDelete{
		Index: "_id", Keys: storage.KeyRange{Lo: fieldKey(o.Doc.Lookup("_id"))}, Limit: few,
		Pick: func(_ []byte, r storage.Record) (storage.Verdict, error) {
			if r.TS%2 == 1 {
				return storage.Verdict{Do: storage.Remove}, nil
			}
			return storage.Verdict{Do: storage.Keep}, nil
		},
	})
	return err
}

func (c *modelColl) applyIndex(o Op) error {
	at := -1
	for i := range c.indexes {
		if c.indexes[i].Name == o.Spec.Name {
			at = i
		}
	}
	switch {
	case o.Kind == "dropIndex" && at < 0:
		return storage.ErrNoIndex
	case o.Kind == "dropIndex":
		c.indexes = append(c.indexes[:at:at], c.indexes[at+1:]...)
		return nil
	case at >= 0:
		return storage.ErrExists
	}
	x, _ := Indexer{}.Index(nil, o.Spec)
	if x.Unique() && c.selfDuplicate(indexDef{o.Spec, x}) {
		return &storage.DuplicateKeyError{Index: o.Spec.Name}
	}
	c.indexes = append(c.indexes[:len(c.indexes):len(c.indexes)], o.Spec)
	return nil
}

// Apply does the operation on an engine.
func Apply(tx storage.Tx, o Op) error {
	switch o.Kind {
	case "create":
		_, err := tx.Create(o.NS, nil, []storage.IndexSpec{UniqueSpec("_id")})
		return err
	case "drop":
		return tx.Drop(o.NS)
	case "rename":
		return tx.Rename(o.NS, o.To)
	case "options":
		return tx.SetOptions(o.NS, o.Doc)
	case "createIndex":
		return tx.CreateIndex(o.NS, o.Spec)
	case "dropIndex":
		return tx.DropIndex(o.NS, o.Spec.Name)
	}
	c, err := tx.Collection(o.NS)
	if err != nil {
		return err
	}
	switch o.Kind {
	case "insert":
		_, err = c.Insert(o.Doc, o.TS)
	case "update":
		err = Done(c.Update(o.ID, o.Doc, o.TS))
	case "delete":
		err = Done(c.Delete(o.ID))
	case "deleteRange":
		err = deleteRange(c, o)
	case "truncate":
		err = c.Truncate()
	}
	return err
}

// SameError reports whether an engine's error is the one that the model gave.
func SameError(got, want error) bool {
	var d, e *storage.DuplicateKeyError
	if errors.As(want, &e) {
		return errors.As(got, &d) && d.Index == e.Index
	}
	if want == nil {
		return got == nil
	}
	return errors.Is(got, want)
}
