package agg

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// mergeStage is $merge.
type mergeStage struct {
	opaque
	target       MergeTarget
	whenMatched  string // "pipeline" if update is set
	whenNotFound string
	let          *expr.Let
	update       *Pipeline
	source       value.Doc
}

// mergeModes are the combinations of whenMatched and whenNotMatched.
var mergeModes = map[string][]string{
	"fail":         {"insert"},
	"keepExisting": {"insert"},
	"merge":        {"insert", "fail", "discard"},
	"pipeline":     {"insert", "fail", "discard"},
	"replace":      {"insert", "fail", "discard"},
}

// mergeSpec is a $merge being read.
type mergeSpec struct {
	let, pipeline value.Doc
	hasLet        bool
}

func parseMerge(p *parser, v value.Value) ([]stage, error) {
	s := &mergeStage{target: MergeTarget{DB: p.DB}, whenMatched: "merge", whenNotFound: "insert"}
	var m mergeSpec
	switch v.Kind() {
	case value.KindString:
		s.target.Coll = strings.Clone(v.Str())
		s.source = value.NewDoc("into", v)
	case value.KindDocument:
		s.source = v.Doc()
		for k, f := range v.Doc().All() {
			if err := s.option(&m, k, f); err != nil {
				return nil, err
			}
		}
		if !v.Doc().Has("into") {
			return nil, missingField("$merge", "into")
		}
	default:
		return nil, mongoerr.Newf(mongoerr.TypeMismatch, "$merge requires a string or object argument, but found %s", v.Kind())
	}
	if err := checkTarget("$merge", s.target.DB, s.target.Coll, 31319, 31320); err != nil {
		return nil, err
	}
	if !slices.Contains(mergeModes[s.whenMatched], s.whenNotFound) {
		return nil, mongoerr.Newf(51181, "Combination of $merge modes 'whenMatched: %s' and 'whenNotMatched: %s' is not supported", s.whenMatched, s.whenNotFound)
	}
	return []stage{s}, s.compile(p, m)
}

func (s *mergeStage) option(m *mergeSpec, k string, f value.Value) (err error) {
	switch k {
	case "into":
		return s.into(f)
	case "on":
		return s.on(f)
	case "let":
		m.let, err = objectField("$merge", k, f)
		m.hasLet = true
	case "whenMatched":
		switch f.Kind() {
		case value.KindString:
			s.whenMatched = strings.Clone(f.Str())
			if mergeModes[s.whenMatched] == nil || s.whenMatched == "pipeline" {
				return badEnum("$merge.whenMatched", f)
			}
		case value.KindArray:
			s.whenMatched, m.pipeline = "pipeline", f.Doc()
		default:
			return mongoerr.Newf(51191, "$merge 'whenMatched' field  must be either a string or an array, but found %s", f.Kind())
		}
	case "whenNotMatched":
		if s.whenNotFound, err = stringField("$merge", k, f); err == nil && !slices.Contains(mergeModes["merge"], s.whenNotFound) {
			return badEnum("$merge.whenNotMatched", f)
		}
	default:
		return unknownField("$merge", k)
	}
	return err
}

func badEnum(field string, v value.Value) error {
	return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '%s' is not a valid value.", v.Str(), field)
}

func (s *mergeStage) into(f value.Value) (err error) {
	switch f.Kind() {
	case value.KindString:
		s.target.Coll = strings.Clone(f.Str())
		return nil
	case value.KindDocument:
	default:
		return mongoerr.Newf(51178, "$merge 'into' field  must be either a string or an object, but found %s", f.Kind())
	}
	for k, v := range f.Doc().All() {
		switch k {
		case "db":
			s.target.DB, err = stringField("$merge.into", k, v)
		case "coll":
			s.target.Coll, err = stringField("$merge.into", k, v)
		default:
			err = unknownField("$merge.into", k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *mergeStage) on(f value.Value) error {
	switch f.Kind() {
	case value.KindString:
		s.target.On = []string{strings.Clone(f.Str())}
	case value.KindArray:
		for e := range f.Doc().Values() {
			if e.Kind() != value.KindString {
				return mongoerr.Newf(51134, "$merge 'on' array elements must be strings, but found %s", e.Kind())
			}
			if slices.Contains(s.target.On, e.Str()) {
				return mongoerr.Newf(31465, "Found a duplicate field '%s'", e.Str())
			}
			s.target.On = append(s.target.On, strings.Clone(e.Str()))
		}
		if len(s.target.On) == 0 {
			return mongoerr.New(51187, "If explicitly specifying $merge 'on', must include at least one field")
		}
	default:
		return mongoerr.Newf(51186, "$merge 'on' field  must be either a string or an array of strings, but found %s", f.Kind())
	}
	for _, path := range s.target.On {
		if err := checkFieldPath(path); err != nil {
			return err
		}
	}
	return nil
}

// compile compiles the pipeline of whenMatched with its variables; $$new is
// the incoming document.
func (s *mergeStage) compile(p *parser, m mergeSpec) (err error) {
	if s.whenMatched != "pipeline" {
		if m.hasLet {
			return mongoerr.Newf(51199, "Cannot use 'let' variables with 'whenMatched: %s' mode", s.whenMatched)
		}
		return nil
	}
	root := value.String("$$ROOT")
	let := m.let
	if v, ok := let.Get("new"); ok {
		if v.Str() != "$$ROOT" {
			return mongoerr.New(51273, "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'")
		}
	} else if !m.hasLet || s.whenNotFound == "insert" {
		let = setPath(append(value.Doc(nil), orEmpty(let)...), []string{"new"}, root)
	}
	sub := &parser{Options: p.Options}
	sub.Update = true
	if sub.Scope, s.let, err = p.Scope.WithLet(orEmpty(let)); err != nil {
		return err
	}
	s.update, err = sub.compile(m.pipeline)
	return err
}

func orEmpty(d value.Doc) value.Doc {
	if d == nil {
		return value.EmptyDoc
	}
	return d
}

func (s *mergeStage) name() string { return "$merge" }

func (s *mergeStage) spec() value.Value {
	b := value.NewBuilder()
	b.StartDocument("into").String("db", s.target.DB).String("coll", s.target.Coll).End()
	b.StartArray("on")
	for _, path := range s.onFields() {
		b.String("", path)
	}
	b.End()
	if let, ok := s.source.Get("let"); ok {
		b.Append("let", let)
	}
	if s.update != nil {
		b.Append("whenMatched", s.source.Lookup("whenMatched"))
	} else {
		b.String("whenMatched", s.whenMatched)
	}
	return value.Document(b.String("whenNotMatched", s.whenNotFound).Doc())
}

func (s *mergeStage) onFields() []string {
	if s.target.On == nil {
		return []string{"_id"}
	}
	return s.target.On
}

func (s *mergeStage) involved() []string { return []string{s.target.DB + "." + s.target.Coll} }

func (s *mergeStage) open(x *Exec, src Iterator) (Iterator, error) {
	return nextFunc{src: src, next: func() (value.Doc, error) {
		w, err := x.Host.Merge(x, s.target)
		if err != nil {
			return nil, err
		}
		m := &merging{x: x, s: s, inner: x.sub(), on: w.On()}
		if err := m.run(w, src); err != nil {
			_ = w.Close()
			return nil, err
		}
		return nil, w.Close()
	}}, nil
}

// merging is one run of a $merge.
type merging struct {
	x     *Exec
	s     *mergeStage
	inner *Exec // variables of the pipeline of whenMatched
	on    []string
	docs  []value.Doc // waiting to be written
	metas []expr.Meta
	size  int
}

// mergeDocs and mergeBytes bound what is written at a time.
const (
	mergeDocs  = 500
	mergeBytes = 1 << 20
)

func (m *merging) run(w MergeWriter, src Iterator) error {
	for {
		d, err := src.Next()
		if err == nil && d != nil {
			err = m.add(w, d)
		}
		if err != nil {
			return err
		}
		if d == nil {
			return m.flush(w)
		}
	}
}

// add takes a document to be written with others.
func (m *merging) add(w MergeWriter, d value.Doc) error {
	if slices.Contains(m.on, "_id") {
		d = withID(m.x, d)
	}
	if err := m.checkOn(d); err != nil {
		return err
	}
	m.docs, m.metas, m.size = append(m.docs, d), append(m.metas, m.x.Env.Meta), m.size+len(d)
	if len(m.docs) < mergeDocs && m.size < mergeBytes {
		return nil
	}
	return m.flush(w)
}

func (m *merging) flush(w MergeWriter) error {
	docs := m.docs
	m.docs, m.size = nil, 0
	if len(docs) == 0 {
		return nil
	}
	err := w.Apply(docs, func(i int, old value.Doc) (value.Doc, error) {
		m.x.Env.Meta = m.metas[i]
		if old == nil {
			return m.notMatched(docs[i])
		}
		return m.matched(old, docs[i])
	})
	m.metas = m.metas[:0]
	return err
}

// checkOn checks the values that identify the document.
func (m *merging) checkOn(d value.Doc) error {
	for _, path := range m.on {
		v := value.ParsePath(path).Get(d)
		switch {
		case v.IsNullish():
			return mongoerr.New(51132, "$merge write error: 'on' field cannot be missing, null, undefined or an array")
		case v.Kind() == value.KindArray:
			return mongoerr.New(51185, "$merge write error: 'on' field cannot be missing, null, undefined or an array")
		}
	}
	return nil
}

func (m *merging) notMatched(d value.Doc) (value.Doc, error) {
	switch m.s.whenNotFound {
	case "discard":
		return nil, nil
	case "fail":
		return nil, mongoerr.New(mongoerr.MergeStageNoMatchingDocument,
			"$merge could not find a matching document in the target collection for at least one document in the source collection")
	}
	return withID(m.x, d), nil
}

func (m *merging) matched(old, d value.Doc) (value.Doc, error) {
	switch m.s.whenMatched {
	case "keepExisting":
		return nil, nil
	case "fail":
		return nil, m.duplicate(d)
	case "replace":
		return m.sameID(old, replaced(old, d))
	case "pipeline":
		if err := m.s.let.Bind(m.x.Env, m.inner.Env, d); err != nil {
			return nil, err
		}
		out, err := m.s.update.Apply(m.inner, old)
		if err != nil {
			return nil, err
		}
		return m.sameID(old, replaced(old, out))
	}
	out := old
	for k, v := range d.All() {
		out = setPath(out, []string{k}, v)
	}
	return m.sameID(old, out)
}

// replaced is d with the _id of old if it has none of its own.
func replaced(old, d value.Doc) value.Doc {
	if d.Has("_id") {
		return d
	}
	b := value.NewBuilder().Append("_id", old.Lookup("_id"))
	for it := d.Iter(); it.Next(); {
		b.Raw(it.Element())
	}
	return b.Doc()
}

// sameID refuses a change of _id.
func (m *merging) sameID(old, d value.Doc) (value.Doc, error) {
	if value.Equal(old.Lookup("_id"), d.Lookup("_id")) {
		return d, nil
	}
	what := "Performing an update on the path '_id' would modify the immutable field '_id'"
	if m.s.whenMatched == "replace" {
		what = "After applying the update, the (immutable) field '_id' was found to have been altered to _id: " + d.Lookup("_id").String()
	}
	return nil, mongoerr.New(mongoerr.ImmutableField, what).
		WithPrefix("$merge failed to update the matching document, did you attempt to modify the _id or the shard key?")
}

func (m *merging) duplicate(d value.Doc) error {
	key := value.NewBuilder()
	pattern := value.NewBuilder()
	index := ""
	for _, path := range m.on {
		key.Append(path, value.ParsePath(path).Get(d))
		pattern.Int32(path, 1)
		index += "_" + path + "_1"
	}
	index = index[1:]
	if index == "_id_1" {
		index = "_id_"
	}
	keyDoc := key.Doc()
	return mongoerr.Newf(mongoerr.DuplicateKey, "E11000 duplicate key error collection: %s.%s index: %s dup key: %s",
		m.s.target.DB, m.s.target.Coll, index, keyDoc).
		WithExtra("keyPattern", value.Document(pattern.Doc())).WithExtra("keyValue", value.Document(keyDoc))
}
