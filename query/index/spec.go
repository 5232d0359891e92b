package index

import (
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/query/text"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Kind says how a field of a key pattern is indexed.
type Kind uint8

// The kinds of fields.
const (
	Plain Kind = iota
	Hashed
	Wildcard
	Text
	Geo2D
	Sphere
)

// plugins names the kinds as key patterns do.
var plugins = [...]string{Plain: "", Hashed: "hashed", Wildcard: "wildcard", Text: "text", Geo2D: "2d", Sphere: "2dsphere"}

// String returns the name of the kind in a key pattern, "" for Plain.
func (k Kind) String() string { return plugins[k] }

// kindByPlugin finds the kind of a string value in a key pattern.
func kindByPlugin(name string) (Kind, bool) {
	for k, p := range plugins {
		if p == name && p != "" {
			return Kind(k), true
		}
	}
	return Plain, false
}

// Field is one field of a key pattern.
type Field struct {
	Path string // the dotted path; the root of a Wildcard, "" for the whole document
	Desc bool
	Kind Kind
	path value.Path
}

// MaxIndexes is the largest number of indexes of a collection.
const MaxIndexes = 64

// Spec is a compiled index specification. It is immutable and safe for
// concurrent use.
type Spec struct {
	Name    string
	Key     value.Doc // the key pattern as listed
	Version int32
	Fields  []Field
	Kind    Kind // the kind of the field that is not Plain, if there is one

	IsUnique      bool
	PrepareUnique bool
	Sparse        bool
	Hidden        bool
	Clustered     bool
	ExpireAfter   *int64 // seconds, nil if it is not a TTL index

	PartialFilter      value.Doc // the filter as given, nil if the index is not partial
	Partial            *match.Matcher
	Collation          *collation.Collation // nil for simple
	WildcardProjection value.Doc
	TextOptions        TextOptions
	Planar             PlanarOptions
	Internal           Order // "" for an ordinary index

	doc        value.Doc
	isID       bool           // Key is {_id: 1}
	collator   value.Collator // Collation, or a nil interface
	projection *projection
	text       *text.Index // the keys of a text index
	described  *plan.Index
	places     []plan.Field // the fields in the planner's form
	descending []bool       // the direction of each field, if keys have tails
	show       func(*storage.Record) value.Doc
}

// Doc returns the complete specification as listIndexes shows it. [Load]
// reads it back.
func (s *Spec) Doc() value.Doc { return s.doc }

// Unique reports whether the index refuses a second record with the same
// key: it is unique, or is being prepared to become so.
func (s *Spec) Unique() bool { return s.IsUnique || s.PrepareUnique }

// IsID reports whether this is the index on _id.
func (s *Spec) IsID() bool { return s.isID }

// StoredName is the name that the engine knows the index by: a clustered index has one
// name there, whatever clients call it.
func (s *Spec) StoredName() string {
	if s.Clustered {
		return reserved.IDIndex
	}
	return s.Name
}

// Collator returns the collation of the index as a value.Collator, nil for
// simple.
func (s *Spec) Collator() value.Collator { return s.collator }

// option returns one field of the complete specification.
func (s *Spec) option(name string) value.Value { return s.doc.Lookup(name) }

// isIDKey recognises {_id: 1} (and the misspelt {_id: -1}).
func isIDKey(key value.Doc) bool {
	it := key.Iter()
	if !it.Next() || it.Key() != "_id" || !it.Value().IsNumber() {
		return false
	}
	n := it.Value().SafeInt64()
	return (n == 1 || n == -1) && !it.Next()
}

// DefaultName returns the name that drivers give an index: "a_1_b_-1".
func DefaultName(key value.Doc) string {
	var name []byte
	it := key.Iter()
	for it.Next() {
		if name != nil {
			name = append(name, '_')
		}
		name = append(append(name, it.Key()...), '_')
		if v := it.Value(); v.Kind() == value.KindString {
			name = append(name, v.Str()...)
		} else {
			name = append(name, value.Int64(v.SafeInt64()).String()...)
		}
	}
	return string(name)
}
