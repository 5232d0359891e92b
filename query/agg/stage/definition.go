package stage

import (
	"sort"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/value"
)

// Flags are the rules on where a stage may be used.
type Flags uint16

// The rules.
const (
	MustBeFirst       Flags = 1 << iota // first stage only
	MustBeLast                          // last stage only
	NotInFacet                          // not inside $facet
	NotInLookup                         // not inside $lookup
	NotInUnion                          // not inside $unionWith
	NotInTransaction                    // not in a multi-document transaction
	Collectionless                      // only with {aggregate: 1}
	AnyNamespace                        // with a collection or {aggregate: 1}
	InChangeStream                      // allowed behind $changeStream
	NeedsChangeStream                   // only behind $changeStream
	OnlyOnce                            // once in a pipeline
	Refused                             // known, but not on a standalone server
	FirstOfOptimized                    // first stage of the optimised pipeline

	// Initial marks a stage that makes its documents itself.
	Initial = MustBeFirst | NotInFacet
	// Writes marks a stage that writes to a collection.
	Writes = MustBeLast | NotInFacet | NotInLookup | NotInUnion | NotInTransaction
)

// Definition is one line of the table of stages.
type Definition struct {
	Name string
	// Parse compiles the specification. It may return several stages, also of other
	// kinds.
	Parse  func(p *Parser, spec value.Value) ([]Stage, error)
	Flags  Flags
	Update bool           // allowed in the pipeline of an update
	Since  dialect.Change // change of MongoDB that has brought it
}

// Rule is a rule of the optimiser: it looks at a stage and the next one, and returns the
// stages that replace them.
type Rule func(p *Parser, a, b Stage) (out []Stage, changed bool, err error)

// Language is the set of all stages, and the rules of the optimiser in the order in which
// they are tried. It is part of the options of a pipeline, since stages compile
// pipelines of their own.
type Language struct {
	stages map[string]*Definition
	Rules  []Rule
}

// NewLanguage makes a language of the lines of a table.
func NewLanguage(definitions []Definition, rules []Rule) *Language {
	l := &Language{stages: map[string]*Definition{}, Rules: rules}
	for i := range definitions {
		l.stages[definitions[i].Name] = &definitions[i]
	}
	return l
}

// Stage returns the stage of that name, nil if it does not exist.
func (l *Language) Stage(name string) *Definition { return l.stages[name] }

// Names lists the supported stages, sorted.
func (l *Language) Names() []string { return l.with(0) }

// RefusedNames lists the stages that are known but refused, sorted.
func (l *Language) RefusedNames() []string { return l.with(Refused) }

func (l *Language) with(refused Flags) []string {
	var names []string
	for name, def := range l.stages {
		if def.Flags&Refused == refused {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
