package stage

import (
	"sort"

	"github.com/duskdb/duskdb/value"
)

// Flags are a stage's rules on where it may stand.
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
	Refused                             // known, but not for a server of its own

	// Initial is a stage that is a source of its own.
	Initial = MustBeFirst | NotInFacet
	// Writes is a stage that writes a collection.
	Writes = MustBeLast | NotInFacet | NotInLookup | NotInUnion | NotInTransaction
)

// Definition is one line of the table of stages.
type Definition struct {
	Name string
	// Parse compiles the specification. It may give several stages, or others
	// than its own.
	Parse  func(p *Parser, spec value.Value) ([]Stage, error)
	Flags  Flags
	Update bool // allowed in the pipeline of an update
}

// Rule is a rule of the optimiser: it looks at a stage and the one behind it
// and returns those that take their place.
type Rule func(p *Parser, a, b Stage) (out []Stage, changed bool, err error)

// Language is what a pipeline is written in: the stages that there are, and
// the rules by which they are rewritten, in the order in which they are tried.
// A pipeline carries it along, since stages compile pipelines of their own.
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

// Stage finds a stage by its name, nil if there is no such one.
func (l *Language) Stage(name string) *Definition { return l.stages[name] }

// Names lists the supported stages, sorted.
func (l *Language) Names() []string {
	var names []string
	for name, def := range l.stages {
		if def.Flags&Refused == 0 {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
