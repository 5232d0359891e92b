package lookup

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

func (s *lookupStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	it := &lookupIterator{x: x, s: s, src: src, inner: x.Sub(), local: value.ParsePath(s.local), whole: newLookupSource(s.sub)}
	it.prepare()
	var err error
	switch {
	case s.local != "":
		it.slot, err = newSlot(s)
	case len(it.fixed) == 0:
		it.slot, err = newExprSlot(s)
	}
	return it, err
}

// lookupIterator is one run of a $lookup.
type lookupIterator struct {
	x     *stage.Exec
	s     *lookupStage
	src   stage.Iterator
	inner *stage.Exec // variables of the sub-pipeline
	local value.Path
	ns    *pipeline.Resolution
	whole *lookupSource // the sub-pipeline
	slot  *slot         // the equality; nil without localField
	batch inputBatch    // inputs that were read together

	// The first stages of the sub-pipeline, up to one that uses a variable, return
	// the same documents for every input. They run once.
	fixed  []stage.Stage
	rest   []stage.Stage
	cache  []value.Doc
	cached bool
	behind *pipeline.Pipeline // the rest

	// With a joined $unwind.
	doc   value.Doc   // the input document whose results are being returned
	place stage.Place // the place in doc for the results
	found stage.Iterator
	n     int64
}

// prepare splits the sub-pipeline into what can be cached and the rest.
func (it *lookupIterator) prepare() {
	if it.s.local != "" {
		return
	}
	names := map[string]bool{}
	if it.s.p.Scope != nil {
		for _, name := range it.s.p.Scope.Names() {
			names[name] = true
		}
	}
	stages := it.s.sub.Stages()
	n := 0
	for n < len(stages) && !volatile(stages[n]) && !flow.RefersTo(stages[n].Spec(), names) {
		n++
	}
	if n > 0 || len(stages) == 0 {
		it.fixed, it.rest = stages[:n], stages[n:]
		it.behind = it.s.part(it.rest)
	}
}

// volatile reports whether a stage may give different results each time.
func volatile(s stage.Stage) bool {
	if _, ok := s.(*flow.Sample); ok {
		return true
	}
	return flow.Mentions(s.Spec(), "$rand") || flow.Mentions(s.Spec(), "$sampleRate")
}

func (it *lookupIterator) Next() (value.Doc, error) {
	if it.s.unwind != nil {
		return it.nextUnwound()
	}
	d, err := it.nextInput()
	if d == nil || err != nil {
		return nil, err
	}
	meta := it.x.Env.Meta
	found, err := it.lookup(d)
	if err != nil {
		return nil, err
	}
	array, err := it.collect(found)
	if err != nil {
		return nil, err
	}
	it.x.Env.Meta = meta
	return stage.SetPath(d, it.s.asParts, array), nil
}

// collect makes the array of all documents found.
func (it *lookupIterator) collect(found stage.Iterator) (value.Value, error) {
	defer found.Close()
	var docs []value.Value
	size, limit := int64(0), stage.OrDefault(it.x.Limits.LookupDoc)
	for {
		d, err := found.Next()
		if err != nil {
			return value.Value{}, err
		}
		if d == nil {
			return value.NewArray(docs...), nil
		}
		if err := it.inner.Tick(); err != nil {
			return value.Value{}, err
		}
		if size += int64(len(d)); size > limit {
			return value.Value{}, mongoerr.Newf(4568, "Total size of documents in %s matching pipeline's $lookup stage exceeds %d bytes", it.s.from, limit)
		}
		docs = append(docs, value.Document(d))
	}
}

// nextUnwound gives one document for each document found.
func (it *lookupIterator) nextUnwound() (value.Doc, error) {
	for {
		if it.found != nil {
			f, err := it.found.Next()
			if err != nil {
				return nil, err
			}
			if f != nil {
				if it.n++; it.n == 1 {
					it.place = stage.NewPlace(it.doc, it.s.asParts)
				}
				return it.s.unwind.Indexed(it.place.With(value.Document(f)), value.Int64(it.n-1)), nil
			}
			it.found.Close()
			it.found = nil
			if it.n == 0 && it.s.unwind.Preserve {
				return it.s.unwind.Indexed(stage.SetPath(it.doc, it.s.asParts, value.Value{}), value.Null()), nil
			}
		}
		d, err := it.nextInput()
		if d == nil || err != nil {
			return nil, err
		}
		it.doc, it.n = d, 0
		if it.found, err = it.lookup(d); err != nil {
			return nil, err
		}
	}
}

// lookup finds the foreign documents that match d.
func (it *lookupIterator) lookup(d value.Doc) (stage.Iterator, error) {
	if err := it.s.let.Bind(it.x.Env, it.inner.Env, d); err != nil {
		return nil, err
	}
	if v := it.batch.value; !v.IsMissing() {
		it.slot.eq.Value = v
		return it.runSlot(it.slot)
	}
	if it.s.local != "" {
		return it.lookupEqual(d)
	}
	if it.slot != nil {
		v, err := it.slot.operand.Eval(it.inner.Env, value.EmptyDoc)
		if err == nil && fits(v) {
			it.slot.eq.Value = v
			return it.runSlot(it.slot)
		}
		return it.run(it.whole)
	}
	if it.fixed == nil && it.rest == nil {
		return it.run(it.whole)
	}
	if !it.cached {
		if err := it.fill(); err != nil {
			return nil, err
		}
	}
	if it.cached {
		return it.behind.Run(it.inner, stage.Docs(it.cache...))
	}
	return it.run(it.whole)
}

// lookupEqual finds the documents whose foreign field equals the local one.
func (it *lookupIterator) lookupEqual(d value.Doc) (stage.Iterator, error) {
	if v, ok := only(d, it.local); ok && it.slot != nil {
		it.slot.eq.Value = v
		return it.runSlot(it.slot)
	}
	if found, ok, err := it.lookupScanned(d); ok || err != nil {
		return found, err
	}
	m, err := flow.NewMatch(it.s.p, equalityFilter(it.local, it.s.foreign, d))
	if err != nil {
		return nil, err
	}
	return it.run(newLookupSource(it.s.part(joinStages(it.s.p, m, it.s.sub.Stages()))))
}

// fill runs the fixed stages and keeps their documents, unless there are too many.
func (it *lookupIterator) fill() error {
	found, err := it.run(newLookupSource(it.s.part(it.fixed)))
	if err != nil {
		return err
	}
	defer found.Close()
	size := int64(0)
	for {
		d, err := found.Next()
		if err != nil {
			return err
		}
		if d == nil {
			it.cached = true
			return nil
		}
		if size += int64(len(d)) + 24; size > it.x.SortLimit() {
			it.cache, it.fixed, it.rest = nil, nil, nil
			return nil
		}
		it.cache = append(it.cache, d)
	}
}

// part is a pipeline of some of the sub-pipeline's stages.
func (s *lookupStage) part(stages []stage.Stage) *pipeline.Pipeline {
	return pipeline.New(stages, &s.p.Options)
}

// examined counts the documents read on the other side, for explain.
func (it *lookupIterator) examined(src stage.Iterator) stage.Iterator {
	if it.x.Nested() {
		return src
	}
	st := it.x.StatsOf(it.s)
	return stage.Pull(src, func() (value.Doc, error) {
		d, err := src.Next()
		if d != nil {
			st.Examined++
		}
		return d, err
	})
}

func (it *lookupIterator) Close() {
	it.src.Close()
	if it.found != nil {
		it.found.Close()
	}
	it.cache, it.batch = nil, inputBatch{}
	if it.slot != nil {
		it.slot.dropTable()
	}
}
