package write

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// Run is a Modification compiled for a collection.
type Run struct {
	Modification
	Exec       *exec.Execution
	Query      canonical.Query
	update     *update.Update      // nil: the documents are removed
	projection *project.Projection // projection of the document that is returned; nil: the whole document
	scripted   bool                // the filter or the update runs JavaScript, see apart

	collection [16]byte    // UUID of the collection; zero: there is none
	id         value.Value // the _id that the filter consists of, if byID
	byID       bool        // the index on _id finds the document, and then the filter holds
}

// Compile compiles the filter, the update and the projection of a write. info is nil if the
// collection does not exist.
func Compile(c *kernel.Call, m *Modification, info *storage.Info) (*Run, error) {
	r := &Run{Modification: *m, Exec: exec.NewExecution(c)}
	meta := catalog.Of(info)
	if err := r.compileFilter(c, info, meta); err != nil {
		return nil, err
	}
	if err := r.compileFields(); err != nil {
		return nil, err
	}
	if err := r.findScripts(c, meta); err != nil {
		return nil, err
	}
	if !r.Removes() {
		if err := r.compileUpdate(c, meta); err != nil {
			return nil, err
		}
	}
	r.over(info)
	return r, nil
}

// over makes a collection the one that the run changes.
func (r *Run) over(info *storage.Info) {
	if info == nil {
		return
	}
	r.collection = info.UUID
	id, point := canonical.PointID(r.Query.Filter)
	if r.byID = point && !r.scripted && r.canUseID(info); r.byID {
		r.id = id
	}
}

// canUseID reports whether the index on _id can answer an equality.
func (r *Run) canUseID(info *storage.Info) bool {
	return info != nil && r.Hint.IsMissing() && info.Index(reserved.IDIndex) != nil && canonical.SameCollation(catalog.Of(info).Collator(), r.Query.Collator)
}

// compileFilter compiles what says which documents are meant.
func (r *Run) compileFilter(c *kernel.Call, info *storage.Info, meta *catalog.Meta) (err error) {
	if err := canonical.CheckHint(r.Hint); err != nil {
		return err
	}
	q := &r.Query
	q.Filter, q.Hint, q.Sort, q.Upsert = r.Filter, canonical.HintOf(r.Hint), r.Sort, r.Upsert
	if !r.Multi {
		q.Limit = 1
	}
	q.NearAll = true // the nearest may be gone when it is to be written
	if err := r.Exec.CompileOptions(q, meta, r.Collation, r.Let); err != nil {
		return err
	}
	if _, point := canonical.PointID(q.Filter); point && !r.Upsert && r.Fields == nil && meta.Kind != catalog.TimeSeries && r.canUseID(info) {
		return q.CheckSort()
	}
	return canonical.CompileFilter(c, q, meta)
}

// compileFields compiles the fields option before anything is changed.
func (r *Run) compileFields() (err error) {
	if r.Fields == nil || r.Fields.IsEmpty() {
		return nil
	}
	r.projection, err = project.Compile(r.Fields, project.Options{Scope: r.Query.Scope, Matcher: r.Query.Matcher, Collation: r.Query.Collator})
	if err == nil && r.WantNew && r.projection.NeedsPosition() {
		// The new document need not have the element that the filter matched.
		return mongoerr.New(mongoerr.BadValue, "cannot use a positional projection and return the new document")
	}
	return err
}

// compileUpdate compiles how documents are changed.
func (r *Run) compileUpdate(c *kernel.Call, meta *catalog.Meta) (err error) {
	o := update.Options{
		Collation: r.Query.Collator, Multi: r.Multi, Constants: r.Constants != nil,
		Timestamp: func() value.Value { return transaction.NextTimestamp(c.Svc, c.Now) }, KeepEmpty: KeepsEmptyTimestamps(c), Dialect: r.Query.Scope.Dialect(),
	}
	o.Pipeline = r.compilePipeline
	if o.ArrayFilters, err = args.ArrayDocs("update.updates", "arrayFilters", r.ArrayFilters); err != nil {
		return err
	}
	if r.update, err = update.Compile(r.Update, o); err != nil {
		return err
	}
	// A $renamed _ts, where it is the server's, would be lost in silence.
	if meta.DocTTL != nil && r.update.Renames(ttl.TSField) {
		return mongoerr.New(mongoerr.ImmutableField, "Performing an update on the path '_ts' would modify the immutable field '_ts'")
	}
	return nil
}

// compilePipeline compiles [{$set: …}, …] with the constants of "c"
// and the variables of let in scope.
func (r *Run) compilePipeline(stages value.Doc) (update.Transform, error) {
	scope := r.Query.Scope
	if r.Constants != nil {
		if scope == nil {
			scope = expr.NewScope(r.Exec.Running().Svc.Dialect())
		}
		child, vars, err := scope.WithLet(r.Constants)
		if err != nil {
			return nil, err
		}
		if err := vars.Bind(r.Exec.Env, r.Exec.Env, value.EmptyDoc); err != nil {
			return nil, err
		}
		scope = child
	}
	p, err := agg.Compile(stages, agg.Options{DB: r.NS.DB, Coll: r.NS.Coll, Scope: scope, Collation: r.Query.Collator, Update: true})
	if err != nil {
		return nil, err
	}
	return func(env *expr.Env, d value.Doc) (value.Doc, error) {
		return p.Apply(&agg.Exec{Env: env}, d)
	}, nil
}

// Apply returns what the update makes of a document, and whether it changes it. position is
// the array element that the filter matched, or -1.
func (r *Run) Apply(d value.Doc, position int) (value.Doc, bool, error) {
	return r.update.Apply(r.Exec.Env, d, update.ApplyOptions{Position: position})
}

// Project applies the fields option to the document that is returned.
func (r *Run) Project(d value.Doc) (value.Doc, error) {
	if r.projection == nil {
		return d, nil
	}
	return r.projection.Apply(r.Exec.Env, nil, d)
}
