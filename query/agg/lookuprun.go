package agg

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func (s *lookupStage) open(x *Exec, src Iterator) (Iterator, error) {
	it := &lookupIterator{x: x, s: s, src: src, inner: x.sub(), local: value.ParsePath(s.local)}
	it.prepare()
	return it, nil
}

// lookupIterator is one run of a $lookup.
type lookupIterator struct {
	x     *Exec
	s     *lookupStage
	src   Iterator
	inner *Exec // variables of the sub-pipeline
	local value.Path
	ns    *resolved

	// The stages at the head of the sub-pipeline that use no variable give
	// the same documents for every input: they run once.
	fixed  []stage
	rest   []stage
	cache  []value.Doc
	cached bool

	// With a joined $unwind.
	doc   value.Doc // whose results are being given
	found Iterator
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
	stages := it.s.sub.stages
	n := 0
	for n < len(stages) && !volatile(stages[n]) && !refersTo(stages[n].spec(), names) {
		n++
	}
	if n > 0 || len(stages) == 0 {
		it.fixed, it.rest = stages[:n], stages[n:]
	}
}

// volatile reports whether a stage may give different results each time.
func volatile(s stage) bool {
	if _, ok := s.(*sampleStage); ok {
		return true
	}
	return mentions(s.spec(), "$rand") || mentions(s.spec(), "$sampleRate")
}

// mentions reports whether a field of that name stands anywhere in v.
func mentions(v value.Value, name string) bool {
	if v.Kind() != value.KindDocument && v.Kind() != value.KindArray {
		return false
	}
	for k, e := range v.Doc().All() {
		if k == name || mentions(e, name) {
			return true
		}
	}
	return false
}

func (it *lookupIterator) Next() (value.Doc, error) {
	if it.s.unwind != nil {
		return it.nextUnwound()
	}
	d, err := it.src.Next()
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
	return setPath(d, it.s.asParts, array), nil
}

// collect makes the array of all documents found.
func (it *lookupIterator) collect(found Iterator) (value.Value, error) {
	defer found.Close()
	var docs []value.Value
	size, limit := int64(0), orDefault(it.x.Limits.LookupDoc)
	for {
		d, err := found.Next()
		if err != nil {
			return value.Value{}, err
		}
		if d == nil {
			return value.NewArray(docs...), nil
		}
		if err := it.inner.tick(); err != nil {
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
				it.n++
				return it.s.unwind.indexed(setPath(it.doc, it.s.asParts, value.Document(f)), value.Int64(it.n-1)), nil
			}
			it.found.Close()
			it.found = nil
			if it.n == 0 && it.s.unwind.preserve {
				return it.s.unwind.indexed(setPath(it.doc, it.s.asParts, value.Value{}), value.Null()), nil
			}
		}
		d, err := it.src.Next()
		if d == nil || err != nil {
			return nil, err
		}
		it.doc, it.n = d, 0
		if it.found, err = it.lookup(d); err != nil {
			return nil, err
		}
	}
}

// lookup finds the documents that belong to d.
func (it *lookupIterator) lookup(d value.Doc) (Iterator, error) {
	if err := it.s.let.Bind(it.x.Env, it.inner.Env, d); err != nil {
		return nil, err
	}
	if it.s.local != "" {
		m, err := it.s.p.newMatch(equalityFilter(it.local, it.s.foreign, d))
		if err != nil {
			return nil, err
		}
		return it.run(joinStages(it.s.p, m, it.s.sub.stages))
	}
	if it.fixed == nil && it.rest == nil {
		return it.run(it.s.sub.stages)
	}
	if !it.cached {
		if err := it.fill(); err != nil {
			return nil, err
		}
	}
	if it.cached {
		return it.s.part(it.rest).Run(it.inner, Docs(it.cache...))
	}
	return it.run(it.s.sub.stages)
}

// fill runs the fixed stages and keeps their documents, unless these are too
// many.
func (it *lookupIterator) fill() error {
	found, err := it.run(it.fixed)
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
		if size += int64(len(d)) + 24; size > it.x.memoryLimit() {
			it.cache, it.fixed, it.rest = nil, nil, nil
			return nil
		}
		it.cache = append(it.cache, d)
	}
}

// part is a pipeline of some of the sub-pipeline's stages.
func (s *lookupStage) part(stages []stage) *Pipeline {
	return &Pipeline{stages: stages, opts: s.p.Options}
}

// run runs stages on the other collection.
func (it *lookupIterator) run(stages []stage) (Iterator, error) {
	p := it.s.part(stages)
	if it.s.from == "" || p.IsSource() {
		return p.Run(it.inner, Docs())
	}
	if it.ns == nil {
		ns, err := it.s.part(nil).resolve(it.inner, it.s.db, it.s.from)
		if err != nil {
			return nil, err
		}
		it.ns = &ns
	}
	if it.ns.view != nil {
		joined := append(append([]stage(nil), it.ns.view.stages...), stages...)
		joined, err := it.s.p.optimize(joined)
		if err != nil {
			return nil, err
		}
		return it.s.part(joined).openOn(it.inner, it.ns.DB, it.ns.Coll)
	}
	l := p.Leading()
	if err := l.Bind(it.inner.Env); err != nil {
		return nil, err
	}
	src, err := it.inner.Host.Open(it.inner, l.request(it.ns.DB, it.ns.Coll, p.opts))
	if err != nil {
		return nil, err
	}
	rest := p.Rest(l, src.Sorted)
	if len(rest.stages) == 0 {
		return it.examined(src), nil
	}
	return rest.Run(it.inner, it.examined(src))
}

// examined counts the documents read on the other side, for explain.
func (it *lookupIterator) examined(src Iterator) Iterator {
	if it.x.parent != nil {
		return src
	}
	st := it.x.stat(it.s)
	return nextFunc{src: src, next: func() (value.Doc, error) {
		d, err := src.Next()
		if d != nil {
			st.Examined++
		}
		return d, err
	}}
}

func (it *lookupIterator) Close() {
	it.src.Close()
	if it.found != nil {
		it.found.Close()
	}
	it.cache = nil
}

// joinStages puts the equality in front of the user's stages, but behind
// $documents, and joins it with a $match at their head.
func joinStages(p *parser, m *matchStage, stages []stage) []stage {
	if len(stages) == 0 {
		return []stage{m}
	}
	if isSource(stages[0]) {
		return append([]stage{stages[0], m}, stages[1:]...)
	}
	if first, ok := stages[0].(*matchStage); ok {
		if joined, err := p.newMatch(both(m.filter, first.filter)); err == nil {
			return append([]stage{joined}, stages[1:]...)
		}
	}
	return append([]stage{m}, stages...)
}

// both is the filter that asks for two.
func both(a, b value.Doc) value.Doc {
	switch {
	case a.IsEmpty():
		return b
	case b.IsEmpty():
		return a
	}
	return value.NewDoc("$and", value.NewArray(value.Document(a), value.Document(b)))
}

// equalityFilter asks for the documents whose foreign field equals any of
// the values at the local path.
func equalityFilter(local value.Path, foreign string, d value.Doc) value.Doc {
	var values []value.Value
	plain := true
	eachValue(d, local.Parts(), func(v value.Value) {
		if k := v.Kind(); k == value.KindRegex || k == value.KindUndefined {
			plain = false
		}
		values = append(values, v)
	})
	if len(values) == 0 {
		values = []value.Value{value.Null()}
	}
	if len(values) == 1 {
		return equals(foreign, values[0])
	}
	if plain {
		in := value.Document(value.NewDoc("$in", value.NewArray(values...)))
		return value.NewDoc(foreign, in)
	}
	// $in would take regular expressions for patterns.
	branches := make([]value.Value, len(values))
	for i, v := range values {
		branches[i] = value.Document(equals(foreign, v))
	}
	return value.NewDoc("$or", value.NewArray(branches...))
}

// equals asks for equality with v; undefined equals only itself.
func equals(path string, v value.Value) value.Doc {
	op, arg := "$eq", v
	if v.Kind() == value.KindUndefined {
		op, arg = "$type", value.Int32(int32(value.KindUndefined))
	}
	return value.NewDoc(path, value.Document(value.NewDoc(op, arg)))
}

// eachValue yields the values at a path, going through arrays on the way
// and into an array at its end.
func eachValue(d value.Doc, parts []string, yield func(value.Value)) {
	v := d.Lookup(parts[0])
	rest := parts[1:]
	switch {
	case len(rest) == 0 && v.Kind() == value.KindArray:
		for e := range v.Doc().Values() {
			yield(e)
		}
	case len(rest) == 0:
		if !v.IsMissing() {
			yield(v)
		}
	case v.Kind() == value.KindDocument:
		eachValue(v.Doc(), rest, yield)
	case v.Kind() == value.KindArray:
		eachElement(v.Doc(), rest, yield)
	}
}

// eachElement goes on inside an array: to the position a number names, and
// into the documents among its elements.
func eachElement(array value.Doc, parts []string, yield func(value.Value)) {
	if i := value.ParsePath(strings.Join(parts, ".")).ArrayIndex(0); i >= 0 {
		v := array.Index(i)
		switch {
		case len(parts) == 1 && v.Kind() == value.KindArray:
			for e := range v.Doc().Values() {
				yield(e)
			}
		case len(parts) == 1 && !v.IsMissing():
			yield(v)
		case len(parts) > 1 && v.Kind() == value.KindDocument:
			eachValue(v.Doc(), parts[1:], yield)
		}
	}
	for e := range array.Values() {
		if e.Kind() == value.KindDocument {
			eachValue(e.Doc(), parts, yield)
		}
	}
}
