package applyops

import (
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// entries reads the list of entries. Authorization and execution both use it, so that
// they see the same entries.
func entries(a *arguments) ([]entry, error) {
	for v := range value.Doc(a.Ops).Values() { // nulls are not skipped here
		if v.Kind() == value.KindNull {
			return nil, args.WrongType("applyOps", "applyOps", v, "object")
		}
	}
	docs, err := args.ArrayDocs("applyOps", "applyOps", a.Ops)
	if err != nil {
		return nil, err
	}
	ops := make([]entry, len(docs))
	for i, d := range docs {
		if err := checkOplogEntry(d, i); err != nil {
			return nil, err
		}
		if err := entrySpec.DecodeNested("applyOps.applyOps", d, &ops[i]); err != nil {
			return nil, err
		}
		ops[i].Doc = d
	}
	return ops, nil
}

// checkOplogEntry refuses a list with a malformed entry, before any entry is applied. An
// entry of an unknown type, or one that cannot be applied, fails only when it is reached.
func checkOplogEntry(d value.Doc, i int) error {
	op, ns := d.Lookup("op"), d.Lookup("ns")
	illegal := func(text string) error {
		return mongoerr.Newf(mongoerr.IllegalOperation, "%s: %d", text, i)
	}
	switch {
	case op.IsMissing():
		return mongoerr.New(mongoerr.NoSuchKey, "Wrong type for 'op'. Expected a string, got a missing")
	case op.Kind() != value.KindString:
		return mongoerr.Newf(mongoerr.TypeMismatch, "Wrong type for 'op'. Expected a string, got a %s", op.Kind())
	case op.Str() == "":
		return illegal(`"op" field value cannot be empty`)
	case ns.IsMissing():
		return illegal(`op does not contain required "ns" field`)
	case ns.Kind() != value.KindString:
		return illegal(`"ns" field is not a string`)
	case strings.IndexByte(ns.Str(), 0) >= 0:
		return mongoerr.New(mongoerr.IllegalOperation, "namespaces cannot have embedded null characters")
	case ns.Str() == "" && op.Str()[0] != 'n':
		return illegal(`"ns" field value cannot be empty when op type is not 'n'`)
	}
	return nil
}
