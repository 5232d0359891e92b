package write

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// mergeStage is $merge.
type mergeStage struct {
	stage.Opaque
	target       stage.MergeTarget
	whenMatched  string // "pipeline" if update is set
	whenNotFound string
	let          *expr.Let
	update       *pipeline.Pipeline
	refusal      error     // the error of update, for the first document that it would change
	pipeline     value.Doc // the stages of update, as written
	source       value.Doc
	dialect      dialect.Dialect
}

// mergeModes are the combinations of whenMatched and whenNotMatched.
var mergeModes = map[string][]string{
	"fail":         {"insert"},
	"keepExisting": {"insert"},
	"merge":        {"insert", "fail", "discard"},
	"pipeline":     {"insert", "fail", "discard"},
	"replace":      {"insert", "fail", "discard"},
}

// mergeSpec is a $merge while it is parsed.
type mergeSpec struct {
	let, pipeline value.Doc
	hasLet        bool
}

// ParseMerge compiles $merge.
func ParseMerge(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	s := &mergeStage{target: stage.MergeTarget{DB: p.DB}, whenMatched: "merge", whenNotFound: "insert", dialect: p.Scope.Dialect()}
	var m mergeSpec
	switch v.Kind() {
	case value.KindString:
		s.target.Coll = strings.Clone(v.Str())
		s.source = value.NewDoc("into", v)
	case value.KindDocument:
		s.source = stage.WithoutNulls(v.Doc(), "into", "on", "whenMatched")
		for k, f := range s.source.All() {
			if err := s.option(&m, k, f); err != nil {
				return nil, err
			}
		}
		if !s.source.Has("into") {
			return nil, stage.MissingField("$merge", "into")
		}
	default:
		return nil, mongoerr.Newf(mongoerr.TypeMismatch, "$merge requires a string or object argument, but found %s", v.Kind())
	}
	if err := checkMergeTarget(s.target.DB, s.target.Coll); err != nil {
		return nil, err
	}
	if !slices.Contains(mergeModes[s.whenMatched], s.whenNotFound) {
		return nil, mongoerr.Newf(51181, "Combination of $merge modes 'whenMatched: %s' and 'whenNotMatched: %s' is not supported", s.whenMatched, s.whenNotFound)
	}
	s.target.Insert = s.whenMatched == "fail"
	return []stage.Stage{s}, s.compile(p, m)
}

func checkMergeTarget(db, coll string) error {
	switch {
	case !stage.ValidTarget(db, coll):
		return mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid $merge target namespace: '%s.%s'", db, coll)
	case strings.HasPrefix(coll, "system."):
		return mongoerr.Newf(31319, "Cannot $merge to special collection: %s", coll)
	case stage.IsInternalDB(db):
		return mongoerr.Newf(31320, "Cannot $merge to internal database: %s", db)
	}
	return nil
}

func (s *mergeStage) option(m *mergeSpec, k string, f value.Value) (err error) {
	switch k {
	case "into":
		return s.into(f)
	case "on":
		return s.on(f)
	case "let":
		m.let, err = stage.ObjectField("$merge", k, f)
		m.hasLet = true
	case "whenMatched":
		switch f.Kind() {
		case value.KindString:
			s.whenMatched = strings.Clone(f.Str())
			if mergeModes[s.whenMatched] == nil || s.whenMatched == "pipeline" {
				return badEnum("whenMatched", f)
			}
		case value.KindArray:
			s.whenMatched, m.pipeline = "pipeline", f.Doc()
		default:
			// sic: mongod
			return mongoerr.Newf(51191, "$merge 'whenMatched' field  must be either a string or an array, but found %s", f.Kind())
		}
	case "whenNotMatched":
		if s.whenNotFound, err = stage.StringField("$merge", k, f); err == nil && !slices.Contains(mergeModes["merge"], s.whenNotFound) {
			return badEnum("$merge.whenNotMatched", f)
		}
	default:
		return stage.UnknownField("$merge", k)
	}
	return err
}

func badEnum(field string, v value.Value) error {
	return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '%s' is not a valid value.", v.Str(), field)
}

func (s *mergeStage) into(f value.Value) (err error) {
	switch f.Kind() {
	case value.KindString:
		if s.target.Coll = strings.Clone(f.Str()); s.target.Coll == "" {
			return mongoerr.New(5786800, "$merge 'into' field cannot be an empty string")
		}
		return nil
	case value.KindDocument:
	default:
		// sic: mongod
		return mongoerr.Newf(51178, "$merge 'into' field  must be either a string or an object, but found %s", f.Kind())
	}
	for k, v := range stage.WithoutNulls(f.Doc()).All() {
		switch k {
		case "db":
			var db string
			if db, err = stage.StringField("into", k, v); db != "" {
				s.target.DB = db
			}
		case "coll":
			s.target.Coll, err = stage.StringField("into", k, v)
		default:
			err = stage.UnknownField("into", k)
		}
		if err != nil {
			return err
		}
	}
	if s.target.Coll == "" {
		return mongoerr.New(5786801, "$merge 'into' field must specify a 'coll' that is not empty, null or undefined")
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
		// sic: mongod
		return mongoerr.Newf(51186, "$merge 'on' field  must be either a string or an array of strings, but found %s", f.Kind())
	}
	for _, path := range s.target.On {
		if err := stage.CheckFieldPath(path); err != nil {
			return err
		}
	}
	return nil
}

// compile compiles the pipeline of whenMatched with its variables; $$new is
// the incoming document.
func (s *mergeStage) compile(p *stage.Parser, m mergeSpec) (err error) {
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
		let = stage.SetPath(append(value.Doc(nil), orEmpty(let)...), []string{"new"}, root)
	}
	sub := &stage.Parser{Options: p.Options}
	sub.Update, sub.NoOptimize = true, true
	if sub.Scope, s.let, err = p.Scope.WithLet(orEmpty(let)); err != nil {
		return err
	}
	sub.Scope = sub.Scope.Late()
	s.pipeline = m.pipeline
	s.target.Scripted = stage.RunsScripts(value.Array(m.pipeline)) || stage.RunsScripts(value.Document(orEmpty(let)))
	if s.update, err = pipeline.Compile(sub, m.pipeline); mongoerr.Is(err, mongoerr.InvalidOptions) {
		// The update checks later whether it may contain all these stages.
		s.update, s.refusal, err = pipeline.New(nil, &sub.Options), err, nil
	}
	return err
}

func orEmpty(d value.Doc) value.Doc {
	if d == nil {
		return value.EmptyDoc
	}
	return d
}

func (s *mergeStage) Name() string { return "$merge" }

func (s *mergeStage) Spec() value.Value {
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

func (s *mergeStage) Involved() []string { return []string{s.target.DB + "." + s.target.Coll} }

func (s *mergeStage) WritesTo() (db, coll string) { return s.target.DB, s.target.Coll }

func (s *mergeStage) MergesInto() stage.MergeTarget { return s.target }
