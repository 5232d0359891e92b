package expr

import (
	"math/rand/v2"
	"slices"

	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/value"
)

// Env holds everything that an evaluation depends on besides the document. It
// belongs to one goroutine.
type Env struct {
	Now         int64          // $$NOW, milliseconds since the epoch
	Bare        bool           // without $$NOW and $$CLUSTER_TIME
	ClusterTime value.Value    // $$CLUSTER_TIME; Missing: not available
	UserRoles   value.Value    // $$USER_ROLES
	SearchMeta  value.Value    // $$SEARCH_META
	Vars        []value.Value  // user variables by slot
	Meta        Meta           // metadata of the current document
	Collation   value.Collator // nil: simple binary comparison
	Rand        func() float64 // [0, 1)
	Interrupt   func() error   // nil, or called at intervals in long loops
	Scripts     Scripts        // nil: no JavaScript
	Memory      Memory         // nil: the default limits

	root    value.Doc
	ticks   int
	held    int  // bytes that the evaluation holds
	claimed int  // the maximum that was held, if that is much
	folding bool // evaluation at compile time
}

// Scripts provides the scopes in which the JavaScript of an operation runs:
// one for $where, with the stored functions, and one for expressions.
type Scripts interface {
	Script(where bool) *script.Operation
}

// Script returns the scope of the operation's JavaScript; nil refuses all
// calls.
func (e *Env) Script(where bool) *script.Operation {
	if e.Scripts == nil {
		return nil
	}
	return e.Scripts.Script(where)
}

// NewEnv returns an environment for an operation that started at now
// (milliseconds since the epoch).
func NewEnv(now int64) *Env { return &Env{Now: now, Rand: rand.Float64} }

// Fork returns an environment for a sub-pipeline, with the same settings and a
// copy of the variables.
func (e *Env) Fork() *Env {
	c := *e
	c.Vars = slices.Clone(e.Vars)
	c.Meta = Meta{}
	return &c
}

// Set stores a variable.
func (e *Env) Set(slot int, v value.Value) {
	for len(e.Vars) <= slot {
		e.Vars = append(e.Vars, value.Value{})
	}
	e.Vars[slot] = v
}

// Get reads a variable; Missing if it was never set.
func (e *Env) Get(slot int) value.Value {
	if slot >= len(e.Vars) {
		return value.Value{}
	}
	return e.Vars[slot]
}

// ticksToAsk is how many ticks pass between two calls of Interrupt.
const ticksToAsk = 1024

// tickBytes is how many bytes may be read in the time of a tick.
const tickBytes = 256

// tick is called once per turn of a loop over user data.
func (e *Env) tick() error {
	if e.ticks++; e.ticks < ticksToAsk {
		return nil
	}
	return e.ask()
}

// weigh is called for n bytes that are searched or made, which take as long as many ticks if
// they are many.
func (e *Env) weigh(n int) error {
	if e.ticks += 1 + n/tickBytes; e.ticks < ticksToAsk {
		return nil
	}
	return e.ask()
}

// ask calls Interrupt.
func (e *Env) ask() error {
	e.ticks = 0
	if e.Interrupt == nil {
		return nil
	}
	return e.Interrupt()
}

// Tick is called by other packages once per turn of a loop over user data. The Env may be nil.
func (e *Env) Tick() error {
	if e == nil {
		return nil
	}
	return e.tick()
}

// Weigh is called by other packages when they search n bytes. The Env may be nil.
func (e *Env) Weigh(n int) error {
	if e == nil {
		return nil
	}
	return e.weigh(n)
}

// compare orders two values by the collation.
func (e *Env) compare(a, b value.Value) int { return value.CompareWith(a, b, e.Collation) }

// MetaKind names one piece of metadata that a stage may attach to a document.
type MetaKind byte

// The metadata that $meta can read.
const (
	MetaTextScore MetaKind = iota
	MetaSearchScore
	MetaSearchHighlights
	MetaSearchScoreDetails
	MetaSearchSequenceToken
	MetaSearchRootDocumentID
	MetaVectorSearchScore
	MetaGeoNearDistance
	MetaGeoNearPoint
	MetaIndexKey
	MetaRecordID
	MetaSortKey
	MetaRandVal
	MetaTimeseriesBucketMinTime
	MetaTimeseriesBucketMaxTime
	MetaScore        // by which documents are ranked; without another one, that of a text search
	MetaScoreDetails // how MetaScore came about
	MetaExpiresAt    // when the document expires; DuskDB's own
)

// Meta is the metadata of one document. It is small and passed by value; Set
// never changes an earlier copy.
type Meta struct{ fields []metaField }

type metaField struct {
	kind  MetaKind
	value value.Value
}

// Get returns one piece of metadata, or Missing.
func (m Meta) Get(k MetaKind) value.Value {
	v := m.get(k)
	if k == MetaScore && v.IsMissing() {
		return m.get(MetaTextScore)
	}
	return v
}

func (m Meta) get(k MetaKind) value.Value {
	for i := range m.fields {
		if m.fields[i].kind == k {
			return m.fields[i].value
		}
	}
	return value.Value{}
}

// Set attaches one piece of metadata.
func (m *Meta) Set(k MetaKind, v value.Value) {
	fields := make([]metaField, 0, len(m.fields)+1)
	for _, f := range m.fields {
		if f.kind != k {
			fields = append(fields, f)
		}
	}
	m.fields = append(fields, metaField{k, v})
}

// IsEmpty reports whether there is no metadata at all.
func (m Meta) IsEmpty() bool { return len(m.fields) == 0 }
