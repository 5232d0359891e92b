package write

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// DeleteStatementArgs are the fields of a statement of delete.
type DeleteStatementArgs struct {
	Q         value.Doc   `arg:"q,required"`
	Limit     value.Value `arg:"limit,required"`
	Collation value.Doc   `arg:"collation"`
	Hint      value.Value `arg:"hint,any"`
	SampleID  value.Value `arg:"sampleId"`
}

// DeleteStatementSpec decodes a statement of delete.
var DeleteStatementSpec = args.New[DeleteStatementArgs]("delete.deletes")

// Read decodes a statement and replaces the one before.
func (s *DeleteStatementArgs) Read(d value.Doc) error {
	*s = DeleteStatementArgs{}
	if err := DeleteStatementSpec.DecodeNested("delete.deletes", d, s); err != nil {
		return err
	}
	if !s.Limit.IsNumber() {
		return args.WrongType("delete.deletes", "limit", s.Limit, args.NumberTypes)
	}
	if limit, ok := s.Limit.AsInt64(); !ok || limit < 0 || limit > 1 {
		return mongoerr.Newf(mongoerr.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %s", s.Limit)
	}
	return nil
}

// Multi reports whether the statement deletes all documents that match, as limit 0 says.
func (s *DeleteStatementArgs) Multi() bool { return s.Limit.SafeInt64() == 0 }

// Modification returns the statement as a Modification.
func (s *DeleteStatementArgs) Modification(ns storage.Namespace, let value.Doc) Modification {
	return Modification{NS: ns, Filter: s.Q, Let: let, Multi: s.Multi(), Collation: s.Collation, Hint: s.Hint}
}

// CompileFields compiles the fields option before anything is changed.
func (m *Modification) CompileFields(scope *expr.Scope) (err error) {
	if m.Fields == nil || m.Fields.IsEmpty() {
		return nil
	}
	m.Projection, err = project.Compile(m.Fields, project.Options{Scope: scope, Matcher: m.Query.Matcher, Collation: m.Query.Collator})
	if err == nil && m.WantNew && m.Projection.NeedsPosition() {
		// The new document need not have the element that the filter matched.
		return mongoerr.New(mongoerr.BadValue, "cannot use a positional projection and return the new document")
	}
	return err
}

// Modification is one statement of any command that updates or deletes.
type Modification struct {
	NS           storage.Namespace
	Filter       value.Doc
	Update       value.Value // Missing: remove
	Constants    value.Doc   // "c" of a pipeline update
	Let          value.Doc
	Multi        bool
	Upsert       bool
	Collation    value.Doc
	ArrayFilters args.Array
	Hint         value.Value
	Sort         value.Doc
	Bypass       bool
	WantNew      bool      // the caller wants the document after the change
	Fields       value.Doc // projection of the document that is returned
	Projection   *project.Projection

	FindAndModify bool              // which command it is
	byID          bool              // the filter is the _id alone, which the record has
	scripted      bool              // it runs JavaScript: see apart
	passed        bool              // the record was skipped, because the script no longer matched it
	Collection    [16]byte          // UUID of the collection in which the records were found
	found         exec.RecordSource // by Open; nil if it was not called
	Exec          *exec.Execution
	Query         canonical.Query
	Compile       *update.Update
}

// Updated is the result of a modification.
type Updated struct {
	Matched  int64
	Modified int64
	Upserted value.Value // _id of the upserted document, Missing if none
	Old, New value.Doc   // the last document, before and after
}

// RetryUpsert reports whether the filter of an upsert requires the values of the
// duplicate key, so that another attempt will find the document with that key.
func (m *Modification) RetryUpsert(err error) bool {
	e := mongoerr.From(err)
	var pattern, keyValue value.Doc
	for _, f := range e.Extra {
		switch f.Key {
		case "keyPattern":
			pattern = f.Value.Doc()
		case "keyValue":
			keyValue = f.Value.Doc()
		}
	}
	equal := map[string]value.Value{}
	for path, v := range m.Query.Matcher.Equalities() {
		equal[path] = v
	}
	for name := range pattern.All() {
		if v, ok := equal[name]; !ok || !value.Equal(v, keyValue.Lookup(name)) {
			return false
		}
	}
	return true
}
