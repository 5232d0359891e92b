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

// Private reports whether the field's name begins with "$".
func (x fieldIndex) Private() bool { return x.field[0] == '$' }

// Order drops the tail of a long.
func (x fieldIndex) Order(key []byte) []byte { return key[:value.KeyLen(key, false)] }

// fieldKey is the key of a value. Longs have a tail.
func fieldKey(v value.Value) []byte { return appendFieldKey(nil, v) }

func appendFieldKey(dst []byte, v value.Value) []byte {
	key := value.AppendKey(dst, v)
	if v.Kind() == value.KindInt64 {
		key = append(key, 1)
	}
	return key
}

func (x fieldIndex) Keys(dst [][]byte, r storage.Record) ([][]byte, storage.Multikey, error) {
	if r.Doc.Lookup("bad").Bool() {
		return dst, 0, errBadDoc
	}
	v := r.Doc.Lookup(x.field)
	switch {
	case v.IsMissing() && x.sparse:
		return dst, 0, nil
	case v.Kind() != value.KindArray:
		return append(dst, fieldKey(v)), 0, nil
	}
	for it := v.Doc().Iter(); it.Next(); {
		dst = append(dst, fieldKey(it.Value()))
	}
	return dst, 1, nil
}

// WriteKey writes the key of a document without an array.
func (x fieldIndex) WriteKey(room []byte, r storage.Record) (key []byte, ok bool) {
	v := r.Doc.Lookup(x.field)
	if v.Kind() == value.KindArray || v.IsMissing() && x.sparse || r.Doc.Lookup("bad").Bool() {
		return room, false
	}
	return appendFieldKey(room, v), true
}
