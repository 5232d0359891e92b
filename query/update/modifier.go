package update

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// modifier is the action of an operator at the end of its path. The methods
// write the current element through the applier ([applier.put],
// [applier.open]); modifiers themselves are immutable.
type modifier interface {
	// update changes an existing element.
	update(a *applier, e element) (outcome, error)
	// create writes a new element. It is called only if absent returns creates.
	create(a *applier) error
	// absent says what the modifier does if its path does not exist.
	absent(a *applier) (presence, error)
}

// outcome is the result of update.
type outcome byte

const (
	unchanged outcome = iota // nothing, and wrote nothing
	replaced                 // wrote the element
	removed                  // wrote nothing, the element is removed
)

// presence says how a modifier handles a missing path.
type presence byte

const (
	creates      presence = iota // creates it
	ignores                      // does nothing
	mustBeViable                 // does nothing, but fails if the path could not be created
)

// creator is embedded by modifiers that create their path.
type creator struct{}

func (creator) absent(*applier) (presence, error) { return creates, nil }

// culler is embedded by modifiers that remove elements from arrays.
type culler struct{}

func (culler) absent(*applier) (presence, error) { return mustBeViable, nil }
func (culler) create(*applier) error             { return nil }

// constant is a value of the update document, ready to be written.
type constant struct {
	value value.Value
	depth int32 // the number of levels below the value
}

func newConstant(v value.Value) constant { return constant{v, int32(depthOf(v))} }

// is reports whether the element has exactly this type and these bytes.
func (c *constant) is(e element) bool {
	return value.Identical(e.value, c.value)
}

// putConstant writes the current element with a constant.
func (a *applier) putConstant(c *constant) error {
	a.head(c.value.Kind())
	a.dst = value.AppendPayload(a.dst, c.value)
	return a.checkDepth(int(c.depth))
}

// checkDepth checks that the current element may contain depth more levels.
func (a *applier) checkDepth(depth int) error {
	if a.insert || len(a.path)+depth <= maxStoredDepth {
		return nil
	}
	return errTooDeep
}

// maxStoredDepth is the largest nesting depth of a stored document (BSON
// allows 200; the difference is reserved for documents that wrap it).
const maxStoredDepth = 180

var errTooDeep = mongoerr.Newf(mongoerr.Overflow, "Document exceeds maximum nesting depth of %d", maxStoredDepth)

// depthOf counts the levels below v.
func depthOf(v value.Value) int {
	deepest := 0
	it := v.Doc().Iter()
	for it.Next() {
		below := 0
		if k := it.Kind(); k == value.KindDocument || k == value.KindArray {
			below = depthOf(it.Value())
		}
		deepest = max(deepest, below+1)
	}
	return deepest
}

// idString prints the _id of the document for error messages.
func (a *applier) idString(none string) string {
	if id, ok := a.doc.Get("_id"); ok {
		return elementString("_id", id)
	}
	return none
}

// noElement is mongod's text for a missing _id in messages that do not check
// for it.
const noElement = "INVALID-MUTABLE-ELEMENT"

// name is the last component of the path to the current element.
func (a *applier) name() string { return a.path[len(a.path)-1] }
