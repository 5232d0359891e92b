package index

import (
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Indexer compiles indexes for a storage engine. The package that opens the
// engine embeds it and adds Attach.
type Indexer struct{}

// Index compiles the specification of an index for a storage engine.
func (Indexer) Index(_ value.Doc, spec storage.IndexSpec) (storage.Index, error) {
	return Load(spec.Spec)
}

// Of returns the compiled specification behind an index of an engine that
// was opened with an [Indexer]; nil if it is of another kind.
func Of(i *storage.IndexInfo) *Spec {
	if i == nil {
		return nil
	}
	s, _ := i.Index.(*Spec)
	return s
}

// Stored returns the specification in the form that a storage engine stores.
func (s *Spec) Stored() storage.IndexSpec { return storage.IndexSpec{Name: s.Name, Spec: s.doc} }

// IDSpec is the specification of the index on _id of a collection with the
// given default collation (in full; nil for simple). A collation that does not
// compile, which no collection has, is ignored.
func IDSpec(collation value.Doc) *Spec {
	d := &specFields{}
	d.set("v", value.Int32(2))
	d.set("key", value.Document(value.NewDoc("_id", value.Int32(1))))
	d.set("name", value.String(reserved.IDIndex))
	if collation != nil && !isSimple(collation) {
		d.set("collation", value.Document(collation))
	}
	s, err := Load(d.doc())
	if err != nil {
		d.remove("collation")
		s, _ = Load(d.doc())
	}
	return s
}
