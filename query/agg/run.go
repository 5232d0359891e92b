package agg

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// maxViewDepth is how many views may stand over each other.
const maxViewDepth = 20

// Open runs the pipeline on the collection or view it was compiled for,
// which it opens through x.Host.
func (p *Pipeline) Open(x *Exec) (Iterator, error) {
	return p.openOn(x, p.opts.DB, p.opts.Coll)
}

// openOn runs the pipeline on a namespace.
func (p *Pipeline) openOn(x *Exec, db, coll string) (Iterator, error) {
	if s, ok := p.first().(*specialStage); ok && s.ofIndexes() {
		under, _, err := p.Resolved(x)
		if err != nil {
			return nil, err
		}
		return under.Run(x, Docs())
	}
	if p.IsSource() {
		return p.Run(x, Docs())
	}
	ns, err := p.resolve(x, db, coll)
	if err != nil {
		return nil, err
	}
	if ns.view != nil {
		if !x.enterView(maxViewDepth) {
			return nil, viewsTooDeep()
		}
		defer x.leaveView()
		return ns.view.openOn(x, ns.DB, ns.Coll)
	}
	l := p.Leading()
	if err := l.Bind(x.Env); err != nil {
		return nil, err
	}
	src, err := x.Host.Open(x, p.request(&l, ns.DB, ns.Coll))
	if err != nil {
		return nil, err
	}
	return p.behind(l, src).Run(x, src)
}

// Resolved is the pipeline over the collection that stands under all the views
// that p reads through, and the name of that collection.
func (p *Pipeline) Resolved(x *Exec) (*Pipeline, Namespace, error) {
	out, db, coll := p, p.opts.DB, p.opts.Coll
	for range maxViewDepth {
		ns, err := out.resolve(x, db, coll)
		if err != nil || ns.view == nil {
			return out.of(ns.Namespace), ns.Namespace, err
		}
		out, db, coll = ns.view, ns.DB, ns.Coll
	}
	return nil, Namespace{}, viewsTooDeep()
}

// of makes p, if it tells of a collection's indexes, tell of those of ns.
func (p *Pipeline) of(ns Namespace) *Pipeline {
	s, ok := p.first().(*specialStage)
	if !ok || !s.ofIndexes() || s.special.Coll == ns.Coll {
		return p
	}
	told := *s
	told.special.Coll = ns.Coll
	out := *p
	out.stages = append([]stage{&told}, p.stages[1:]...)
	return &out
}

func viewsTooDeep() error {
	return mongoerr.Newf(mongoerr.ViewDepthLimitExceeded, "View depth too deep or view cycle detected; maximum depth is %d", maxViewDepth)
}

// resolved is a namespace with, if it is a view, the pipeline over the
// view's collection.
type resolved struct {
	Namespace
	view *Pipeline
}

func (p *Pipeline) resolve(x *Exec, db, coll string) (resolved, error) {
	ns, err := x.Host.Resolve(db, coll)
	if err != nil {
		return resolved{}, err
	}
	if ns.DB == "" {
		ns.DB, ns.Coll = db, coll
	}
	if ns.Pipeline == nil {
		return resolved{Namespace: ns}, nil
	}
	view, err := p.before(ns.Pipeline)
	return resolved{Namespace: ns, view: view}, err
}

// Run runs all stages over src.
func (p *Pipeline) Run(x *Exec, src Iterator) (Iterator, error) {
	if s, ok := src.(Source); ok {
		src = s.Iterator
	}
	it, n := p.overPacks(x, src)
	if n == 0 {
		it = x.interruptible(src)
	} else {
		it = x.measure(p.stages[n-1], it)
	}
	for _, s := range p.stages[n:] {
		next, err := s.open(x, it)
		if err != nil {
			it.Close()
			return nil, err
		}
		it = x.measure(s, next)
	}
	return it, nil
}

// overPacks opens the stages at the head of the pipeline that packs can
// answer. It returns how many these are, 0 if none.
func (p *Pipeline) overPacks(x *Exec, src Iterator) (it Iterator, n int) {
	packs, ok := src.(Packs)
	if !ok {
		return nil, 0
	}
	shared, time := packs.PackFields()
	plan := planPacks(p.stages, shared, time)
	if plan == nil {
		return nil, 0
	}
	return plan.open(x, packs), plan.replaces()
}

// Apply runs the pipeline on one document, as an update does: every stage of
// such a pipeline gives one document for each.
func (p *Pipeline) Apply(x *Exec, d value.Doc) (value.Doc, error) {
	for _, s := range p.stages {
		t, ok := s.(transformer)
		if !ok {
			return nil, mongoerr.Newf(mongoerr.InvalidOptions, "%s is not allowed to be used within an update", s.name())
		}
		var err error
		if d, err = t.transform(x, d); err != nil {
			return nil, err
		}
	}
	return d, nil
}
