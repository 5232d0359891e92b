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
	// writer is a stage that writes a collection.
	writer = mustBeLast | notInFacet | notInLookup | notInUnion | notInTransaction
)

// definition is one line of the table of stages.
type definition struct {
	name   string
	parse  func(p *parser, spec value.Value) ([]stage, error)
	flags  flags
	update bool // allowed in the pipeline of an update
}

// stageTable holds every stage. It is filled by init since stages with
// sub-pipelines refer to it.
var stageTable map[string]*definition

func init() {
	stageTable = map[string]*definition{}
	for i := range definitions {
		stageTable[definitions[i].name] = &definitions[i]
	}
}

func stageByName(name string) *definition { return stageTable[name] }

// StageNames lists the supported stages, sorted.
func StageNames() []string {
	var names []string
	for name, def := range stageTable {
		if def.flags&refused == 0 {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
