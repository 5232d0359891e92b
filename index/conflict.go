package index

import (
	"bytes"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// relation is the result of comparing a new index with an existing one.
type relation uint8

const (
	different  relation = iota // both may exist
	equivalent                 // same signature, other options
	identical
)

// signature names the options that distinguish two indexes with the same key
// pattern, besides the partial filter and the wildcard projection.
var signature = []string{"collation", "unique", "sparse"}

// otherOptions are compared when the signatures agree.
var otherOptions = []string{
	"expireAfterSeconds", "weights", "default_language", "language_override",
	"bits", "min", "max", "finestIndexedLevel", "coarsestIndexedLevel", "bucketSize", "storageEngine", "hidden",
}

// relate compares the key patterns, signatures and other options of two
// indexes.
func relate(a, b *Spec) relation {
	if value.CompareDocs(a.Key, b.Key, nil) != 0 {
		return different
	}
	for _, name := range signature {
		if !sameOption(a.option(name), b.option(name)) {
			return different
		}
	}
	if !samePartial(a, b) || !a.projection.same(b.projection) {
		return different
	}
	for _, name := range otherOptions {
		if !sameOption(a.option(name), b.option(name)) {
			return equivalent
		}
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

// sameOption compares two values of an option. An absent flag counts as false;
// documents are compared regardless of numeric types.
func sameOption(a, b value.Value) bool {
	if a.IsMissing() != b.IsMissing() {
		return !a.Truthy() && !b.Truthy()
	}
	return value.Equal(a, b)
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
			return mongoerr.Newf(mongoerr.IndexOptionsConflict, "An equivalent index already exists with a different name and options. Requested index: %s, existing index: %s", s.doc, e.doc)
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
		return mongoerr.Newf(mongoerr.IndexKeySpecsConflict, "An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. Requested index: %s, existing index: %s", s.doc, e.doc)
	case equivalent:
		return mongoerr.Newf(mongoerr.IndexOptionsConflict, "An equivalent index already exists with the same name but different options. Requested index: %s, existing index: %s", s.doc, e.doc)
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

// Same reports whether two specifications are the same in every byte.
func Same(a, b *Spec) bool { return bytes.Equal(a.doc, b.doc) }

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
	d := draftOf(s.doc)
	d.remove("prepareUnique")
	d.set("unique", value.Bool(true))
	return Load(d.doc())
}

// with replaces one option; Missing removes it.
func (s *Spec) with(name string, v value.Value) (*Spec, error) {
	d := draftOf(s.doc)
	if v.IsMissing() {
		d.remove(name)
	} else {
		d.set(name, v)
	}
	return Load(d.doc())
}
