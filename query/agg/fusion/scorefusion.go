package fusion

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// ParseScoreFusion compiles $scoreFusion: a document's score is made of the scores that it
// has in the pipelines, which are normalized and weighted.
func ParseScoreFusion(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	const name = "$scoreFusion"
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "%s must take a nested object but found: %s: %s", name, name, v)
	}
	s := &specification{stage: name}
	var pipelines, weights value.Doc
	err := reader{name, map[string]func(value.Value) error{
		"input": object(name, "input", map[string]func(value.Value) error{
			"pipelines":     document(name+".input", "pipelines", &pipelines),
			"normalization": enumeration(name+".input", "normalization", &s.normalization, normalizations...),
		}, "pipelines", "normalization"),
		"combination": object(name, "combination", map[string]func(value.Value) error{
			"weights":    document(name+".combination", "weights", &weights),
			"method":     enumeration(name+".combination", "method", &s.method, "avg", "expression"),
			"expression": func(v value.Value) error { s.expression = v; return nil },
		}),
		"scoreDetails": boolean(name, "scoreDetails", &s.scoreDetails),
	}}.read(v.Doc(), "input")
	if err == nil {
		err = s.readInputs(pipelines)
	}
	if err == nil {
		err = s.checkMethod(weights != nil)
	}
	if err != nil {
		return nil, err
	}
	k := &kind{check: checkScored, duplicate: 9402203, input: s.scored, normalize: s.normalization == minMaxScaler, score: average, detail: scoreDetail, details: s.fusionDetails}
	return s.compile(p, weights, k)
}

// checkMethod checks that the expression is there if it is to combine the scores.
func (s *specification) checkMethod(weights bool) error {
	given := !s.expression.IsMissing()
	switch {
	case s.method == "":
	case given != (s.method == "expression"):
		return mongoerr.New(10017300, `combination.expression should only be specified when combination.method has the value "expression"`)
	case given && weights:
		return mongoerr.New(10017301, "both combination.expression and combination.weights cannot be specified")
	}
	return nil
}

const scoring = "All subpipelines to the $scoreFusion stage must begin with one of $search, $vectorSearch, or have a custom $score in the pipeline."

// checkScored checks that a pipeline only selects documents, and gives them a score.
func checkScored(stages value.Doc) error {
	if stages.IsEmpty() {
		return mongoerr.New(9402503, "$scoreFusion input pipeline cannot be empty. "+scoring)
	}
	first, arg := stages.Index(0).Doc().First()
	scored := first == "$search" || first == "$vectorSearch" || first == "$match" && hasText(arg)
	for st := range stages.Values() {
		switch name, _ := st.Doc().First(); name {
		case "$rankFusion", "$scoreFusion":
			return mongoerr.New(10473003, "$scoreFusion input pipeline has a nested hybrid search stage ($rankFusion/$scoreFusion). "+scoring)
		case "$score":
			scored = true
		}
	}
	if !scored {
		return mongoerr.New(9402500, scoring+" Pipeline did not begin with a scored stage and did not contain an explicit $score stage.")
	}
	return checkSelection(9402502, stages)
}

// hasText reports whether a filter has $text, which may stand at the top and in $and and $or.
func hasText(v value.Value) bool {
	if v.Kind() != value.KindDocument {
		return false
	}
	for name, arg := range v.Doc().All() {
		if name == "$text" {
			return true
		}
		if (name == "$and" || name == "$or") && arg.Kind() == value.KindArray {
			for part := range arg.Doc().Values() {
				if part.Kind() == value.KindDocument && part.Doc().Has("$text") {
					return true
				}
			}
		}
	}
	return false
}

// scored is the stage behind an input pipeline: it normalizes and weighs the score of each
// document.
func (s *specification) scored(p *stage.Parser, i int) (stage.Stage, error) {
	score := metaScore
	if s.normalization == sigmoid {
		score = value.Document(value.NewDoc("$sigmoid", score))
	}
	e, err := p.Expr(value.Document(value.NewDoc("$multiply", value.NewArray(score, value.Double(s.inputs[i].weight)))))
	return &scoredInput{i: i, details: s.scoreDetails, score: e}, err
}

// average is the average of all scores; that of a pipeline which does not return the document is 0.
func average(_ []input, found []value.Doc) value.Value {
	sum := 0.0
	for _, d := range found {
		sum += d.Lookup(fieldScore).AsDouble()
	}
	return value.Double(sum / float64(len(found)))
}

// scoreDetail describes a pipeline's part in a score.
func scoreDetail(b *value.Builder, in input, found value.Doc) {
	raw, score := value.Int32(0), value.Int32(0)
	if found != nil {
		raw, score = found.Lookup(fieldRaw), found.Lookup(fieldScore)
	}
	b.String("inputPipelineName", in.name).Append("inputPipelineRawScore", raw).Double("weight", in.weight).Append("value", score)
	if found != nil {
		b.Append("details", found.Lookup(fieldDetails))
	}
}

// fusionDetails begins the description of a score.
func (s *specification) fusionDetails(b *value.Builder) {
	b.String("description", "the value calculated by combining the scores (either normalized or raw) across input pipelines from which this document is output from:")
	b.String("normalization", s.normalization).StartDocument("combination")
	if s.method == "expression" {
		b.String("method", "custom expression").String("expression", printed(s.expression))
	} else {
		b.String("method", "average")
	}
	b.End()
}

// printed is an expression as details show it.
func printed(v value.Value) string {
	return strings.ReplaceAll(value.NewDoc("string", v).String(), `"`, "'")
}
