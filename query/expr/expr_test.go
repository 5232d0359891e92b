package expr

import (
	"testing"

	"github.com/duskdb/duskdb/internal/relaxed"
	"github.com/duskdb/duskdb/value"
)

func parse(_ testing.TB, s string) value.Value { return relaxed.MustValue(s) }

func canonical(v value.Value) string {
	if v.IsMissing() {
		return "missing"
	}
	s := value.NewDoc("v", v).CanonicalJSON()
	return s[len(`{"v":`) : len(s)-1]
}

// testNow is $$NOW of the tests.
const testNow = 1600000000000

func run(t testing.TB, e value.Value, doc value.Doc) (value.Value, error) {
	t.Helper()
	return runIn(t, nil, e, doc)
}

// runIn is run with the variables and the version of a scope.
func runIn(t testing.TB, scope *Scope, e value.Value, doc value.Doc) (value.Value, error) {
	t.Helper()
	compiled, err := Compile(e, scope)
	if err != nil {
		return value.Value{}, err
	}
	return compiled.Eval(NewEnv(testNow), doc)
}
