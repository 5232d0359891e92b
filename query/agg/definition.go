package agg

import (
	"sort"

	"github.com/duskdb/duskdb/value"
)

// flags are a stage's rules on where it may stand.
type flags uint16

const (
	mustBeFirst       flags = 1 << iota // first stage only
	mustBeLast                          // last stage only
	notInFacet                          // not inside $facet
	notInLookup                         // not inside $lookup
	notInUnion                          // not inside $unionWith
	notInTransaction                    // not in a multi-document transaction
	collectionless                      // only with {aggregate: 1}
	anyNamespace                        // with a collection or {aggregate: 1}
	inChangeStream                      // allowed behind $changeStream
	needsChangeStream                   // only behind $changeStream
	onlyOnce                            // once in a pipeline
	refused                             // known, but not for a server of its own

	// initial is a stage that is a source of its own.
	initial = mustBeFirst | notInFacet
	// writes is a stage that writes a collection.
	writes = mustBeLast | notInFacet | notInLookup | notInUnion | notInTransaction
)

// definition is one line of the table of stages.
type definition struct {
	name   string
	parse  func(p *parser, spec value.Value) ([]stage, error)
	flags  flags
	update bool // allowed in the pipeline of an update
}

// rewrite is a rule of the optimiser: it looks at a stage and the one behind it
// and returns those that take their place.
type rewrite func(p *parser, a, b stage) (out []stage, changed bool, err error)

// language is what a pipeline is written in: the stages that there are, and
// the rules by which they are rewritten, in the order in which they are tried.
// A pipeline carries it along, since stages compile pipelines of their own.
type language struct {
	stages map[string]*definition
	rules  []rewrite
}

// newLanguage makes a language of the lines of a table.
func newLanguage(definitions []definition, rules []rewrite) *language {
	l := &language{stages: map[string]*definition{}, rules: rules}
	for i := range definitions {
		l.stages[definitions[i].name] = &definitions[i]
	}
	return l
}

// stage finds a stage by its name, nil if there is no such one.
func (l *language) stage(name string) *definition { return l.stages[name] }

// names lists the supported stages, sorted.
func (l *language) names() []string {
	var names []string
	for name, def := range l.stages {
		if def.flags&refused == 0 {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
