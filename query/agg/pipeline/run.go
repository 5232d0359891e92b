package pipeline

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/pack"
	"github.com/duskdb/duskdb/query/agg/source"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// maxViewDepth is how deep views may be nested.
const maxViewDepth = 20

// Open runs the pipeline on the collection or view that it was compiled for. x.Host
// opens it.
func (p *Pipeline) Open(x *stage.Exec) (stage.Iterator, error) {
	return p.OpenOn(x, p.opts.DB, p.opts.Coll)
}

// OpenOn runs the pipeline on a namespace.
func (p *Pipeline) OpenOn(x *stage.Exec, db, coll string) (stage.Iterator, error) {
	if s, ok := p.first().(*source.Special); ok && s.OfIndexes() {
		under, _, err := p.Resolved(x)
		if err != nil {
			return nil, err
		}
		return under.Run(x, stage.Docs())
	}
	if p.IsSource() {
		return p.Run(x, stage.Docs())
	}
	ns, err := p.Resolve(x, db, coll)
	if err != nil {
		return nil, err
	}
	if ns.View != nil {
		if !x.EnterView(maxViewDepth) {
			return nil, viewsTooDeep()
		}
		defer x.LeaveView()
		return ns.View.OpenOn(x, ns.DB, ns.Coll)
	}
	l := p.Leading()
	if err := l.Bind(x.Env); err != nil {
		return nil, err
	}
	src, err := x.Host.Open(x, p.Request(&l, ns.DB, ns.Coll))
	if err != nil {
		return nil, err
	}
	return p.behind(l, src).Run(x, src)
}

// Resolved resolves all views: it returns the pipeline on the underlying collection, and
// the name of that collection.
func (p *Pipeline) Resolved(x *stage.Exec) (*Pipeline, stage.Namespace, error) {
	out, db, coll := p, p.opts.DB, p.opts.Coll
	for range maxViewDepth {
		ns, err := out.Resolve(x, db, coll)
		if err != nil || ns.View == nil {
			return out.of(ns.Namespace), ns.Namespace, err
		}
		out, db, coll = ns.View, ns.DB, ns.Coll
	}
	return nil, stage.Namespace{}, viewsTooDeep()
}

// of returns p for the collection ns: a first stage about indexes, like $indexStats,
// returns those of ns.
func (p *Pipeline) of(ns stage.Namespace) *Pipeline {
	s, ok := p.first().(*source.Special)
	if !ok || !s.OfIndexes() || s.Source.Coll == ns.Coll {
		return p
	}
	told := *s
	told.Source.Coll = ns.Coll
	out := *p
	out.stages = append([]stage.Stage{&told}, p.stages[1:]...)
	return &out
}

func viewsTooDeep() error {
	return mongoerr.Newf(mongoerr.ViewDepthLimitExceeded, "View depth too deep or view cycle detected; maximum depth is %d", maxViewDepth)
}

// Resolution is a namespace and, if it is a view, the pipeline on the view's collection.
type Resolution struct {
	stage.Namespace
	View *Pipeline
}

// Resolve asks the host for a namespace. If it is a view, Resolve compiles its pipeline.
func (p *Pipeline) Resolve(x *stage.Exec, db, coll string) (Resolution, error) {
	ns, err := x.Host.Resolve(db, coll)
	if err != nil {
		return Resolution{}, err
	}
	if ns.DB == "" {
		ns.DB, ns.Coll = db, coll
	}
	if ns.Pipeline == nil {
		return Resolution{Namespace: ns}, nil
	}
	view, err := p.before(ns)
	return Resolution{Namespace: ns, View: view}, err
}

// Run runs all stages over src.
func (p *Pipeline) Run(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	if s, ok := src.(stage.Source); ok {
		src = s.Iterator
	}
	it, n := p.overPacks(x, src)
	if n == 0 {
		it = x.Interruptible(src)
	} else {
		it = x.Measure(p.stages[n-1], it)
	}
	for _, s := range p.stages[n:] {
		next, err := s.Open(x, it)
		if err != nil {
			it.Close()
			return nil, err
		}
		it = x.Measure(s, next)
	}
	return it, nil
}

// overPacks opens the first stages of the pipeline if they can be run on packs. It
// returns the number of these stages.
func (p *Pipeline) overPacks(x *stage.Exec, src stage.Iterator) (it stage.Iterator, n int) {
	packs, ok := src.(stage.Packs)
	if !ok {
		return nil, 0
	}
	shared, time := packs.PackFields()
	plan := pack.NewPlan(p.stages, shared, time)
	if plan == nil {
		return nil, 0
	}
	return plan.Open(x, packs), plan.Replaces()
}

// Apply runs the pipeline of an update on one document. Every stage of such a pipeline
// returns one document for each.
func (p *Pipeline) Apply(x *stage.Exec, d value.Doc) (value.Doc, error) {
	for _, s := range p.stages {
		t, ok := s.(stage.Transformer)
		if !ok {
			return nil, mongoerr.Newf(mongoerr.InvalidOptions, "%s is not allowed to be used within an update", s.Name())
		}
		var err error
		if d, err = t.Transform(x, d); err != nil {
			return nil, err
		}
	}
	return d, nil
}
