package index

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// relation is the result of comparing a new index with an existing one.
type relation uint8

const (
	different  relation = iota // both may exist
	equivalent                 // same signature, other options
	identical
)

// apart names the fields of a specification that are not compared one by one: they are
// compared by their meaning, or say nothing about what the index does now. All other
// options count, and an absent one differs from each value, also from its default.
var apart = map[string]bool{
	"key": true, "name": true, "unique": true, "prepareUnique": true, "sparse": true, "collation": true,
	"partialFilterExpression": true, "wildcardProjection": true,
	"v": true, "textIndexVersion": true, "2dsphereIndexVersion": true, "background": true,
}

// relate compares the key patterns, signatures and other options of two
// indexes.
func relate(a, b *Spec) relation {
	switch {
	case value.CompareDocs(a.Key, b.Key, nil) != 0,
		a.IsUnique != b.IsUnique, a.Sparse != b.Sparse,
		!value.Equal(a.option("collation"), b.option("collation")),
		!samePartial(a, b), !a.projection.same(b.projection):
		return different
	case a.PrepareUnique != b.PrepareUnique, !sameOptions(a, b), !sameOptions(b, a):
		return equivalent
	}
	return identical
}

// samePartial reports whether two partial filters are equivalent after
// normalisation.
func samePartial(a, b *Spec) bool {
	if a.Partial == nil || b.Partial == nil {
		return a.Partial == b.Partial
	}
	return value.CompareDocs(a.Partial.Parsed(), b.Partial.Parsed(), nil) == 0
}

// sameOptions reports whether b has each option of a with the same value.
func sameOptions(a, b *Spec) bool {
	for name, v := range a.doc.All() {
		if other := b.option(name); !apart[name] && (other.IsMissing() || !value.Equal(v, other)) {
			return false
		}
	}
	return true
}

// Conflict compares a new index with those of its collection. It returns
// IndexAlreadyExists if nothing is to be done, IndexOptionsConflict or
// IndexKeySpecsConflict if the new one cannot be created, CannotCreateIndex at
// a limit, and nil if it can be created.
func Conflict(existing []*Spec, s *Spec, ns string) error {
	if s.Clustered {
		return mongoerr.New(mongoerr.IndexAlreadyExists, "The clustered index is implicitly built")
	}
	for _, e := range existing {
		if e.Clustered && s.IsID() {
			return mongoerr.New(mongoerr.IndexAlreadyExists, "The clustered index serves as the index on _id")
		}
		if e.Name == s.Name {
			return sameNameConflict(e, s)
		}
	}
	ordinary := 0
	for _, e := range existing {
		if e.Internal != "" {
			continue
		}
		ordinary++
		switch relate(e, s) {
		case equivalent:
			return mongoerr.Newf(mongoerr.IndexOptionsConflict, "An equivalent index already exists with a different name and options. Requested index: %s, existing index: %s", s.Catalog(), e.Catalog())
		case identical:
			return mongoerr.Newf(mongoerr.IndexOptionsConflict, "Index already exists with a different name: %s", e.Name)
		}
	}
	if ordinary >= MaxIndexes {
		return cannotCreate("add index fails, too many indexes for %s key:%s", ns, s.Key)
	}
	return textConflict(existing, s)
}

func sameNameConflict(e, s *Spec) error {
	switch relate(e, s) {
	case different:
		return mongoerr.Newf(mongoerr.IndexKeySpecsConflict, "An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. Requested index: %s, existing index: %s", s.Catalog(), e.Catalog())
	case equivalent:
		return mongoerr.Newf(mongoerr.IndexOptionsConflict, "An equivalent index already exists with the same name but different options. Requested index: %s, existing index: %s", s.Catalog(), e.Catalog())
	}
	return mongoerr.Newf(mongoerr.IndexAlreadyExists, "Identical index already exists: %s", s.Name)
}

func textConflict(existing []*Spec, s *Spec) error {
	if s.Kind != Text {
		return nil
	}
	for _, e := range existing {
		if e.Kind == Text {
			return cannotCreate(`only one text index per collection allowed, found existing text index "%s"`, e.Name)
		}
	}
	return nil
}

// Catalog returns the specification in the order in which mongod's catalog has it, and
// its messages: the flags stand before the key pattern.
func (s *Spec) Catalog() value.Doc {
	return fieldsOf(s.doc).ordered("v", "unique", "hidden", "prepareUnique", "key", "name")
}

// WithExpire returns the specification with another expireAfterSeconds, for
// collMod.
func (s *Spec) WithExpire(seconds int64) (*Spec, error) {
	return s.with("expireAfterSeconds", value.Int32(int32(min(seconds, 1<<31-1))))
}

// WithHidden returns the specification hidden from the planner or shown to
// it.
func (s *Spec) WithHidden(hidden bool) (*Spec, error) {
	if !hidden {
		return s.with("hidden", value.Value{})
	}
	return s.with("hidden", value.Bool(true))
}

// WithPrepareUnique returns the specification with the given prepareUnique.
func (s *Spec) WithPrepareUnique(prepare bool) (*Spec, error) {
	if !prepare {
		return s.with("prepareUnique", value.Value{})
	}
	return s.with("prepareUnique", value.Bool(true))
}

// WithUnique returns the specification converted to a unique index.
func (s *Spec) WithUnique() (*Spec, error) {
	d := fieldsOf(s.doc)
	d.remove("prepareUnique")
	d.set("unique", value.Bool(true))
	return Load(d.doc())
}

// with replaces one option; Missing removes it.
func (s *Spec) with(name string, v value.Value) (*Spec, error) {
	d := fieldsOf(s.doc)
	if v.IsMissing() {
		d.remove(name)
	} else {
		d.set(name, v)
	}
	return Load(d.doc())
}
