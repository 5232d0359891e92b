package agg

import (
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// CheckNames refuses a pipeline with a stage that does not exist, without
// compiling it. MongoDB checks the names before it runs the first statement of an
// update command, so that such a pipeline fails the command, not the statement.
func CheckNames(d dialect.Dialect, pipeline value.Doc) error {
	for v := range pipeline.Values() {
		if v.Kind() != value.KindDocument {
			continue
		}
		if v.Doc().Len() != 1 {
			return mongoerr.New(40323, "A pipeline stage specification object must contain exactly one field.")
		}
		name, _ := v.Doc().First()
		if def := mql.Stage(name); def == nil || !d.Has(def.Since) {
			return mongoerr.Newf(40324, "Unrecognized pipeline stage name: '%s'", name)
		}
	}
	return nil
}
