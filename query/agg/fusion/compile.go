package fusion

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/lookup"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/agg/window"
	"github.com/duskdb/duskdb/value"
)

// kind is what $rankFusion and $scoreFusion do differently.
type kind struct {
	check     func(stages value.Doc) error                        // refuses a pipeline that is no input
	duplicate mongoerr.Code                                       // code of a name that occurs twice
	input     func(p *stage.Parser, i int) (stage.Stage, error)   // stage behind an input pipeline
	normalize bool                                                // whether scores are scaled among those of their pipeline
	score     func(inputs []input, found []value.Doc) value.Value // score of a document, unless an expression says it
	detail    func(b *value.Builder, in input, found value.Doc)   // description of a pipeline's part in it
	details   func(b *value.Builder)                              // beginning of the description
}

// compile returns the stages that the stage stands for.
func (s *specification) compile(p *stage.Parser, weights value.Doc, k *kind) ([]stage.Stage, error) {
	if !p.First {
		return nil, errNotFirst()
	}
	if p.TimeSeries != nil && p.TimeSeries(p.DB, p.Coll) {
		return nil, mongoerr.Newf(10557301, "%s is unsupported on timeseries collections", s.stage)
	}
	sub, err := s.check(p, k)
	if err == nil {
		err = s.checkNames(k.duplicate)
	}
	if err == nil {
		err = s.readWeights(weights)
	}
	if err != nil {
		return nil, err
	}
	var out []stage.Stage
	for i := range s.inputs {
		stages, err := s.compileInput(sub, i, k)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			stages, err = union(sub, stages)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, stages...)
	}
	last, err := s.combine(p, k)
	return append(out, last...), err
}

// check checks the pipelines, and returns the parser for them.
func (s *specification) check(p *stage.Parser, k *kind) (*stage.Parser, error) {
	sub, err := p.Sub(s.stage)
	if err != nil {
		return nil, err
	}
	for _, in := range s.inputs {
		if err := sub.CheckNames(in.stages); err != nil {
			return nil, err
		}
		first := true
		for st := range in.stages.Values() {
			if name, _ := st.Doc().First(); !first && (name == "$rankFusion" || name == "$scoreFusion") {
				return nil, errNotFirst()
			}
			first = false
		}
	}
	for _, in := range s.inputs {
		if err := k.check(in.stages); err != nil {
			return nil, err
		}
	}
	return sub, nil
}

func errNotFirst() error {
	return mongoerr.New(10170100, "$rankFusion/$scoreFusion can only be the first stage of an aggregation pipeline.")
}

// selects are the stages that only select documents.
var selects = map[string]bool{
	"$limit": true, "$match": true, "$rankFusion": true, "$sample": true, "$score": true, "$scoreFusion": true, "$search": true,
	"$skip": true, "$sort": true, "$vectorSearch": true,
}

// checkSelection checks that no stage changes documents.
func checkSelection(code mongoerr.Code, stages value.Doc) error {
	const allowed = " Only stages that retrieve, limit, or order documents are allowed."
	for st := range stages.Values() {
		name, spec := st.Doc().First()
		switch {
		case name == "$geoNear" && spec.Kind() != value.KindDocument:
			return mongoerr.Newf(code, "Spec for $geoNear must be a BSON object, but was given: %s"+allowed, st)
		case name == "$geoNear" && (spec.Doc().Has("distanceField") || spec.Doc().Has("includeLocs")):
			return mongoerr.New(code, "$geoNear is only a selection stage if 'includeLocs' and 'distanceField' are not specified, because these options modify the input documents by adding output fields."+allowed)
		case name != "$geoNear" && !selects[name]:
			return mongoerr.Newf(code, "%s is not a selection stage because it modifies or transforms the input documents."+allowed, name)
		}
	}
	return nil
}

// compileInput compiles an input pipeline and what follows it.
func (s *specification) compileInput(sub *stage.Parser, i int, k *kind) ([]stage.Stage, error) {
	stages, err := sub.CompileStages(s.inputs[i].stages)
	if err != nil {
		return nil, err
	}
	wrap, err := k.input(sub, i)
	if err != nil || !k.normalize {
		return append(stages, wrap), err
	}
	scaled := value.NewDoc("$minMaxScaler", value.Document(value.NewDoc("input", value.String("$"+fieldScore))))
	scale, err := window.ParseSetWindowFields(sub, value.Document(value.NewDoc(
		"sortBy", value.Document(value.NewDoc(fieldScore, value.Int32(-1))),
		"output", value.Document(value.NewDoc(fieldScore, value.Document(scaled))))))
	return append(append(stages, wrap), scale...), err
}

// union makes a $unionWith of the stages over the same collection.
func union(sub *stage.Parser, stages []stage.Stage) ([]stage.Stage, error) {
	stages, err := pipeline.Optimize(sub, stages)
	if err == nil {
		err = sub.CheckMetadata(stages)
	}
	return []stage.Stage{lookup.NewUnion(sub, pipeline.New(stages, &sub.Options))}, err
}

// combine makes the stages behind all inputs.
func (s *specification) combine(p *stage.Parser, k *kind) ([]stage.Stage, error) {
	parts := value.NewBuilder()
	for _, name := range []string{fieldInput, fieldRank, fieldRaw, fieldScore, fieldDetails} {
		parts.String(name, "$"+name)
	}
	out, err := group.Parse(p, value.Document(value.NewDoc(
		"_id", value.String("$"+fieldDoc+"._id"),
		fieldDoc, value.Document(value.NewDoc("$first", value.String("$"+fieldDoc))),
		fieldParts, value.Document(value.NewDoc("$push", value.Document(parts.Doc()))))))
	if err != nil {
		return nil, err
	}
	r, err := newResult(p, s, k)
	if err != nil {
		return nil, err
	}
	sort, err := order.Parse(p, value.Document(value.NewDoc("score", metaScore, "_id", value.Int32(1))))
	return append(append(out, r), sort...), err
}
