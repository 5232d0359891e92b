package lookup

import (
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
)

// lookupSource is a pipeline on the foreign collection of a $lookup, with everything
// that can be computed once and used for each document.
type lookupSource struct {
	p      *pipeline.Pipeline
	l      pipeline.Leading
	rest   [2]*pipeline.Pipeline // the stages behind the source: [0] if it is not sorted, [1] if it is
	joined *pipeline.Pipeline    // the pipeline with the stages of a view in front
	ready  bool
}

func newLookupSource(p *pipeline.Pipeline) *lookupSource { return &lookupSource{p: p} }

// make computes what the source may take over.
func (s *lookupSource) make() {
	if s.ready {
		return
	}
	s.l, s.ready = s.p.Leading(), true
	if s.l.Last { // only for the main collection
		s.l.Distinct, s.l.Last = "", false
	}
	for i := range s.rest {
		s.rest[i] = s.p.Rest(s.l, i == 1)
	}
}

// behind runs the stages that the source did not take over.
func (s *lookupSource) behind(it *lookupIterator, src stage.Source) (stage.Iterator, error) {
	rest := s.rest[0]
	if src.Sorted {
		rest = s.rest[1]
	}
	if len(rest.Stages()) == 0 {
		return it.examined(src.Iterator), nil
	}
	return rest.Run(it.inner, it.examined(src.Iterator))
}

// run runs a pipeline on the other collection.
func (it *lookupIterator) run(s *lookupSource) (stage.Iterator, error) {
	if it.s.from == "" || s.p.IsSource() {
		return s.p.Run(it.inner, stage.Docs())
	}
	if err := it.resolve(); err != nil {
		return nil, err
	}
	if it.ns.View != nil {
		return it.runOnView(s)
	}
	s.make()
	l := s.l
	if err := l.Bind(it.inner.Env); err != nil {
		return nil, err
	}
	src, err := it.inner.Host.Open(it.inner, s.p.Request(&l, it.ns.DB, it.ns.Coll))
	if err != nil {
		return nil, err
	}
	return s.behind(it, src)
}

// resolve finds out whether the foreign namespace is a collection or a view.
func (it *lookupIterator) resolve() error {
	if it.ns != nil {
		return nil
	}
	ns, err := it.s.part(nil).Resolve(it.inner, it.s.db, it.s.from)
	if err == nil {
		it.ns = &ns
	}
	return err
}

func (it *lookupIterator) runOnView(s *lookupSource) (stage.Iterator, error) {
	if s.joined == nil {
		joined, err := pipeline.Optimize(it.s.p, append(append([]stage.Stage(nil), it.ns.View.Stages()...), s.p.Stages()...))
		if err != nil {
			return nil, err
		}
		s.joined = it.s.part(joined)
	}
	return s.joined.OpenOn(it.inner, it.ns.DB, it.ns.Coll)
}

// runSlot runs the pipeline of a slot with the slot's current value.
func (it *lookupIterator) runSlot(s *slot) (stage.Iterator, error) {
	if err := it.ask(s); err != nil {
		return nil, err
	}
	switch {
	case s.prepared == nil && s.operand != nil:
		return it.run(it.whole)
	case s.prepared == nil:
		return it.runEqual(s)
	}
	if host, ok := s.prepared.(stage.Scanned); ok {
		return it.runScanned(s, host)
	}
	src, err := s.prepared.Open()
	if err != nil {
		return nil, err
	}
	return s.src.behind(it, src)
}

// ask calls prepareSlot once.
func (it *lookupIterator) ask(s *slot) error {
	if s.requested {
		return nil
	}
	s.requested = true
	return it.prepareSlot(s)
}

// prepareSlot asks the host to plan the request of a slot once.
func (it *lookupIterator) prepareSlot(s *slot) error {
	h, ok := it.inner.Host.(stage.Preparer)
	if !ok || it.s.from == "" || s.src.p.IsSource() {
		return nil
	}
	if err := it.resolve(); err != nil || it.ns.View != nil {
		return err
	}
	s.src.make()
	if s.src.l.Near != nil || s.src.l.Sort != nil {
		return nil
	}
	var err error
	s.prepared, err = h.Prepare(it.inner, s.src.p.Request(&s.src.l, it.ns.DB, it.ns.Coll), s.eq)
	return err
}

// runEqual compiles the equality with the slot's current value as a constant.
func (it *lookupIterator) runEqual(s *slot) (stage.Iterator, error) {
	m, err := flow.NewMatch(it.s.p, equals(it.s.foreign, s.eq.Value))
	if err != nil {
		return nil, err
	}
	return it.run(newLookupSource(it.s.part(joinStages(it.s.p, m, it.s.sub.Stages()))))
}
