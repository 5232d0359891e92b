package fusion

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// rankConstant is the constant of reciprocal rank fusion.
const rankConstant = 60

// ParseRankFusion compiles $rankFusion: a document's score is the sum of weight / (60 + rank)
// over the pipelines that return it.
func ParseRankFusion(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	const name = "$rankFusion"
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "%s must take a nested object but found: %s: %s", name, name, v)
	}
	s := &specification{stage: name}
	var pipelines, weights value.Doc
	err := reader{name, map[string]func(value.Value) error{
		"input": object(name, "input", map[string]func(value.Value) error{
			"pipelines": document(name+".input", "pipelines", &pipelines),
		}, "pipelines"),
		"combination": object(name, "combination", map[string]func(value.Value) error{
			"weights": document(name+".combination", "weights", &weights),
		}, "weights"),
		"scoreDetails": boolean(name, "scoreDetails", &s.scoreDetails),
	}}.read(v.Doc(), "input")
	if err == nil {
		err = s.readInputs(pipelines)
	}
	if err != nil {
		return nil, err
	}
	return s.compile(p, weights, &kind{check: checkRanked, duplicate: 9921000, input: s.ranked, score: sumOfRanks, detail: rankDetail, details: s.rankDetails})
}

const ranking = "All subpipelines to the $rankFusion stage must begin with one of $search, $vectorSearch, $geoNear, or have a custom $sort in the pipeline."

// checkRanked checks that a pipeline only selects documents, and gives them an order.
func checkRanked(stages value.Doc) error {
	if stages.IsEmpty() {
		return mongoerr.New(9834300, "$rankFusion input pipeline cannot be empty. "+ranking)
	}
	first, _ := stages.Index(0).Doc().First()
	sorted := first == "$geoNear" || first == "$search" || first == "$vectorSearch"
	for st := range stages.Values() {
		switch name, _ := st.Doc().First(); name {
		case "$rankFusion", "$scoreFusion":
			return mongoerr.New(10473002, "$rankFusion input pipeline has a nested hybrid search stage ($rankFusion/$scoreFusion). "+ranking)
		case "$score":
			return mongoerr.New(10614800, "$rankFusion input pipelines must not contain a $score stage.")
		case "$sort":
			sorted = true
		}
	}
	if !sorted {
		return mongoerr.New(9191100, "Pipeline did not begin with a ranked stage and did not contain an explicit $sort stage. "+ranking)
	}
	return checkSelection(9191103, stages)
}

// ranked is the stage behind an input pipeline: it gives each document its rank.
func (s *specification) ranked(p *stage.Parser, i int) (stage.Stage, error) {
	in := &rankedInput{i: i, details: s.scoreDetails, collation: p.Collation}
	return in, in.order(s.inputs[i].stages)
}

// sumOfRanks is the score of $rankFusion.
func sumOfRanks(inputs []input, found []value.Doc) value.Value {
	sum := 0.0
	for i, in := range inputs {
		if found[i] != nil {
			sum += 1 / (rankConstant + found[i].Lookup(fieldRank).AsDouble()) * in.weight
		}
	}
	return value.Double(sum)
}

// rankDetail describes a pipeline's part in a score.
func rankDetail(b *value.Builder, in input, found value.Doc) {
	b.String("inputPipelineName", in.name)
	if found == nil {
		b.String("rank", "NA")
		return
	}
	b.Append("rank", found.Lookup(fieldRank)).Double("weight", in.weight)
	if score := found.Lookup(fieldScore); !score.IsMissing() {
		b.Append("value", score)
	}
	b.Append("details", found.Lookup(fieldDetails))
}

// rankDetails begins the description of a score.
func (s *specification) rankDetails(b *value.Builder) {
	b.String("description", "value output by reciprocal rank fusion algorithm, computed as sum of (weight * (1 / (60 + rank))) across input pipelines from which this document is output, from:")
}
