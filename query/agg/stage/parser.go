package stage

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// maxSubPipelineDepth is how deep $lookup, $facet, $unionWith may nest.
const maxSubPipelineDepth = 20

// maxStages is mongod's internalPipelineLengthLimit.
const maxStages = 1000

// Parser compiles the stages of one pipeline.
type Parser struct {
	Options
	Within  string // the stage whose sub-pipeline this is; "" at the top
	inFacet bool   // the pipeline is inside a $facet, at any depth
	depth   int
	First   bool // the stage being compiled is the first
}

// Sub makes the parser of a pipeline inside a stage.
func (p *Parser) Sub(stage string) (*Parser, error) {
	if p.depth+1 > maxSubPipelineDepth {
		return nil, mongoerr.Newf(mongoerr.MaxSubPipelineDepthExceeded,
			"Maximum number of nested sub-pipelines exceeded. Limit: %d", maxSubPipelineDepth)
	}
	c := *p
	c.Within, c.inFacet = stage, p.inFacet || stage == "$facet"
	c.depth++
	return &c, nil
}

// Expr compiles an expression in the pipeline's scope.
func (p *Parser) Expr(v value.Value) (*expr.Expr, error) { return expr.Compile(v, p.Scope) }

// Constant evaluates an expression that must not depend on a document.
func (p *Parser) Constant(v value.Value) (c value.Value, ok bool, err error) {
	e, err := p.Expr(v)
	if err != nil {
		return value.Value{}, false, err
	}
	c, ok = e.Const()
	return c, ok, nil
}

// CompileStages compiles a list of stages and checks their order.
func (p *Parser) CompileStages(specs value.Doc) ([]Stage, error) {
	defs, err := p.definitions(specs)
	if err != nil {
		return nil, err
	}
	var stages []Stage
	i := 0
	for v := range specs.Values() {
		_, arg := v.Doc().First()
		p.First = i == 0
		if p.Within != "$facet" || defs[i].Flags&NotInFacet == 0 { // checkPlace refuses these
			if err := p.checkCollectionless(defs[i]); err != nil {
				return nil, err
			}
		}
		ss, err := defs[i].Parse(p, arg)
		if mongoerr.Is(err, expr.ErrAlone.Code) {
			return nil, expr.ErrAlone // mongod notices after all stages are compiled: none is named
		}
		if err != nil {
			return nil, err
		}
		stages = append(stages, ss...)
		i++
	}
	return stages, p.checkOrder(defs, stages)
}

// checkOrder checks where the stages stand: first the rules for a $facet or for a whole
// pipeline, as mongod does, then those that hold for all.
func (p *Parser) checkOrder(defs []*Definition, stages []Stage) (err error) {
	switch p.Within {
	case "$facet":
		err = p.checkPlace(defs)
	case "":
		if err = p.checkFirst(defs); err == nil {
			err = p.checkChangeStream(defs, stages)
		}
	}
	if err == nil {
		err = p.checkPositions(defs)
	}
	if err == nil {
		err = p.checkPlace(defs)
	}
	if err == nil && p.Within != "" {
		err = p.checkFirst(defs)
	}
	return err
}

// CheckNames refuses a list of stages that are not written as stages, or unknown.
func (p *Parser) CheckNames(specs value.Doc) error {
	_, err := p.definitions(specs)
	return err
}

// definitions looks up the names of all stages before any is compiled.
func (p *Parser) definitions(specs value.Doc) ([]*Definition, error) {
	var defs []*Definition
	for v := range specs.Values() {
		if v.Kind() != value.KindDocument {
			return nil, mongoerr.New(mongoerr.TypeMismatch, "Each element of the 'pipeline' array must be an object")
		}
		if v.Doc().Len() != 1 {
			return nil, mongoerr.New(40323, "A pipeline stage specification object must contain exactly one field.")
		}
		name, _ := v.Doc().First()
		def := p.Language.Stage(name)
		if def == nil || !p.Scope.Dialect().Has(def.Since) {
			return nil, mongoerr.Newf(40324, "Unrecognized pipeline stage name: '%s'", name)
		}
		if p.Update && !def.Update {
			return nil, mongoerr.Newf(mongoerr.InvalidOptions, "%s is not allowed to be used within an update", name)
		}
		if err := p.checkNested(def); err != nil {
			return nil, err
		}
		defs = append(defs, def)
	}
	if len(defs) > maxStages {
		return nil, mongoerr.Newf(7749501, "Pipeline length must be no longer than %d stages", maxStages)
	}
	return defs, nil
}

// checkNested refuses stages that may not be used in this kind of sub-pipeline.
func (p *Parser) checkNested(def *Definition) error {
	switch {
	case p.InTransaction && def.Flags&NotInTransaction != 0:
		return mongoerr.Newf(mongoerr.OperationNotSupportedInTransaction,
			"Stage not supported inside of a multi-document transaction: %s", def.Name)
	}
	return nil
}

// checkPlace refuses stages that may not be used for the purpose of this pipeline. All
// other errors take precedence.
func (p *Parser) checkPlace(defs []*Definition) error {
	for i, def := range defs {
		switch {
		case p.Within == "$facet" && def.Flags&NotInFacet != 0:
			return mongoerr.Newf(40600, "%s is not allowed to be used within a $facet stage", def.Name)
		case p.Within == "$lookup" && def.Flags&NotInLookup != 0:
			return mongoerr.Newf(51047, "%s is not allowed within a $lookup's sub-pipeline", def.Name)
		case p.Within == "$unionWith" && def.Flags&NotInUnion != 0:
			return mongoerr.Newf(31441, "%s is not allowed within a $unionWith's sub-pipeline", def.Name)
		case p.inFacet && def.Flags&NotInFacet != 0:
			return mongoerr.Newf(40600, "%s inside of %s is not allowed to be used within a $facet stage", def.Name, p.Within)
		case p.Within == "" && p.View != "" && def.Flags&Writes == Writes:
			return mongoerr.Newf(mongoerr.OptionNotSupportedOnView,
				"The aggregation stage %s in location %d of the pipeline cannot be used in the view definition of %s because it writes to disk", def.Name, i, p.View)
		case p.Within == "" && p.View != "" && def.Name == "$changeStream":
			return mongoerr.New(mongoerr.OptionNotSupportedOnView, "$changeStream cannot be used in a view definition")
		}
	}
	return nil
}

// checkCollectionless refuses a nested stage that needs {aggregate: 1} in a pipeline on a
// collection.
func (p *Parser) checkCollectionless(def *Definition) error {
	if p.Within == "$facet" && p.Coll != "" && def.Flags&Collectionless != 0 && def.Name != "$documents" {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "'%s' can only be run with {aggregate: 1}", def.Name)
	}
	return nil
}

// checkFirst checks the first stage against the namespace.
func (p *Parser) checkFirst(defs []*Definition) error {
	if p.Within == "$facet" || p.Update {
		return nil
	}
	if len(defs) == 0 {
		if p.Coll == "" {
			return mongoerr.New(mongoerr.InvalidNamespace,
				"{aggregate: 1} is not valid for an empty pipeline.")
		}
		return nil
	}
	def := defs[0]
	switch {
	case p.Coll == "" && def.Flags&(Collectionless|AnyNamespace) == 0:
		return mongoerr.Newf(mongoerr.InvalidNamespace,
			"{aggregate: 1} is not valid for '%s'; a collection is required.", def.Name)
	case p.View != "" && def.Flags&Collectionless != 0:
		return mongoerr.Newf(mongoerr.InvalidNamespace, "'%s' cannot be used in a view definition", def.Name)
	case p.Coll != "" && def.Flags&Collectionless != 0:
		return mongoerr.Newf(mongoerr.InvalidNamespace, "'%s' can only be run with {aggregate: 1}", def.Name)
	}
	return nil
}

// checkPositions checks the rules on where a stage may stand.
func (p *Parser) checkPositions(defs []*Definition) error {
	once := map[string]bool{}
	for i, def := range defs {
		switch {
		case def.Flags&MustBeFirst != 0 && i > 0:
			return NotFirst(def.Name)
		case def.Flags&MustBeLast != 0 && i < len(defs)-1 && def.Flags&NeedsChangeStream != 0:
			return mongoerr.Newf(7182802, "%s must be the last stage in the pipeline", def.Name)
		case def.Flags&MustBeLast != 0 && i < len(defs)-1:
			return mongoerr.Newf(40601, "%s can only be the final stage in the pipeline", def.Name)
		case def.Flags&OnlyOnce != 0 && once[def.Name]:
			return mongoerr.Newf(7183900, "%s can only be used once in the pipeline", def.Name)
		}
		once[def.Name] = true
	}
	return nil
}

// checkChangeStream refuses stages that may not follow $changeStream, and those that only
// may follow it. It looks at the compiled stages: a $fill of values only is an $addFields.
func (p *Parser) checkChangeStream(defs []*Definition, stages []Stage) error {
	changeStream := len(defs) > 0 && defs[0].Name == "$changeStream"
	for _, s := range stages {
		def := p.Language.Stage(s.Name())
		switch {
		case changeStream && (def == nil || def.Flags&InChangeStream == 0):
			return mongoerr.Newf(mongoerr.IllegalOperation, "%s is not permitted in a $changeStream pipeline", s.Name())
		case !changeStream && def != nil && def.Flags&NeedsChangeStream != 0:
			return mongoerr.Newf(mongoerr.IllegalOperation, "%s can only be used in a $changeStream pipeline", s.Name())
		}
	}
	return nil
}

// NotFirst is the error for a stage that must be the first and is not.
func NotFirst(name string) error {
	return mongoerr.Newf(40602, "%s is only valid as the first stage in a pipeline", name)
}

// CheckOptimized refuses a stage that must be the first of the optimised pipeline and is
// not.
func (p *Parser) CheckOptimized(stages []Stage) error {
	for i, s := range stages {
		def := p.Language.Stage(s.Name())
		if i > 0 && def != nil && def.Flags&FirstOfOptimized != 0 {
			return mongoerr.Newf(40603, "%s was not the first stage in the pipeline after optimization. Is optimization disabled or inhibited?", s.Name())
		}
	}
	return nil
}

// neededMetadata maps the metadata that a stage must provide to the names in the error
// message.
var neededMetadata = map[expr.MetaKind]string{
	expr.MetaGeoNearDistance: "$geoNear distance",
	expr.MetaGeoNearPoint:    "$geoNear point",
	expr.MetaTextScore:       "text score",
	expr.MetaScore:           "score",
	expr.MetaScoreDetails:    "scoreDetails",
}

// MissingMetadata returns the name of a kind of metadata that documents have only if something
// has given it to them; "" if it is among those that they have, or is no such kind.
func MissingMetadata(k expr.MetaKind, has map[expr.MetaKind]bool) string {
	if has[k] || k == expr.MetaScore && has[expr.MetaTextScore] {
		return ""
	}
	return neededMetadata[k]
}

// CheckMetadata refuses stages that read metadata which no stage before them provides.
func (p *Parser) CheckMetadata(stages []Stage) error {
	if p.Within == "$facet" || len(stages) == 0 {
		return nil
	}
	has := map[expr.MetaKind]bool{}
	for _, k := range p.Metadata {
		has[k] = true
	}
	for _, s := range stages {
		if r, ok := s.(ReadsMeta); ok {
			for _, k := range r.Metadata() {
				if name := MissingMetadata(k, has); name != "" {
					return mongoerr.Newf(40218, "query requires %s metadata, but it is not available", name)
				}
			}
		}
		g, ok := s.(GivesMeta)
		if !ok {
			continue
		}
		kinds, all := g.Gives()
		if all {
			return nil
		}
		for _, k := range kinds {
			has[k] = true
		}
	}
	return nil
}
