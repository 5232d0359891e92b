package lookup

import (
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// lookupStage is $lookup: by equality of two fields, by a pipeline with
// variables, or both.
type lookupStage struct {
	db, from string // the collection; from "": the pipeline makes its documents itself
	as       string
	asParts  []string
	local    string // "": no equality
	foreign  string
	let      *expr.Let
	sub      *pipeline.Pipeline // the user's pipeline, without stages if not given
	p        *stage.Parser      // the parser of the sub-pipeline, for stages made later
	unwind   *flow.Unwind       // joined into this stage
	source   value.Doc          // the argument as written
}

// lookupArgs are the arguments of a $lookup as they are read.
type lookupArgs struct {
	from, as, local, foreign string
	let, pipeline            value.Doc
	hasLet, hasPipe          bool
}

// Parse compiles $lookup.
func Parse(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "the $lookup stage specification must be an object, but found %s", v.Kind())
	}
	var a lookupArgs
	read, checked := a.readUnchecked, p.Scope.Dialect().Has(dialect.StageArguments)
	if checked {
		if !v.Doc().Has("from") && !v.Doc().Has("pipeline") {
			return nil, errNoFrom()
		}
		if err := stage.NoDuplicates("$lookup", v.Doc()); err != nil {
			return nil, err
		}
		read = a.read
	}
	for k, f := range v.Doc().All() {
		if err := read(k, f); err != nil {
			return nil, err
		}
	}
	if from, ok := v.Doc().Get("from"); ok && from.Kind() == value.KindString && !stage.ValidCollection(a.from) {
		return nil, mongoerr.Newf(mongoerr.InvalidNamespace, "invalid $lookup namespace: %s.%s", p.DB, a.from)
	}
	if as := v.Doc().Lookup("as"); checked && as.IsNullish() {
		return nil, stage.MissingField("$lookup", "as")
	} else if checked && a.as == "" {
		return nil, stage.CheckFieldPath("")
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	s := &lookupStage{
		db: p.DB, from: a.from, as: a.as, asParts: strings.Split(a.as, "."),
		local: a.local, foreign: a.foreign, source: v.Doc(),
	}
	for _, path := range []string{a.as, a.local, a.foreign} {
		if path != "" {
			if err := stage.CheckFieldPath(path); err != nil {
				return nil, err
			}
		}
	}
	return []stage.Stage{s}, s.compile(p, a)
}

// read reads an argument. But for 'from' and 'pipeline', null is as if it were not there.
func (a *lookupArgs) read(k string, f value.Value) (err error) {
	switch {
	case k == "pipeline":
		return a.readPipeline(f)
	case k == "from":
		if from := f.Doc(); f.Kind() == value.KindDocument {
			for name, v := range from.All() {
				if name != "db" && name != "coll" {
					return stage.UnknownField("$lookup.from", name)
				}
				if _, err := stage.StringField("$lookup.from", name, v); err != nil {
					return err
				}
			}
		}
		return a.readUnchecked(k, f)
	case k == "let" && !f.IsNullish():
		a.hasLet = true
		a.let, err = stage.ObjectField("$lookup", k, f)
		return err
	case k == "as" || k == "localField" || k == "foreignField":
		if f.IsNullish() {
			return nil
		}
		if _, err := stage.StringField("$lookup", k, f); err != nil {
			return err
		}
		return a.readUnchecked(k, f)
	case k != "let":
		return stage.UnknownField("$lookup", k)
	}
	return nil
}

func (a *lookupArgs) readPipeline(f value.Value) error {
	if f.Kind() != value.KindArray {
		return mongoerr.New(mongoerr.TypeMismatch, "A pipeline must be an array of objects")
	}
	a.pipeline, a.hasPipe = f.Doc(), true
	return nil
}

// readUnchecked reads an argument as versions before [dialect.StageArguments] do.
func (a *lookupArgs) readUnchecked(k string, f value.Value) error {
	switch k {
	case "pipeline":
		return a.readPipeline(f)
	case "let":
		if f.Kind() != value.KindDocument {
			return mongoerr.Newf(mongoerr.FailedToParse, "$lookup argument 'let: %s' must be an object, is type %s", f, f.Kind())
		}
		a.let, a.hasLet = f.Doc(), true
		return nil
	case "from":
		if f.Kind() != value.KindString && f.Kind() != value.KindDocument {
			return mongoerr.Newf(mongoerr.FailedToParse, "$lookup 'from' field must be a string, but found %s", f.Kind())
		}
		if f.Kind() == value.KindDocument {
			return mongoerr.Newf(mongoerr.FailedToParse, "$lookup with syntax {from: {db:<>, coll:<>},..} is not supported for db: %s and coll: %s",
				f.Doc().Lookup("db").Str(), f.Doc().Lookup("coll").Str())
		}
	default:
		if f.Kind() != value.KindString {
			return mongoerr.Newf(mongoerr.FailedToParse, "$lookup argument '%s' must be a string, found %s: %s: %s", k, k, f, f.Kind())
		}
	}
	name := strings.Clone(f.Str())
	switch k {
	case "from":
		a.from = name
	case "as":
		a.as = name
	case "localField":
		a.local = name
	case "foreignField":
		a.foreign = name
	default:
		return mongoerr.Newf(mongoerr.FailedToParse, "unknown argument to $lookup: %s", k)
	}
	return nil
}

func (a *lookupArgs) check() error {
	fail := func(msg string) error { return mongoerr.New(mongoerr.FailedToParse, msg) }
	switch {
	case a.from == "" && !a.hasPipe:
		return errNoFrom()
	case a.from == "" && !startsWithDocuments(a.pipeline):
		return fail("$lookup stage without explicit collection must have a pipeline with $documents as first stage")
	case a.as == "":
		return fail("must specify 'as' field for a $lookup")
	case a.hasPipe && (a.local == "") != (a.foreign == ""):
		return fail("$lookup requires both or neither of 'localField' and 'foreignField' to be specified")
	case !a.hasPipe && (a.local == "" || a.foreign == ""):
		return fail("$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified")
	case !a.hasPipe && a.hasLet:
		return fail("$lookup with a 'let' argument must also specify 'pipeline'")
	}
	return nil
}

func errNoFrom() error {
	return mongoerr.New(mongoerr.FailedToParse, "must specify 'pipeline' when 'from' is empty")
}

func startsWithDocuments(pipeline value.Doc) bool {
	first := pipeline.Index(0)
	return first.Kind() == value.KindDocument && first.Doc().Has("$documents")
}

// compile compiles the sub-pipeline in a scope with the variables of let.
func (s *lookupStage) compile(p *stage.Parser, a lookupArgs) (err error) {
	sub, err := p.Sub("$lookup")
	if err != nil {
		return err
	}
	sub.Coll = a.from
	if sub.Scope, s.let, err = p.Scope.WithLet(a.let); err != nil {
		return err
	}
	s.p = sub
	if !a.hasPipe {
		s.sub = pipeline.New(nil, &sub.Options)
		return nil
	}
	s.sub, err = pipeline.Compile(sub, a.pipeline)
	return err
}

func (s *lookupStage) Name() string { return "$lookup" }

func (s *lookupStage) Spec() value.Value {
	if s.unwind == nil {
		return value.Document(s.source)
	}
	b := value.NewBuilder()
	it := s.source.Iter()
	for it.Next() {
		b.Raw(it.Element())
	}
	b.StartDocument("unwinding").Bool("preserveNullAndEmptyArrays", s.unwind.Preserve)
	if s.unwind.Index != "" {
		b.String("includeArrayIndex", s.unwind.Index)
	}
	return value.Document(b.Doc())
}

func (s *lookupStage) Deps(d *stage.Deps) stage.Reach {
	if s.local != "" {
		d.Add(s.local)
	}
	for _, e := range s.let.Exprs() {
		e.Deps(d.Add, d.All)
	}
	// If the result goes into an embedded document, the other fields there are kept.
	if len(s.asParts) > 1 {
		d.Add(s.asParts[0])
	}
	return stage.SeesAll
}

func (s *lookupStage) Effect() stage.Effect {
	e := stage.Effect{Modified: []string{stage.TopField(s.as)}}
	if s.unwind != nil && s.unwind.Index != "" {
		e.Modified = append(e.Modified, stage.TopField(s.unwind.Index))
	}
	return e
}

func (s *lookupStage) OneForEach() bool { return s.unwind == nil }

func (*lookupStage) AppendStats(b *value.Builder, st *stage.Stats) {
	b.Int64("totalDocsExamined", st.Examined)
	if st.UsedDisk {
		st.AppendDisk(b)
	}
}

func (s *lookupStage) Involved() []string {
	out := s.sub.Namespaces()
	if s.from != "" {
		out = append(out, s.db+"."+s.from)
	}
	return out
}
