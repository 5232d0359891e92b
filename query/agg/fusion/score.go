package fusion

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/agg/window"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// The normalizations of scores.
const (
	sigmoid      = "sigmoid"
	minMaxScaler = "minMaxScaler"
)

var normalizations = []string{"none", sigmoid, minMaxScaler}

// scoreArgs are the arguments of $score.
type scoreArgs struct {
	score         value.Value // expression
	normalization string
	weight        float64
	details       bool
}

// ParseScore compiles $score, which gives documents a score. As in mongod, a score that is
// scaled among those of all documents is calculated by $setWindowFields.
func ParseScore(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	const name = "$score"
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "The %s stage specification must be an object, found %s", name, v.Kind())
	}
	a := scoreArgs{normalization: "none", weight: 1}
	err := reader{name, map[string]func(value.Value) error{
		"score":         func(v value.Value) error { a.score = v; return nil },
		"normalization": enumeration(name, "normalization", &a.normalization, normalizations...),
		"weight":        weight(name, &a.weight),
		"scoreDetails":  boolean(name, "scoreDetails", &a.details),
	}}.read(v.Doc(), "score")
	if err != nil {
		return nil, err
	}
	return a.compile(p)
}

// weight reads a weight of a score.
func weight(where string, to *float64) func(v value.Value) error {
	return func(v value.Value) error {
		if !v.IsNumber() {
			return stage.WrongTypes(where, "weight", v, "long, int, decimal, double")
		}
		*to = v.AsDouble()
		switch {
		case !(*to >= 0):
			return mongoerr.Newf(51024, "BSON field 'weight' value must be >= 0, actual value '%g'", *to)
		case *to > 1:
			return mongoerr.Newf(51024, "BSON field 'weight' value must be <= 1, actual value '%g'", *to)
		}
		return nil
	}
}

func (a *scoreArgs) compile(p *stage.Parser) ([]stage.Stage, error) {
	raw, err := p.Expr(a.score)
	if err != nil {
		return nil, err
	}
	first := &scoreStage{args: a, raw: raw}
	if a.normalization != minMaxScaler {
		first.last = true
		return []stage.Stage{first}, first.normalize(p, metaScore)
	}
	out := []stage.Stage{first}
	scaled := value.NewDoc("$minMaxScaler", value.Document(value.NewDoc("input", value.String("$"+fieldScore))))
	scale, err := window.ParseSetWindowFields(p, value.Document(value.NewDoc(
		"sortBy", value.Document(value.NewDoc(fieldScore, value.Int32(-1))),
		"output", value.Document(value.NewDoc(fieldScore, value.Document(scaled))))))
	if err != nil {
		return nil, err
	}
	last := &unwrapScore{scoreStage{args: a, last: true}}
	return append(append(out, scale...), last), last.normalize(p, value.String("$"+fieldScore))
}

// scoreStage calculates scores.
type scoreStage struct {
	stage.Opaque
	args  *scoreArgs
	raw   *expr.Expr // expression of the user
	score *expr.Expr // normalized and weighted score, of the raw one
	last  bool       // the score is ready; otherwise it is wrapped with the document
}

// normalize compiles what is made of a score.
func (s *scoreStage) normalize(p *stage.Parser, of value.Value) (err error) {
	if s.args.normalization == sigmoid {
		of = value.Document(value.NewDoc("$sigmoid", of))
	}
	if s.args.weight != 1 {
		of = value.Document(value.NewDoc("$multiply", value.NewArray(of, value.Double(s.args.weight))))
	}
	s.score, err = p.Expr(of)
	return err
}

func (s *scoreStage) Name() string { return "$score" }

func (s *scoreStage) Spec() value.Value {
	a := s.args
	return value.Document(value.NewDoc("score", a.score, "normalization", value.String(a.normalization), "weight", value.Double(a.weight)))
}

// Metadata lists the metadata that the stage reads.
func (s *scoreStage) Metadata() []expr.MetaKind { return s.raw.Meta() }

// Gives lists the metadata that the documents have.
func (s *scoreStage) Gives() (kinds []expr.MetaKind, all bool) {
	if !s.last {
		return nil, false
	}
	return scoreMetadata(s.args.details), false
}

func (s *scoreStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Transformed(x, s, src), nil
}

func (s *scoreStage) Transform(x *stage.Exec, d value.Doc) (value.Doc, error) {
	raw, err := s.raw.Eval(x.Env, d)
	if err == nil {
		err = setScore(x.Env, raw)
	}
	if err != nil {
		return nil, err
	}
	if !s.last {
		return value.NewDoc(fieldDoc, value.Document(d), fieldScore, raw, fieldRaw, raw), nil
	}
	return d, s.finish(x, d, raw)
}

// finish sets the score, and how it came about.
func (s *scoreStage) finish(x *stage.Exec, d value.Doc, raw value.Value) error {
	score, err := s.score.Eval(x.Env, d)
	if err == nil {
		err = setScore(x.Env, score)
	}
	if err != nil || !s.args.details {
		return err
	}
	b := value.NewBuilder()
	b.Append("value", score).
		String("description", "the score calculated from multiplying a weight in the range [0,1] with either a normalized or nonnormalized value:").
		Append("rawScore", raw).String("normalization", s.args.normalization).Double("weight", s.args.weight).
		String("expression", printed(s.args.score)).StartArray("details").End()
	x.Env.Meta.Set(expr.MetaScoreDetails, value.Document(b.Doc()))
	return nil
}

// unwrapScore is the end of a $score that $setWindowFields has scaled.
type unwrapScore struct{ scoreStage }

// Metadata lists the metadata that the stage reads: none.
func (*unwrapScore) Metadata() []expr.MetaKind { return nil }

func (s *unwrapScore) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Transformed(x, s, src), nil
}

func (s *unwrapScore) Transform(x *stage.Exec, d value.Doc) (value.Doc, error) {
	return d.Lookup(fieldDoc).Doc(), s.finish(x, d, d.Lookup(fieldRaw))
}
