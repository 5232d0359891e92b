package pipeline

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Environment is the host of an aggregation pipeline (stage.Host): it opens the
// collections of $lookup and other stages, and writes for $out and $merge.
type Environment struct {
	Exec   *exec.Execution // the execution of the command
	Call   *kernel.Call    // the command that runs the pipeline
	main   *agg.Exec       // the run of the command's main pipeline, which the hint is for
	hint   plan.Hint       // the hint of the command
	bypass bool
}

// Resolve implements stage.Host.
func (h *Environment) Resolve(db, coll string) (agg.Namespace, error) {
	ns := storage.Namespace{DB: db, Coll: coll}
	info, err := exec.Lookup(h.Exec.Running(), ns)
	if err != nil {
		return agg.Namespace{}, err
	}
	out := agg.Namespace{DB: db, Coll: coll}
	if m := catalog.Of(info); m.Kind == catalog.View {
		out.Coll, out.Pipeline = m.ViewOn, m.Pipeline
		if out.Pipeline == nil {
			out.Pipeline = value.NewArray().Doc()
		}
	}
	return out, nil
}

// Open implements stage.Host.
func (h *Environment) Open(x *agg.Exec, r agg.Request) (agg.Source, error) {
	info, err := exec.Lookup(h.Exec.Running(), storage.Namespace{DB: r.DB, Coll: r.Coll})
	if err != nil {
		return agg.Source{}, err
	}
	if info == nil && r.Near != nil {
		return agg.Source{}, mongoerr.Newf(mongoerr.NamespaceNotFound, "$geoNear requires a geo index to run, but %s.%s does not exist", r.DB, r.Coll)
	}
	if info == nil {
		return agg.Source{Iterator: exec.EmptyDocs{}, Sorted: true}, nil
	}
	if err := write.NoteRead(h.Exec.Running(), info); err != nil {
		return agg.Source{}, err
	}
	var hint plan.Hint
	if x == h.main {
		hint = h.hint
	}
	q, err := canonical.FromRequest(&r, hint)
	if err != nil {
		return agg.Source{}, err
	}
	if catalog.Of(info).Text == nil && canonical.HasText(q.Matcher.Root()) {
		return agg.Source{}, mongoerr.New(mongoerr.IndexNotFound, "text index required for $text query")
	}
	if err := q.CheckCombination(); err != nil {
		return agg.Source{}, err
	}
	sub := h.Exec.Sub(x.Env)
	if r.Near != nil {
		return exec.OpenNear(h.Call, sub, info, q, r.Near)
	}
	if catalog.Of(info).Kind == catalog.TimeSeries {
		it, err := exec.OpenMeasurements(h.Call, sub, info, q)
		return agg.Source{Iterator: it}, err
	}
	a, err := exec.ChooseAccessPath(h.Exec.Running(), sub, info, q)
	if err != nil {
		return agg.Source{}, err
	}
	h.Exec.Plans = append(h.Exec.Plans, a)
	it, err := a.Documents(sub, info, q)
	return agg.Source{Iterator: it, Sorted: a.Sorted, Backwards: a.Backwards}, err
}

// Special implements stage.Host.
func (h *Environment) Special(x *agg.Exec, s agg.Special) (agg.Iterator, error) {
	open := Sources[s.Stage]
	if open == nil {
		return nil, mongoerr.Newf(mongoerr.CommandNotSupported, "%s is not supported", s.Stage)
	}
	return open(h, x, s)
}
