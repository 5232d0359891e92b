package group

import (
	"bytes"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/query/agg/spill"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// accumulating is the part that $group and $bucketAuto share: they group documents by
// the value of an expression, and each group becomes a document of accumulated fields.
type accumulating struct {
	By       *expr.Expr
	Fields   []*Accumulation
	Collator value.Collator
}

// addField compiles one accumulated field.
func (s *accumulating) addField(p *stage.Parser, name string, v value.Value) (*Accumulation, error) {
	a, err := accumulation(p, name, v)
	if err == nil {
		s.Fields = append(s.Fields, a)
	}
	return a, err
}

// appendFields writes the accumulated fields as explain shows them.
func (s *accumulating) appendFields(b *value.Builder) {
	for _, a := range s.Fields {
		b.Append(a.field, a.Spec())
	}
}

func (s *accumulating) Deps(d *stage.Deps) stage.Reach {
	s.By.Deps(d.Add, d.All)
	for _, a := range s.Fields {
		a.Deps(d)
	}
	return stage.SeesNone
}

func (s *accumulating) Effect() stage.Effect { return stage.Effect{Opaque: true} }

func (*accumulating) AppendStats(b *value.Builder, st *stage.Stats) { st.AppendDisk(b) }

// Stage is $group.
type Stage struct {
	accumulating
	slots bool // mongod's slot-based engine runs it: see FindSlots
}

// Parse compiles $group.
func Parse(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(15947, "a group's fields must be specified in an object")
	}
	s := &Stage{accumulating: accumulating{Collator: p.Collation}}
	for k, f := range v.Doc().All() {
		if k == "_id" {
			if s.By != nil {
				return nil, mongoerr.New(15948, "a group's _id may only be specified once")
			}
			if err := checkGroupKey(f); err != nil {
				return nil, err
			}
			e, err := p.Expr(f)
			if err != nil {
				return nil, err
			}
			s.By = e
			continue
		}
		if _, err := s.addField(p, k, f); err != nil {
			return nil, err
		}
	}
	if s.By == nil {
		return nil, mongoerr.New(15955, "a group specification must include an _id")
	}
	return []stage.Stage{s}, nil
}

// checkGroupKey refuses an _id made of fields that looks like the inclusions
// and exclusions of a $project: a constant number or boolean as a field.
func checkGroupKey(v value.Value) error {
	if name := firstName(v); v.Kind() != value.KindDocument || strings.HasPrefix(name, "$") {
		return nil
	}
	for _, f := range v.Doc().All() {
		if f.IsNumber() || f.Kind() == value.KindBool {
			return mongoerr.New(17390, "$group does not support inclusion-style expressions")
		}
	}
	return nil
}

func firstName(v value.Value) string {
	name, _ := v.Doc().First()
	return name
}

// Name is the name of the stage.
func (s *Stage) Name() string { return "$group" }

// Spec is the stage as explain shows it.
func (s *Stage) Spec() value.Value {
	b := value.NewBuilder().Append("_id", s.By.Value())
	s.appendFields(b)
	return value.Document(b.Doc())
}

// Open runs the stage.
func (s *Stage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Lazy(src, func() (stage.Iterator, error) {
		g := s.Begin(x)
		if err := g.AddAll(src); err != nil {
			return nil, g.Failed(err)
		}
		src.Close()
		return g.Finish()
	}), nil
}

// OfFirst returns a copy of the $group that has $first in place of all accumulators.
func (s *Stage) OfFirst() *Stage {
	g := *s
	g.Fields = slices.Clone(s.Fields)
	for i, a := range s.Fields {
		first := *a
		first.build = func(int64) accumulate.Accumulator { return accumulate.NewFirst() }
		g.Fields[i] = &first
	}
	return &g
}

// group is one group: its key, and a state for each field.
type group struct {
	id     value.Value
	states []accumulate.Accumulator
}

// Run is one run of a $group.
type Run struct {
	x      *stage.Exec
	s      *Stage
	groups groupTable
	order  []*group // the groups in the order of their first documents
	inputs inputs
	size   int64
	limit  int64 // the limit of size
	claim  stage.Claim
	store  spill.Store
}

// Begin begins a run of the $group.
func (s *Stage) Begin(x *stage.Exec) *Run {
	return &Run{
		x: x, s: s, groups: newGroupTable(s.Collator), inputs: newInputs(s), limit: x.Limit(x.Limits.Group), store: spill.Store{Dir: x.TempDir},
	}
}

// AddAll adds all documents of an iterator.
func (g *Run) AddAll(it stage.Iterator) error { return stage.Each(it, g.add) }

// Failed releases what the run holds, after an error.
func (g *Run) Failed(err error) error {
	_ = g.store.Close()
	return g.s.slotError(err)
}

// Finish gives the groups once all documents are added.
func (g *Run) Finish() (stage.Iterator, error) {
	if g.store.Runs() > 0 {
		return g.merge()
	}
	return &groupIterator{g: g}, nil
}

func (g *Run) add(d value.Doc) error {
	if err := g.x.Env.Weigh(64 * len(g.s.Fields)); err != nil {
		return err
	}
	in := &g.inputs
	in.read(d)
	id, err := in.by.eval(in, g.x.Env, d)
	if err != nil {
		return err
	}
	grp, err := g.groupOf(id)
	if err != nil {
		return err
	}
	for i, a := range g.s.Fields {
		st := grp.states[i]
		if !a.grows {
			if err := g.feed(i, a, st, d); err != nil {
				return err
			}
			continue
		}
		before := st.Size()
		if err := g.feed(i, a, st, d); err != nil {
			return err
		}
		g.size += int64(st.Size() - before)
	}
	return g.check()
}

// feed adds a document to the state of a field.
func (g *Run) feed(i int, a *Accumulation, st accumulate.Accumulator, d value.Doc) error {
	if a.Arg == nil || a.SortBy != nil {
		return a.feed(g.x, st, d, g.s.Collator)
	}
	v, err := g.inputs.args[i].eval(&g.inputs, g.x.Env, d)
	if err != nil {
		return err
	}
	return st.Add(v)
}

// groupOf finds the group of a key, or begins it.
func (g *Run) groupOf(id value.Value) (*group, error) {
	if id.IsMissing() {
		id = value.Null()
	}
	if grp := g.groups.find(id); grp != nil {
		return grp, nil
	}
	return g.begin(id)
}

// AddEach calls add for each field of the group of a key, with the number of the field
// and its accumulator.
func (g *Run) AddEach(id value.Value, add func(i int, acc accumulate.Accumulator) error) error {
	grp, err := g.groupOf(id)
	if err != nil {
		return err
	}
	for i, acc := range grp.states {
		before := acc.Size()
		if err := add(i, acc); err != nil {
			return err
		}
		g.size += int64(acc.Size() - before)
	}
	return g.check()
}

// check spills the groups if they are too large.
func (g *Run) check() error {
	if g.size > g.limit {
		return g.spill()
	}
	return g.claim.Grow(g.x, g.size)
}

// begin makes a new group.
func (g *Run) begin(id value.Value) (*group, error) {
	grp := &group{id: id.Clone()}
	if err := g.startStates(grp); err != nil {
		return nil, err
	}
	for _, st := range grp.states {
		g.size += int64(st.Size())
	}
	g.size += int64(g.groups.add(grp) + len(id.Bytes()) + 160)
	g.order = append(g.order, grp)
	return grp, nil
}

func (g *Run) startStates(grp *group) error {
	grp.states = make([]accumulate.Accumulator, len(g.s.Fields))
	for i, a := range g.s.Fields {
		st, err := a.Start(g.x, grp.id)
		if err != nil {
			return err
		}
		grp.states[i] = st
	}
	return nil
}

// spill writes all groups as a run sorted by key and forgets them.
func (g *Run) spill() error {
	if !g.x.AllowDiskUse {
		return mongoerr.New(mongoerr.QueryExceededMemoryLimitNoDiskUseAllowed,
			"Exceeded memory limit for $group, but didn't allow external sort. Pass allowDiskUse:true to opt in.")
	}
	keys := g.sorted()
	before := g.store.Size()
	b := value.NewBuilder()
	var buf []byte
	err := g.store.Write(len(g.order), func(i int) (key, payload []byte) {
		grp := g.order[i]
		b.Reset(buf[:0])
		b.Append("_id", grp.id).StartArray("states")
		for _, st := range grp.states {
			b.Append("", st.Partial())
		}
		buf = b.Doc()
		return keys[i], buf
	})
	for _, grp := range g.order {
		for _, st := range grp.states {
			if f, ok := st.(finisher); ok && f.Failed() != nil {
				return f.Failed()
			}
		}
	}
	if err != nil {
		return stage.DiskError(err)
	}
	g.x.Spilled(g.s, g.store.Size()-before)
	g.groups.clear()
	clear(g.order) // else the groups would be in use until others take their place
	g.order, g.size = g.order[:0], 0
	return nil
}

// sorted sorts the groups by their keys, and returns these.
func (g *Run) sorted() [][]byte {
	keys := make([][]byte, len(g.order))
	at := make([]int, len(g.order))
	for i, grp := range g.order {
		keys[i], at[i] = value.AppendKeyWith(nil, grp.id, g.s.Collator), i
	}
	slices.SortFunc(at, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	groups, sorted := make([]*group, len(at)), make([][]byte, len(at))
	for i, from := range at {
		groups[i], sorted[i] = g.order[from], keys[from]
	}
	copy(g.order, groups)
	return sorted
}

// merge joins the parts of each group from all runs.
func (g *Run) merge() (it stage.Iterator, err error) {
	defer func() {
		if err != nil {
			_ = g.store.Close()
		}
	}()
	if err := g.spill(); err != nil {
		return nil, err
	}
	m, err := g.store.Merge()
	if err != nil {
		return nil, stage.DiskError(err)
	}
	key, payload, more, err := m.Next()
	if err != nil {
		return nil, stage.DiskError(err)
	}
	return &mergeIterator{store: &g.store, next: func() (value.Doc, error) {
		if !more {
			return nil, nil
		}
		own := string(key)
		grp := &group{id: value.Doc(payload).Lookup("_id")}
		if err := g.startStates(grp); err != nil {
			return nil, err
		}
		for more && string(key) == own {
			for i, partial := range stage.Enumerate(value.Doc(payload).Lookup("states").Doc()) {
				if err := grp.states[i].Merge(partial); err != nil {
					return nil, err
				}
			}
			if key, payload, more, err = m.Next(); err != nil {
				return nil, stage.DiskError(err)
			}
		}
		d, err := g.s.result(grp)
		if err != nil {
			return nil, err
		}
		return d, g.x.Tick()
	}}, nil
}

// appender is an accumulator whose result may be large, so that it is not built on its own.
type appender interface {
	AppendTo(b *value.Builder, name string)
}

// result is the document of a finished group.
func (s *Stage) result(grp *group) (value.Doc, error) {
	var b value.Builder
	b.Reset(make([]byte, 0, 64))
	b.Append("_id", grp.id)
	for i, a := range s.Fields {
		if long, ok := grp.states[i].(appender); ok {
			long.AppendTo(&b, a.field)
			continue
		}
		v, err := resultOf(grp.states[i])
		if err != nil {
			return nil, err
		}
		b.Append(a.field, v)
	}
	return b.Doc(), nil
}

// mergeIterator reads from a store and closes it.
type mergeIterator struct {
	store *spill.Store
	next  func() (value.Doc, error)
}

func (it *mergeIterator) Next() (value.Doc, error) { return it.next() }

func (it *mergeIterator) Close() { _ = it.store.Close() }

// groupIterator gives the groups in the order in which they came.
type groupIterator struct {
	g *Run
	i int
}

func (it *groupIterator) Next() (value.Doc, error) {
	if it.i >= len(it.g.order) {
		return nil, nil
	}
	grp := it.g.order[it.i]
	it.g.order[it.i] = nil
	it.i++
	it.g.x.Env.Meta = expr.Meta{}
	d, err := it.g.s.result(grp)
	if err != nil {
		return nil, err
	}
	grp.states = nil // the table of groups has it still
	return d, it.g.x.Tick()
}

func (it *groupIterator) Close() { it.g.order, it.g.groups = nil, groupTable{} }
