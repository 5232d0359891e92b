package write

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// DeleteStatementArgs are the fields of a statement of delete.
type DeleteStatementArgs struct {
	Q         value.Doc   `arg:"q,required"`
	Limit     value.Value `arg:"limit,required,any"`
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
	if limit := s.limit(); limit != 0 && limit != 1 {
		return mongoerr.Newf(mongoerr.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %.16g", limit)
	}
	return nil
}

// limit returns the limit as a number. Like mongod, it takes a value of another type for 0.
func (s *DeleteStatementArgs) limit() float64 {
	if !s.Limit.IsNumber() {
		return 0
	}
	return s.Limit.AsDouble()
}

// Multi reports whether the statement deletes all documents that match, as limit 0 says.
func (s *DeleteStatementArgs) Multi() bool { return s.limit() == 0 }

// Modification returns the statement as a Modification.
func (s *DeleteStatementArgs) Modification(ns storage.Namespace, let value.Doc) Modification {
	return Modification{NS: ns, Filter: s.Q, Let: let, Multi: s.Multi(), Collation: s.Collation, Hint: s.Hint}
}

// Modification is one statement of any command that updates or deletes, as the client asked
// for it.
type Modification struct {
	NS            storage.Namespace
	Filter        value.Doc
	Update        value.Value // Missing: the documents are removed
	Constants     value.Doc   // "c" of a pipeline update
	Let           value.Doc
	Multi         bool
	Upsert        bool
	Collation     value.Doc
	ArrayFilters  args.Array
	Hint          value.Value
	Sort          value.Doc
	Bypass        bool      // the validator does not apply
	WantNew       bool      // the caller wants the document after the change
	Fields        value.Doc // projection of the document that is returned
	FindAndModify bool      // the command is findAndModify
}

// Removes reports whether the statement removes documents.
func (m *Modification) Removes() bool { return m.Update.IsMissing() }

// Updated is the result of a modification.
type Updated struct {
	Matched  int64
	Modified int64
	Upserted value.Value // _id of the upserted document, Missing if none
	Old, New value.Doc   // the last document, before and after
}
