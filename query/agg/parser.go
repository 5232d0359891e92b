package agg

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// maxSubPipelineDepth is how deep $lookup, $facet, $unionWith may nest.
const maxSubPipelineDepth = 20

// maxStages is mongod's internalPipelineLengthLimit.
const maxStages = 1000

// parser compiles the stages of one pipeline.
type parser struct {
	Options
	within  string // the stage whose pipeline this is, "": none
	inFacet bool   // a $facet is around, at whatever distance
	depth   int
	first   bool // the stage being compiled is the first
}

// sub makes the parser of a pipeline inside a stage.
func (p *parser) sub(stage string) (*parser, error) {
	if p.depth+1 > maxSubPipelineDepth {
		return nil, mongoerr.Newf(mongoerr.MaxSubPipelineDepthExceeded,
			"Maximum number of nested sub-pipelines exceeded. Limit: %d", maxSubPipelineDepth)
	}
	c := *p
	c.within, c.inFacet = stage, p.inFacet || stage == "$facet"
	c.depth++
	return &c, nil
}

// expr compiles an expression in the pipeline's scope.
func (p *parser) expr(v value.Value) (*expr.Expr, error) { return expr.Compile(v, p.Scope) }

// constant evaluates an expression that must not depend on a document.
func (p *parser) constant(v value.Value) (c value.Value, ok bool, err error) {
	e, err := p.expr(v)
	if err != nil {
		return value.Value{}, false, err
	}
	c, ok = e.Const()
	return c, ok, nil
}

// pipeline compiles a list of stages and checks how they stand together.
func (p *parser) pipeline(specs value.Doc) ([]stage, error) {
	defs, err := p.definitions(specs)
	if err != nil {
		return nil, err
	}
	var stages []stage
	i := 0
	for v := range specs.Values() {
		_, arg := v.Doc().First()
		p.first = i == 0
		if p.within != "$facet" || defs[i].flags&notInFacet == 0 { // what checkPlace refuses
			if err := p.checkCollectionless(defs[i]); err != nil {
				return nil, err
			}
		}
		ss, err := defs[i].parse(p, arg)
		if err != nil {
			return nil, err
		}
		stages = append(stages, ss...)
		i++
	}
	if p.within == "$facet" { // mongod's rules of the place come before those of all pipelines
		if err := p.checkPlace(defs); err != nil {
			return nil, err
		}
	}
	if err := p.checkPositions(defs); err != nil {
		return nil, err
	}
	if err := p.checkPlace(defs); err != nil {
		return nil, err
	}
	return stages, p.checkFirst(defs)
}

// definitions looks up the names of all stages before any is compiled.
func (p *parser) definitions(specs value.Doc) ([]*definition, error) {
	var defs []*definition
	for v := range specs.Values() {
		if v.Kind() != value.KindDocument {
			return nil, mongoerr.New(mongoerr.TypeMismatch, "Each element of the 'pipeline' array must be an object")
		}
		if v.Doc().Len() != 1 {
			return nil, mongoerr.New(40323, "A pipeline stage specification object must contain exactly one field.")
		}
		name, _ := v.Doc().First()
		def := p.language.stage(name)
		if def == nil {
			return nil, mongoerr.Newf(40324, "Unrecognized pipeline stage name: '%s'", name)
		}
		if p.Update && !def.update {
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

// checkNested refuses stages that may not stand where this pipeline stands.
func (p *parser) checkNested(def *definition) error {
	switch {
	case p.InTransaction && def.flags&notInTransaction != 0:
		return mongoerr.Newf(mongoerr.OperationNotSupportedInTransaction,
			"Stage not supported inside of a multi-document transaction: %s", def.name)
	}
	return nil
}

// checkPlace refuses stages that do not suit what a pipeline is for. All
// other mistakes are told first.
func (p *parser) checkPlace(defs []*definition) error {
	for i, def := range defs {
		switch {
		case p.within == "$facet" && def.flags&notInFacet != 0:
			return mongoerr.Newf(40600, "%s is not allowed to be used within a $facet stage", def.name)
		case p.within == "$lookup" && def.flags&notInLookup != 0:
			return mongoerr.Newf(51047, "%s is not allowed within a $lookup's sub-pipeline", def.name)
		case p.within == "$unionWith" && def.flags&notInUnion != 0:
			return mongoerr.Newf(31441, "%s is not allowed within a $unionWith's sub-pipeline", def.name)
		case p.inFacet && def.flags&notInFacet != 0:
			return mongoerr.Newf(40600, "%s inside of %s is not allowed to be used within a $facet stage", def.name, p.within)
		case p.within == "" && p.View != "" && def.flags&writes == writes:
			return mongoerr.Newf(mongoerr.OptionNotSupportedOnView,
				"The aggregation stage %s in location %d of the pipeline cannot be used in the view definition of %s because it writes to disk", def.name, i, p.View)
		case p.within == "" && p.View != "" && def.name == "$changeStream":
			return mongoerr.New(mongoerr.OptionNotSupportedOnView, "$changeStream cannot be used in a view definition")
		}
	}
	return nil
}

// checkCollectionless refuses a stage within another that wants no collection,
// where there is one.
func (p *parser) checkCollectionless(def *definition) error {
	if p.within == "$facet" && p.Coll != "" && def.flags&collectionless != 0 && def.name != "$documents" {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "'%s' can only be run with {aggregate: 1}", def.name)
	}
	return nil
}

// checkFirst checks the first stage against the namespace.
func (p *parser) checkFirst(defs []*definition) error {
	if p.within == "$facet" || p.Update {
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
	case p.Coll == "" && def.flags&(collectionless|anyNamespace) == 0:
		return mongoerr.Newf(mongoerr.InvalidNamespace,
			"{aggregate: 1} is not valid for '%s'; a collection is required.", def.name)
	case p.View != "" && def.flags&collectionless != 0:
		return mongoerr.Newf(mongoerr.InvalidNamespace, "'%s' cannot be used in a view definition", def.name)
	case p.Coll != "" && def.flags&collectionless != 0:
		return mongoerr.Newf(mongoerr.InvalidNamespace, "'%s' can only be run with {aggregate: 1}", def.name)
	}
	return nil
}

// checkPositions checks the rules on where a stage may stand.
func (p *parser) checkPositions(defs []*definition) error {
	once := map[string]bool{}
	changeStream := len(defs) > 0 && defs[0].name == "$changeStream"
	for i, def := range defs {
		switch {
		case def.flags&mustBeFirst != 0 && i > 0:
			return notFirst(def)
		case def.flags&mustBeLast != 0 && i < len(defs)-1 && def.flags&needsChangeStream != 0:
			return mongoerr.Newf(7182802, "%s must be the last stage in the pipeline", def.name)
		case def.flags&mustBeLast != 0 && i < len(defs)-1:
			return mongoerr.Newf(40601, "%s can only be the final stage in the pipeline", def.name)
		case changeStream && def.flags&inChangeStream == 0:
			return mongoerr.Newf(mongoerr.IllegalOperation, "%s is not permitted in a $changeStream pipeline", def.name)
		case !changeStream && def.flags&needsChangeStream != 0:
			return mongoerr.Newf(mongoerr.IllegalOperation, "%s can only be used in a $changeStream pipeline", def.name)
		case def.flags&onlyOnce != 0 && once[def.name]:
			return mongoerr.Newf(7183900, "%s can only be used once in the pipeline", def.name)
		}
		once[def.name] = true
	}
	return nil
}

func notFirst(def *definition) error {
	if def.name == "$geoNear" { // for which mongod asks once the pipeline is optimized
		return mongoerr.Newf(40603, "%s was not the first stage in the pipeline after optimization. Is optimization disabled or inhibited?", def.name)
	}
	return mongoerr.Newf(40602, "%s is only valid as the first stage in a pipeline", def.name)
}

// neededMetadata are the metadata that a first stage must provide, with their
// names in the error.
var neededMetadata = map[expr.MetaKind]string{
	expr.MetaGeoNearDistance: "$geoNear distance",
	expr.MetaGeoNearPoint:    "$geoNear point",
	expr.MetaTextScore:       "text score",
}

// checkMetadata refuses stages that read metadata which nothing provides.
func (p *parser) checkMetadata(stages []stage) error {
	if p.within == "$facet" || len(stages) == 0 {
		return nil
	}
	has := map[expr.MetaKind]bool{}
	for _, k := range p.Metadata {
		has[k] = true
	}
	if g, ok := stages[0].(givesMeta); ok {
		kinds, all := g.gives()
		if all {
			return nil
		}
		for _, k := range kinds {
			has[k] = true
		}
	}
	for _, s := range stages {
		r, ok := s.(readsMeta)
		if !ok {
			continue
		}
		for _, k := range r.metadata() {
			if name := neededMetadata[k]; name != "" && !has[k] {
				return mongoerr.Newf(40218, "query requires %s metadata, but it is not available", name)
			}
		}
	}
	return nil
}
