package expr

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Memory gives the limits of an operation's expressions, and is asked before an
// evaluation takes much memory.
type Memory interface {
	// Claim is called before n more bytes are taken, for the rest of the operation. It
	// may wait until they are free.
	Claim(n int64) error
	// RangeBytes is what one $range may take.
	RangeBytes() int64
	// MapBytes is what the result of one $map or $reduce may take.
	MapBytes() int64
}

const (
	// maxHeld limits what one evaluation holds at a time: the arrays that operators have
	// built, and what they need to sort them. MongoDB has no such limit for one evaluation;
	// it limits all that an operation holds, in later versions.
	maxHeld = 512 << 20
	// maxFoldedBytes is that limit at compile time.
	maxFoldedBytes = 8 << 20
	// claimStep is the least number of bytes to claim.
	claimStep = 1 << 20
	// smallValue is the size from which a value counts as held.
	smallValue = 64 << 10
	// defaultMemory is the limit of $range, $map and $reduce.
	defaultMemory = 100 << 20
	// valueBytes is what MongoDB counts for each value, in addition to the bytes of a
	// string, array or document.
	valueBytes = 16
)

// maxValueBytes limits the size of a value that an expression builds, so that
// repeated doubling cannot exhaust memory before the final size is checked.
const maxValueBytes = 64 << 20

// checkSize fails for a value that is larger than maxValueBytes.
func checkSize(n int) error {
	if n > maxValueBytes {
		return mongoerr.Newf(13548, "BufBuilder attempted to grow() to %d bytes, past the 64MB limit.", n)
	}
	return nil
}

// CheckDepth fails for a value with more than a number of levels. Where values are put into one
// another, as by a $reduce or by stages one after the other, they could become so deep that what
// walks through them takes too much of the stack.
func CheckDepth(v value.Value, levels int) error {
	if k := v.Kind(); (k == value.KindDocument || k == value.KindArray) && v.Doc().DeeperThan(levels) {
		return mongoerr.Newf(mongoerr.Overflow, "cannot convert document to BSON because it exceeds the limit of %d levels of nesting", value.MaxDepth)
	}
	return nil
}

// hold is called before the evaluation of an operator takes n more bytes. They count until
// release.
func (e *Env) hold(op string, n int) error {
	e.held += n
	switch {
	case e.folding && e.held > maxFoldedBytes:
		return errTooLong
	case e.held > maxHeld:
		return mongoerr.Newf(mongoerr.ExceededMemoryLimit,
			"%s needs too much memory. Used: %d bytes. Memory limit: %d bytes", op, e.held, maxHeld)
	}
	more := e.held - e.claimed
	if e.Memory == nil || more < claimStep {
		return nil
	}
	e.claimed = e.held
	return e.Memory.Claim(int64(more))
}

// release is called with the result of an operator and with what was held before its
// evaluation. Only the result is held now. A small one may be a part of a large value, and
// is copied.
func (e *Env) release(before int, v value.Value) value.Value {
	if e.held == before {
		return v
	}
	n := len(v.Bytes())
	if n < smallValue {
		if n > 0 && e.held-before >= claimStep {
			v = v.Clone()
		}
		n = 0
	}
	e.held = before + n
	return v
}

// copied is called when a value has been copied into a literal document or array of n bytes,
// instead of release.
func (e *Env) copied(before, n int) error {
	if e.held != before {
		e.held = before + n
	}
	return checkSize(n)
}

// held is an operator with a node of its own. After its evaluation only the result is held.
type held struct{ node }

func (h held) eval(env *Env) (value.Value, error) {
	before := env.held
	v, err := h.node.eval(env)
	if err != nil {
		return value.Value{}, err
	}
	return env.release(before, v), nil
}

// accounted wraps what the parser of an operator returns, unless it builds nothing or accounts
// for its memory itself.
func accounted(n node) node {
	switch n.(type) {
	case nil, constant, *fieldPath, *meta, *object, *array, *call, held:
		return n
	}
	return held{n}
}

// rangeBytes is what $range may take.
func (e *Env) rangeBytes() int64 {
	if e.Memory == nil {
		return defaultMemory
	}
	return e.Memory.RangeBytes()
}

// mapBytes is what the result of $map or $reduce may take.
func (e *Env) mapBytes() int64 {
	if e.Memory == nil {
		return defaultMemory
	}
	return e.Memory.MapBytes()
}

// checkMapped fails if the result of $map or $reduce takes more than limit.
func checkMapped(op string, n int, limit int64) error {
	if int64(n) > limit {
		return mongoerr.Newf(mongoerr.ExceededMemoryLimit, "%s would use too much memory and cannot spill", op)
	}
	return nil
}

// arrayBuilder builds an array for an operator. What it takes is held.
type arrayBuilder struct {
	value.ArrayBuilder
	env  *Env
	op   string
	held int
}

// reserve makes room for an array of n bytes.
func (b *arrayBuilder) reserve(n int) error {
	if n < smallValue {
		return nil
	}
	if err := b.hold(n); err != nil {
		return err
	}
	b.Grow(n)
	return nil
}

// check is called after elements have been added. It fails if the array is too large.
func (b *arrayBuilder) check() error {
	if err := checkSize(b.Size()); err != nil {
		return err
	}
	return b.grown()
}

// grown is called after elements have been added. An array that outgrows its room is
// copied, so that both count.
func (b *arrayBuilder) grown() error {
	size := b.Size()
	if size <= b.held || size < smallValue {
		return nil
	}
	return b.hold(size + size/4)
}

// hold holds n bytes for the array, in all.
func (b *arrayBuilder) hold(n int) error {
	err := b.env.hold(b.op, n-b.held)
	b.held = n
	return err
}

// joined is the size of the array of all elements of arrays.
func joined(arrays ...value.Doc) int {
	size, n := emptyDoc, 0
	for _, d := range arrays {
		length := d.Len()
		size += len(d) - emptyDoc - value.ArrayNames(length)
		n += length
	}
	return size + value.ArrayNames(n)
}

// emptyDoc is the size of an array without elements.
const emptyDoc = 5
