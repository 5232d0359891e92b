package storagetest

import (
	"errors"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Indexer is a small storage.Indexer for tests. A specification is
// {field: <name>, unique: <bool>, sparse: <bool>}; an array makes one key
// for each of its elements.
type Indexer struct{}

// errNoField is what Index returns for a specification without a field, and
// Keys for a document with {bad: true}.
var (
	errNoField = errors.New("no field")
	errBadDoc  = errors.New("bad document")
)

// Spec makes an index specification for Indexer.
func Spec(field string) storage.IndexSpec {
	return storage.IndexSpec{Name: field, Spec: value.NewDoc("field", value.String(field))}
}

// UniqueSpec makes a unique one.
func UniqueSpec(field string) storage.IndexSpec {
	return storage.IndexSpec{Name: field, Spec: value.NewDoc(
		"field", value.String(field), "unique", value.Bool(true))}
}

// Index compiles a specification.
func (Indexer) Index(_ value.Doc, spec storage.IndexSpec) (storage.Index, error) {
	field := spec.Spec.Lookup("field").Str()
	if field == "" {
		return nil, errNoField
	}
	return fieldIndex{
		field:  field,
		unique: spec.Spec.Lookup("unique").Bool(),
		sparse: spec.Spec.Lookup("sparse").Bool(),
	}, nil
}

// Attach lists the indexes' names, for tests of when it is called.
func (Indexer) Attach(info *storage.Info) any {
	m := Meta{Namespace: info.Namespace, Options: info.Options.String()}
	for _, x := range info.Indexes {
		m.Indexes += x.Name + " " + x.Spec.String() + ";"
	}
	return m
}

// Meta is what Attach makes.
type Meta struct {
	Namespace        storage.Namespace
	Options, Indexes string
}

type fieldIndex struct {
	field          string
	unique, sparse bool
}

func (x fieldIndex) Unique() bool { return x.unique }

func (x fieldIndex) Keys(dst [][]byte, r storage.Record) ([][]byte, bool, error) {
	if r.Doc.Lookup("bad").Bool() {
		return dst, false, errBadDoc
	}
	v := r.Doc.Lookup(x.field)
	switch {
	case v.IsMissing() && x.sparse:
		return dst, false, nil
	case v.Kind() != value.KindArray:
		return append(dst, value.AppendKey(nil, v)), false, nil
	}
	for it := v.Doc().Iter(); it.Next(); {
		dst = append(dst, value.AppendKey(nil, it.Value()))
	}
	return dst, true, nil
}
