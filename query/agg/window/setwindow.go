package window

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// windowStage is $setWindowFields on input that is sorted by partition and
// sortBy.
type windowStage struct {
	partitionBy *expr.Expr // nil: one partition
	sortBy      order.Pattern
	outputs     []*windowOutput
	setter      *stage.Setter // the setter of the outputs
}

// windowOutput is one field that the stage computes.
type windowOutput struct {
	path string
	f    *windowFunction
}

// partitionKey is the field that has the value of partitionBy while the documents
// are sorted, unless partitionBy is a plain path.
const partitionKey = "__internal_setWindowFields_partition_key"

// ParseSetWindowFields compiles $setWindowFields.
func ParseSetWindowFields(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "the $setWindowFields stage specification must be an object, found %s", v.Kind())
	}
	s := &windowStage{}
	var by, sortBy, output value.Value
	for k, f := range v.Doc().All() {
		if f.Kind() == value.KindNull && (k == "sortBy" || k == "output") {
			continue // as if it were not there
		}
		switch k {
		case "partitionBy":
			by = f
		case "sortBy":
			sortBy = f
		case "output":
			output = f
		default:
			return nil, stage.UnknownField("$setWindowFields", k)
		}
		if k != "partitionBy" && f.Kind() != value.KindDocument {
			return nil, stage.WrongType("$setWindowFields", k, f, "object")
		}
	}
	if output.IsMissing() {
		return nil, stage.MissingField("$setWindowFields", "output")
	}
	var err error
	if !by.IsMissing() {
		if s.partitionBy, err = p.Expr(by); err != nil {
			return nil, err
		}
	}
	if !sortBy.IsMissing() && sortBy.Doc().IsEmpty() {
		s.sortBy = order.Pattern{}
	} else if !sortBy.IsMissing() {
		if s.sortBy, err = order.ParsePattern(sortBy.Doc()); err != nil {
			return nil, err
		}
	}
	if err := s.parseOutputs(p, output.Doc()); err != nil {
		return nil, err
	}
	if !sortBy.IsMissing() && sortBy.Doc().IsEmpty() && s.isWhole() { // there is nothing to sort by
		if _, err := order.ParsePattern(sortBy.Doc()); err != nil {
			return nil, err
		}
	}
	return s.desugar(p)
}

// isWhole reports whether all documents are one partition.
func (s *windowStage) isWhole() bool {
	if s.partitionBy == nil {
		return true
	}
	_, constant := s.partitionBy.Const()
	return constant
}

func (s *windowStage) parseOutputs(p *stage.Parser, d value.Doc) error {
	var paths []string
	taken := map[string]bool{} // paths, and with false what they are within
	for k, f := range d.All() {
		if err := stage.CheckFieldPath(k); err != nil {
			return err
		}
		if !takePath(taken, k) {
			return mongoerr.New(6307900, "$setWindowFields 'output' specification contains two conflicting paths")
		}
		if f.Kind() != value.KindDocument {
			return mongoerr.Newf(mongoerr.FailedToParse, "The field '%s' must be an object", k)
		}
		fn, err := function(p, f.Doc(), s.sortBy)
		if err != nil {
			return err
		}
		paths = append(paths, strings.Clone(k))
		s.outputs = append(s.outputs, &windowOutput{path: paths[len(paths)-1], f: fn})
	}
	s.setter = stage.NewSetter(paths)
	return nil
}

// takePath adds a path to those that are taken. It returns false if one of them overlaps it.
func takePath(taken map[string]bool, path string) bool {
	if _, known := taken[path]; known {
		return false
	}
	for i := range path {
		if path[i] == '.' {
			if taken[path[:i]] {
				return false
			}
			taken[path[:i]] = false
		}
	}
	taken[path] = true
	return true
}

// desugar adds the stages that sort the input before the stage.
func (s *windowStage) desugar(p *stage.Parser) ([]stage.Stage, error) {
	var before, after []stage.Stage
	keys := value.NewBuilder()
	path := ""
	if s.partitionBy != nil {
		if c, ok := s.partitionBy.Const(); ok {
			if c.Kind() == value.KindArray {
				return nil, arrayPartition()
			}
			s.partitionBy = nil
		}
	}
	if s.partitionBy != nil {
		var plain bool
		var err error
		if path, plain = s.partitionBy.FieldPath(); !plain {
			path = partitionKey
			set := value.NewDoc(partitionKey, s.partitionBy.Value())
			if before, err = flow.ParseAddFields(p, value.Document(set)); err != nil {
				return nil, err
			}
			if after, err = flow.ParseUnset(p, value.String(partitionKey)); err != nil {
				return nil, err
			}
			if s.partitionBy, err = p.Expr(value.String("$" + partitionKey)); err != nil {
				return nil, err
			}
		}
		keys.Int32(path, 1)
	}
	sortBy := s.sortBy.Doc()
	it := sortBy.Iter()
	for it.Next() {
		if it.Key() != path {
			keys.Raw(it.Element())
		}
	}
	if d := keys.Doc(); !d.IsEmpty() {
		sort, err := order.Parse(p, value.Document(d))
		if err != nil {
			return nil, err
		}
		before = append(before, sort...)
	}
	return append(append(before, s), after...), nil
}

func arrayPartition() error {
	return mongoerr.New(mongoerr.TypeMismatch, "An expression used to partition cannot evaluate to value of type array")
}

func (s *windowStage) Name() string { return "$_internalSetWindowFields" }

func (s *windowStage) Spec() value.Value {
	b := value.NewBuilder()
	if s.partitionBy != nil {
		b.Append("partitionBy", s.partitionBy.Value())
	}
	if s.sortBy != nil {
		b.Document("sortBy", s.sortBy.Doc())
	}
	b.StartDocument("output")
	for _, o := range s.outputs {
		b.Append(o.path, o.f.spec())
	}
	return value.Document(b.Doc())
}

func (s *windowStage) Deps(d *stage.Deps) stage.Reach {
	if s.partitionBy != nil {
		s.partitionBy.Deps(d.Add, d.All)
	}
	s.sortBy.Deps(d)
	for _, o := range s.outputs {
		o.f.deps(d)
		if top, _, nested := strings.Cut(o.path, "."); nested {
			d.Add(top)
		}
	}
	return stage.SeesAll
}

func (s *windowStage) Effect() stage.Effect { return stage.Effect{Opaque: true} }

func (*windowStage) AppendStats(b *value.Builder, st *stage.Stats) { st.AppendDisk(b) }

// windowPartition is one partition while it is computed.
type windowPartition struct {
	x     *stage.Exec
	docs  windowDocs
	metas []expr.Meta
	times []value.Value // values of a single sortBy field
}

func (s *windowStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return &windowIterator{x: x, s: s, src: src, results: make([]windowResult, len(s.outputs)), values: make([]value.Value, len(s.outputs))}, nil
}

// windowIterator reads a partition and returns its documents with the results of
// the operators.
type windowIterator struct {
	x       *stage.Exec
	s       *windowStage
	src     stage.Iterator
	next    value.Doc // first document of the next partition
	meta    expr.Meta
	started bool
	key     []byte // the key of the present partition
	nextKey []byte
	part    *windowPartition
	results []windowResult // the results by output
	values  []value.Value  // the values for the present document, by output
	i       int
}

func (it *windowIterator) Next() (value.Doc, error) {
	for it.part == nil || it.i >= it.part.docs.len() {
		more, err := it.read()
		if err != nil || !more {
			return nil, err
		}
		for k, o := range it.s.outputs {
			it.results[k] = o.f.eval(o.f, it.part)
		}
	}
	d, err := it.part.docs.at(it.i)
	if err != nil {
		return nil, err
	}
	for k := range it.s.outputs {
		if it.values[k], err = it.results[k](it.i); err != nil {
			return nil, err
		}
	}
	d = it.s.setter.Set(d, it.values)
	it.x.Env.Meta = it.part.metas[it.i]
	it.i++
	return d, it.x.Tick()
}

func (it *windowIterator) Close() {
	it.src.Close()
	if it.part != nil {
		it.part.docs.close()
	}
}

// pull reads a document and the key of its partition.
func (it *windowIterator) pull() error {
	d, err := it.src.Next()
	it.next, it.meta = d, it.x.Env.Meta
	if d == nil || err != nil || it.s.partitionBy == nil {
		return err
	}
	v, err := it.s.partitionBy.Eval(it.x.Env, d)
	if err != nil {
		return err
	}
	if v.Kind() == value.KindArray {
		return arrayPartition()
	}
	if v.IsMissing() {
		v = value.Null()
	}
	it.nextKey = value.AppendKeyWith(it.nextKey[:0], v, it.x.Env.Collation)
	return nil
}

// read reads the next partition; it returns false after the last one.
func (it *windowIterator) read() (bool, error) {
	if !it.started {
		it.started = true
		if err := it.pull(); err != nil {
			return false, err
		}
	}
	if it.next == nil {
		return false, nil
	}
	if it.part != nil {
		it.part.docs.close()
	}
	it.part, it.i = &windowPartition{x: it.x, docs: windowDocs{x: it.x, owner: it.s}}, 0
	it.key = append(it.key[:0], it.nextKey...)
	for it.next != nil && string(it.key) == string(it.nextKey) {
		if err := it.part.add(it.s, it.next, it.meta); err != nil {
			return false, err
		}
		if err := it.pull(); err != nil {
			return false, err
		}
	}
	it.part.docs.complete()
	return true, nil
}

func (pt *windowPartition) add(s *windowStage, d value.Doc, m expr.Meta) error {
	if err := pt.docs.add(d); err != nil {
		return err
	}
	pt.metas = append(pt.metas, m)
	if len(s.sortBy) != 1 {
		return nil
	}
	part := s.sortBy[0]
	v := pt.x.Env.Meta.Get(part.Kind)
	if !part.Meta {
		v = expressionPath(d, part.P.Parts())
	}
	if pt.docs.disk != nil {
		v = v.Clone() // a view would keep the document
	}
	pt.times = append(pt.times, v)
	return nil
}

// expressionPath reads a path as an expression does: for arrays on the path it
// collects the values of all elements.
func expressionPath(d value.Doc, parts []string) value.Value {
	v := d.Lookup(parts[0])
	if len(parts) == 1 {
		return v
	}
	switch v.Kind() {
	case value.KindDocument:
		return expressionPath(v.Doc(), parts[1:])
	case value.KindArray:
		var all []value.Value
		for e := range v.Doc().Values() {
			if e.Kind() != value.KindDocument {
				continue
			}
			if w := expressionPath(e.Doc(), parts[1:]); !w.IsMissing() {
				all = append(all, w)
			}
		}
		return value.NewArray(all...)
	}
	return value.Value{}
}
