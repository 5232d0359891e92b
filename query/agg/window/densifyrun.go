package window

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// partition is the state of $densify for one partition.
type partition struct {
	first  value.Doc   // the partition's fields in its first document, which those made at its end get
	fields value.Doc   // values of the fields in its latest document, which those made before that get: a collation takes several for one
	next   value.Value // first step that has not been met, Missing: none yet
}

// densifying is one run of a $densify. Before a document that is after its
// partition's next step, it returns created ones.
type densifying struct {
	x          *stage.Exec
	s          *densifyStage
	src        stage.Iterator
	path       value.Path
	partitions map[string]*partition
	order      []*partition
	low, high  value.Value // first and last value of all documents (full)
	queue      generator
	done       bool // the source is exhausted
	made       int
	finish     int // partitions finished
	key        []byte
}

// generator creates documents from the next step of a partition up to, but not
// including, a value, and then returns the document with that value.
type generator struct {
	part   *partition
	end    value.Value
	final  value.Doc // nil: none
	active bool
}

func (s *densifyStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return &densifying{x: x, s: s, src: src, path: value.ParsePath(s.field), partitions: map[string]*partition{}}, nil
}

func (g *densifying) Close() { g.src.Close() }

func (g *densifying) Next() (value.Doc, error) {
	for {
		if g.queue.active {
			if d, err := g.generate(); d != nil || err != nil {
				return d, err
			}
			continue
		}
		if g.done {
			if !g.finishNext() {
				return nil, nil
			}
			continue
		}
		d, err := g.src.Next()
		if err != nil {
			return nil, err
		}
		if d == nil {
			g.done = true
			g.prepareFinish()
			continue
		}
		if out, err := g.take(d); out != nil || err != nil {
			return out, err
		}
	}
}

// take handles a document of the source: it returns the document, or starts the
// generator.
func (g *densifying) take(d value.Doc) (value.Doc, error) {
	v := g.path.Get(d)
	if v.IsNullish() {
		return d, nil
	}
	if err := g.check(v); err != nil {
		return nil, err
	}
	p, fresh := g.partition(d)
	switch g.s.bounds {
	case boundsFull:
		if g.low.IsMissing() {
			g.low = v
		}
		g.high = v
		if fresh {
			p.next = g.low
		}
	case boundsPartition:
		if fresh {
			p.next = v
		}
	case boundsExplicit:
		if value.Compare(v, g.s.lower) < 0 {
			return d, nil
		}
		if p.next.IsMissing() {
			p.next = g.s.lower
		}
		if value.Compare(v, g.s.upper) > 0 {
			return g.lead(p, g.s.upper, d)
		}
	}
	return g.lead(p, v, d)
}

// lead creates the documents from the partition's next step to end, and d after
// them.
func (g *densifying) lead(p *partition, end value.Value, d value.Doc) (value.Doc, error) {
	c := value.Compare(p.next, end)
	if c == 0 {
		g.pass(p)
	}
	if c >= 0 {
		return d, nil
	}
	return nil, g.begin(p, end, d)
}

// pass moves on from a step that a document of the source has. The upper bound is
// not a step: it is the end of the range.
func (g *densifying) pass(p *partition) {
	if g.s.bounds != boundsExplicit || value.Compare(p.next, g.s.upper) < 0 {
		p.next = g.s.next(p.next)
	}
}

func (g *densifying) begin(p *partition, end value.Value, final value.Doc) error {
	g.queue = generator{end: end, final: final, part: p, active: true}
	return g.checkPath(p.fields)
}

// checkPath refuses to write a field into a value that is not a document.
func (g *densifying) checkPath(d value.Doc) error {
	for i, part := range g.s.parts {
		v := d.Lookup(part)
		switch {
		case v.Kind() == value.KindArray:
			return mongoerr.New(5733307, "$densify cannot generate fields nested inside arrays")
		case v.Kind() == value.KindDocument:
			d = v.Doc()
			continue
		case i < len(g.s.parts)-1 && !v.IsMissing():
			return mongoerr.New(5733308, "$densify cannot overwrite non-object values with objects")
		}
		return nil
	}
	return nil
}

// generate returns the next created document, and at the end the document of the
// source.
func (g *densifying) generate() (value.Doc, error) {
	q := &g.queue
	p := q.part
	if c := value.Compare(p.next, q.end); c >= 0 {
		q.active = false
		if c == 0 && q.final != nil {
			g.pass(p)
		}
		return q.final, nil
	}
	if g.made++; g.made > maxDensifyDocs {
		return nil, mongoerr.Newf(5897900, "Generated %d documents in $densify, which is over the limit of %d. "+
			"Increase the 'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents", g.made, maxDensifyDocs)
	}
	d := stage.SetPath(p.fields, g.s.parts, p.next)
	p.next = g.s.next(p.next)
	return d, g.x.Tick()
}

// check refuses values of the wrong type.
func (g *densifying) check(v value.Value) error {
	date := v.Kind() == value.KindDateTime
	switch {
	case !date && !v.IsNumber():
		return mongoerr.New(5733201, "Densify field type must be numeric or a date")
	case !date && g.s.unit.name != "":
		return mongoerr.New(6053600, "Encountered numeric densify value in collection when step has a date unit.")
	case date && g.s.unit.name == "":
		return mongoerr.New(6053600, "Encountered date densify value in collection when step does not have a date unit.")
	}
	return nil
}

// partition returns the partition of a document; fresh reports whether it is new.
func (g *densifying) partition(d value.Doc) (p *partition, fresh bool) {
	fields := value.EmptyDoc
	for _, path := range g.s.partitions {
		v := value.ParsePath(path).Get(d)
		fields = stage.SetPath(fields, strings.Split(path, "."), v)
	}
	g.key = value.AppendKeyWith(g.key[:0], value.Document(fields), g.x.Env.Collation)
	p = g.partitions[string(g.key)]
	if p != nil {
		p.fields = fields
		return p, false
	}
	p = &partition{first: fields, fields: fields}
	g.partitions[string(g.key)] = p
	g.order = append(g.order, p)
	return p, true
}

// prepareFinish creates the only partition if there are explicit bounds but no
// input.
func (g *densifying) prepareFinish() {
	if len(g.order) == 0 && g.s.bounds == boundsExplicit && len(g.s.partitions) == 0 {
		g.order = append(g.order, &partition{first: value.EmptyDoc})
	}
}

// finishNext creates the documents after the last one of the next partition.
func (g *densifying) finishNext() bool {
	for g.finish < len(g.order) {
		p := g.order[g.finish]
		p.fields = p.first
		g.finish++
		end := g.s.upper
		switch g.s.bounds {
		case boundsPartition:
			return false
		case boundsFull:
			if len(g.s.partitions) == 0 {
				return false
			}
			end = g.high
			if g.s.onStep(g.high, p.next) {
				end = g.s.next(g.high)
			}
		case boundsExplicit:
			if p.next.IsMissing() {
				p.next = g.s.lower
			}
		}
		if value.Compare(p.next, end) < 0 {
			g.queue = generator{end: end, part: p, active: true}
			return true
		}
	}
	return false
}
