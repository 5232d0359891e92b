package expr

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// twins draws one expression twice: with constants, and with each constant
// hidden behind a condition that only the document decides, so that nothing
// can be evaluated at compile time.
func twins(t *rapid.T, depth int) (plain, hidden value.Value) {
	if depth > 3 || rapid.IntRange(0, 2).Draw(t, "leaf") == 0 {
		v := arbitrary(t, 5)
		if v.Kind() == value.KindString {
			v = value.Document(value.NewDoc("$literal", v))
		}
		return v, value.Document(value.NewDoc("$cond", value.NewArray(value.String("$t"), v, value.Int32(0))))
	}
	op := rapid.SampledFrom(positional).Draw(t, "operator")
	var a, b value.ArrayBuilder
	for range rapid.IntRange(op.min, max(op.max, op.min+2)).Draw(t, "arity") {
		x, y := twins(t, depth+1)
		a.Append(x)
		b.Append(y)
	}
	return value.Document(value.NewDoc(op.name, a.Value())), value.Document(value.NewDoc(op.name, b.Value()))
}

// positional are the operators with arguments by position. Writing a single argument as
// an array may change its meaning, so only those with a fixed meaning are used.
var positional = func() (ops []*operator) {
	for i := range operators {
		if op := &operators[i]; op.params == nil && op.parse == nil && !op.volatile {
			ops = append(ops, op)
		}
	}
	return ops
}()

func TestFoldingChangesNothing(t *testing.T) {
	d := parse(t, `{t: true}`).Doc()
	rapid.Check(t, func(t *rapid.T) {
		plain, hidden := twins(t, 0)
		a, errA := evaluate(plain, d)
		b, errB := evaluate(hidden, d)
		switch {
		case errA != nil && errB == nil:
			// A constant operand that is never reached fails at compile time.
			if _, folded := errors.AsType[*FoldError](errA); !folded {
				t.Fatalf("%s: %v, but %s when evaluated", plain, errA, b)
			}
		case errA == nil && errB != nil:
			t.Fatalf("%s = %s, but %v when evaluated", plain, a, errB)
		case errA == nil && canonical(a) != canonical(b):
			t.Fatalf("%s = %s, but %s when evaluated", plain, canonical(a), canonical(b))
		case errA != nil && mongoerr.CodeOf(errB) == mongoerr.InternalError:
			t.Fatalf("%s: %v", hidden, errB)
		}
	})
}

func evaluate(v value.Value, d value.Doc) (value.Value, error) {
	e, err := Compile(v, nil)
	if err != nil {
		return value.Value{}, err
	}
	return e.Eval(NewEnv(0), d)
}
