package fusion

import (
	"bytes"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// The fields of a wrapped document.
const (
	fieldDoc     = "d" // the document
	fieldInput   = "i" // number of the pipeline
	fieldRank    = "r" // its rank in it, from 1
	fieldRaw     = "w" // its score in it
	fieldScore   = "s" // that score, normalized and weighted
	fieldDetails = "x" // how that score came about
	fieldParts   = "p" // one of these for each pipeline that returns it
)

// metaScore is the expression for the present document's score.
var metaScore = value.Document(value.NewDoc("$meta", value.String("score")))

// rankedInput wraps the documents of a pipeline with their ranks. Documents that the pipeline
// orders equally have the same.
type rankedInput struct {
	stage.Opaque
	i         int
	details   bool          // whether to keep how a score came about
	sort      order.Pattern // what the documents are sorted by; nil: no two are equal
	collation value.Collator
}

// byDistance is the order of $geoNear.
var byDistance = value.NewDoc("distance", value.Document(value.NewDoc("$meta", value.String("geoNearDistance"))))

// order finds out what the documents of a pipeline are sorted by at its end.
func (s *rankedInput) order(stages value.Doc) (err error) {
	by := value.EmptyDoc
	for st := range stages.Values() {
		switch name, spec := st.Doc().First(); name {
		case "$sort":
			by = spec.Doc()
		case "$geoNear":
			by = byDistance
		case "$sample":
			by = value.EmptyDoc
		}
	}
	if !by.IsEmpty() {
		s.sort, err = order.ParsePattern(by)
	}
	return err
}

func (s *rankedInput) Name() string { return "$_internalFusionRank" }

func (s *rankedInput) Spec() value.Value {
	return value.Document(value.NewDoc("input", value.Int32(int32(s.i)), "sortBy", value.Document(s.sort.Doc())))
}

// Metadata lists the metadata that the stage reads.
func (s *rankedInput) Metadata() (kinds []expr.MetaKind) {
	return (&order.Stage{Pattern: s.sort}).Metadata()
}

func (s *rankedInput) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	var last, key []byte
	n, rank := int64(0), int64(0)
	return stage.Pull(src, func() (value.Doc, error) {
		d, err := src.Next()
		if d == nil || err != nil {
			return nil, err
		}
		if key, err = s.sort.AppendKey(key[:0], x.Env, d, s.collation); err != nil {
			return nil, err
		}
		if n++; n == 1 || s.sort == nil || !bytes.Equal(key, last) {
			rank = n
		}
		last, key = key, last
		return wrap(x, d, s.i, s.details, func(b *value.Builder) {
			b.Append(fieldRank, value.Int(rank))
			if score := x.Env.Meta.Get(expr.MetaScore); !score.IsMissing() {
				b.Append(fieldScore, score)
			}
		}), nil
	}), nil
}

// wrap makes a wrapped document. add adds what is known of the document in its pipeline.
func wrap(x *stage.Exec, d value.Doc, i int, details bool, add func(b *value.Builder)) value.Doc {
	b := value.NewBuilder()
	b.Document(fieldDoc, d).Int32(fieldInput, int32(i))
	add(b)
	known := x.Env.Meta.Get(expr.MetaScoreDetails)
	switch {
	case details && known.IsMissing():
		b.StartArray(fieldDetails).End()
	case details:
		b.Append(fieldDetails, known)
	}
	x.Env.Meta = expr.Meta{}
	return b.Doc()
}

// scoredInput wraps the documents of a pipeline with their scores.
type scoredInput struct {
	stage.Opaque
	i       int
	details bool       // whether to keep how a score came about
	score   *expr.Expr // normalized and weighted score
}

func (s *scoredInput) Name() string { return "$_internalFusionScore" }

func (s *scoredInput) Spec() value.Value {
	return value.Document(value.NewDoc("input", value.Int32(int32(s.i)), "score", s.score.Value()))
}

// Metadata lists the metadata that the stage reads.
func (s *scoredInput) Metadata() []expr.MetaKind { return s.score.Meta() }

func (s *scoredInput) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Transformed(x, s, src), nil
}

func (s *scoredInput) Transform(x *stage.Exec, d value.Doc) (value.Doc, error) {
	score, err := s.score.Eval(x.Env, d)
	if err != nil {
		return nil, err
	}
	return wrap(x, d, s.i, s.details, func(b *value.Builder) {
		b.Append(fieldRaw, x.Env.Meta.Get(expr.MetaScore)).Append(fieldScore, score)
	}), nil
}

// result unwraps the documents of $group, and sets their metadata.
type result struct {
	stage.Opaque
	spec      *specification
	kind      *kind
	combined  *expr.Expr // expression that combines the scores; nil: none is given
	variables []int      // variables of combined, one for each pipeline
}

func newResult(p *stage.Parser, s *specification, k *kind) (*result, error) {
	r := &result{spec: s, kind: k}
	if s.method != "expression" {
		return r, nil
	}
	scope := p.Scope.Child()
	for _, in := range s.inputs {
		if err := expr.CheckVariableName(in.name); err != nil {
			return nil, err
		}
		r.variables = append(r.variables, scope.Declare(in.name))
	}
	var err error
	r.combined, err = expr.Compile(s.expression, scope)
	return r, err
}

func (r *result) Name() string { return "$_internalFusionResult" }

func (r *result) Spec() value.Value {
	b := value.NewBuilder()
	b.String("of", r.spec.stage).Bool("scoreDetails", r.spec.scoreDetails)
	b.StartDocument("weights")
	for _, in := range r.spec.inputs {
		b.Double(in.name, in.weight)
	}
	return value.Document(b.End().Doc())
}

// Gives lists the metadata that the documents have.
func (r *result) Gives() (kinds []expr.MetaKind, all bool) {
	return scoreMetadata(r.spec.scoreDetails), false
}

func (r *result) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Transformed(x, r, src), nil
}

func (r *result) Transform(x *stage.Exec, d value.Doc) (value.Doc, error) {
	found := make([]value.Doc, len(r.spec.inputs))
	for part := range d.Lookup(fieldParts).Doc().Values() {
		found[part.Doc().Lookup(fieldInput).Int32()] = part.Doc()
	}
	doc := d.Lookup(fieldDoc).Doc()
	for i, id := range r.variables {
		score := value.Int32(0)
		if found[i] != nil {
			score = found[i].Lookup(fieldScore)
		}
		x.Env.Set(id, score)
	}
	score := r.kind.score(r.spec.inputs, found)
	if r.combined != nil {
		var err error
		if score, err = r.combined.Eval(x.Env, doc); err != nil {
			return nil, err
		}
	}
	err := setScore(x.Env, score)
	if err == nil && r.spec.scoreDetails {
		x.Env.Meta.Set(expr.MetaScoreDetails, value.Document(r.details(score, found)))
	}
	return doc, err
}

// details describes how a score came about.
func (r *result) details(score value.Value, found []value.Doc) value.Doc {
	b := value.NewBuilder()
	b.Append("value", score)
	r.kind.details(b)
	b.StartArray("details")
	for i, in := range r.spec.inputs {
		b.StartDocument("")
		r.kind.detail(b, in, found[i])
		b.End()
	}
	return b.End().Doc()
}

// scoreMetadata lists the metadata of documents that have a score, with or without its details.
func scoreMetadata(details bool) []expr.MetaKind {
	if details {
		return []expr.MetaKind{expr.MetaScore, expr.MetaScoreDetails}
	}
	return []expr.MetaKind{expr.MetaScore}
}

// setScore makes a score the present document's, whose other metadata go.
func setScore(env *expr.Env, score value.Value) error {
	if !score.IsNumber() {
		return mongoerr.Newf(mongoerr.BadValue, "the score must be a number, but is of type %s", score.Kind())
	}
	env.Meta = expr.Meta{}
	env.Meta.Set(expr.MetaScore, score)
	return nil
}
