package expr

import (
	"errors"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

const arraysDoc = `{a: [1, 2, 3], e: [], n: null, s: 'x', o: {k: 1}, docs: [{q: 3, w: 'c'}, {q: 1, w: 'a'}, {w: 'b'}], nest: [[1, 2], [3]], mix: [3, 'a', null, {b: 1}, [0], true]}`

func compile(t *testing.T, e string, s *Scope) *Expr {
	t.Helper()
	compiled, err := Compile(parse(t, e), s)
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	return compiled
}

func TestIntrospection(t *testing.T) {
	if v, ok := compile(t, `{$add: [1, {$multiply: [2, 3]}]}`, nil).Const(); !ok || v.Int32() != 7 {
		t.Errorf("not folded: %v", v)
	}
	if _, ok := compile(t, `{$rand: {}}`, nil).Const(); ok {
		t.Error("$rand was folded")
	}
	if p, ok := compile(t, `'$a.b'`, nil).FieldPath(); !ok || p != "a.b" {
		t.Errorf("field path %q", p)
	}
	e := compile(t, `{$map: {input: '$a.b', as: 'x', in: {$add: ['$$x.c', '$d', {$size: '$$ROOT.e'}]}}}`, nil)
	var paths []string
	whole := false
	e.Deps(func(p string) { paths = append(paths, p) }, func() { whole = true })
	if !slices.Equal(paths, []string{"a.b", "d", "e"}) || whole {
		t.Errorf("deps %v %v", paths, whole)
	}
	e.Vars(func(slot int) { t.Errorf("outer variable %d", slot) })
	compile(t, `{$eq: ['$$ROOT', 1]}`, nil).Deps(nil, func() { whole = true })
	if !whole {
		t.Error("$$ROOT is not the whole document")
	}
	if k := compile(t, `[{$meta: 'textScore'}]`, nil).Meta(); !slices.Equal(k, []MetaKind{MetaTextScore}) {
		t.Errorf("meta %v", k)
	}
	if name, args, ok := compile(t, `{$gt: ['$a', 1]}`, nil).Call(); name != "$gt" || len(args) != 2 || !ok {
		t.Errorf("call %s %d", name, len(args))
	}
	want := `{ $cond: [ { $gt: [ "$a", { $const: 1 } ] }, "$$ROOT", { x: "$b" } ] }`
	if got := compile(t, `{$cond: [{$gt: ['$a', 1]}, '$$ROOT', {x: '$b'}]}`, nil).Value().String(); got != want {
		t.Errorf("serialised as %s, want %s", got, want)
	}
}

// What explain shows compiles to the same expression again.
func TestSerialisedFormCompiles(t *testing.T) {
	d := parse(t, arraysDoc).Doc()
	for _, e := range []string{
		`{$map: {input: '$a', in: {$add: ['$$this', 1]}}}`, `{$filter: {input: '$a', as: 'x', cond: {$gt: ['$$x', 1]}, limit: 1}}`, `{$let: {vars: {x: '$a'}, in: '$$x'}}`,
		`{$reduce: {input: '$a', initialValue: 0, in: {$add: ['$$value', '$$this']}}}`, `{$zip: {inputs: ['$a', ['x']]}}`, `{$sortArray: {input: '$a', sortBy: -1}}`,
		`{$switch: {branches: [{case: '$s', then: 1}], default: 2}}`, `{$trim: {input: '$s', chars: 'x'}}`, `{$median: {input: '$a', method: 'approximate'}}`, `{$percentile: {input: '$a', p: [0.5], method: 'approximate'}}`, `{x: ['$a', {$literal: '$b'}]}`, `{$getField: {field: 's', input: '$$ROOT'}}`, `{$year: {date: '$n'}}`, `{$cond: ['$n', 1, '$s']}`, `{$toInt: '$n'}`,
	} {
		first := compile(t, e, nil)
		again, err := Compile(first.Value(), nil)
		if err != nil {
			t.Errorf("%s: %v", first.Value(), err)
			continue
		}
		a, _ := first.Eval(NewEnv(0), d)
		b, _ := again.Eval(NewEnv(0), d)
		if canonical(a) != canonical(b) {
			t.Errorf("%s = %s, then %s", e, canonical(a), canonical(b))
		}
	}
}

func TestFoldError(t *testing.T) {
	_, err := Compile(parse(t, `{$cond: ['$a', {$divide: [1, 0]}, 2]}`), nil)
	if _, ok := errors.AsType[*FoldError](err); !ok || mongoerr.CodeOf(err) != 2 {
		t.Errorf("got %v, want a fold error with code 2", err)
	}
}

func TestScopes(t *testing.T) {
	scope, let, err := ScopeWithLet(dialect.Mongo82, parse(t, `{x: 5, y: {$add: ['$$x', 1]}, now: ms(1600000000000)}`).Doc())
	if err != nil {
		t.Fatal(err)
	}
	env := NewEnv(testNow)
	if err := let.Once(env); err != nil {
		t.Fatal(err)
	}
	e := compile(t, `{$map: {input: ['$a'], as: 'y', in: ['$$y', '$$x', '$$now']}}`, scope)
	got, err := e.Eval(env, parse(t, `{a: 1}`).Doc())
	if want := canonical(parse(t, `[[1, 5, ms(1600000000000)]]`)); err != nil || canonical(got) != want {
		t.Errorf("%v %v, want %s", got, err, want)
	}
	if y := env.Get(1); y.Int32() != 6 {
		t.Errorf("y is %v after $map shadowed it, want 6", y)
	}
	for in, code := range map[string]mongoerr.Code{`{x: '$a'}`: 4890500, `{x: '$$y', y: 1}`: 17276, `{X: 1}`: 9, `{NOW: 1}`: 4738901, `{CLUSTER_TIME: 1}`: 4738901,
		`{IS_MR: true}`: 4738901, `{JS_SCOPE: {}}`: 4738901, `{ROOT: 1}`: 9, `{REMOVE: 1}`: 9} {
		if _, _, err := ScopeWithLet(dialect.Mongo82, parse(t, in).Doc()); mongoerr.CodeOf(err) != code {
			t.Errorf("%s: %v, want %d", in, err, code)
		}
	}
	inner, let2, err := scope.WithLet(parse(t, `{x: '$b', z: '$$x'}`).Doc())
	if err != nil {
		t.Fatal(err)
	}
	sub := env.Fork()
	if err := let2.Bind(env, sub, parse(t, `{b: 'outer'}`).Doc()); err != nil {
		t.Fatal(err)
	}
	got, _ = compile(t, `['$$x', '$$y', '$$z']`, inner).Eval(sub, value.EmptyDoc)
	if want := canonical(parse(t, `['outer', 6, 5]`)); canonical(got) != want {
		t.Errorf("%s, want %s", canonical(got), want)
	}
	scope.DeclareConst("KEEP", value.String("keep"))
	if v, ok := compile(t, `'$$KEEP'`, scope).Const(); !ok || v.Str() != "keep" {
		t.Errorf("KEEP is %v", v)
	}
}

func TestTable(t *testing.T) {
	names := Names()
	if !slices.IsSorted(names) || len(names) != 154 { // 152 and the alias $const
		t.Errorf("%d names", len(names))
	}
	if !slices.IsSortedFunc(operators, func(a, b operator) int {
		return value.Compare(value.String(mapASCII(a.name, 'A', 'Z')), value.String(mapASCII(b.name, 'A', 'Z')))
	}) {
		t.Error("the table is not sorted")
	}
	for _, op := range operators {
		if op.is != "" && byName[op.is] != nil && byName[op.name] == byName[op.is] {
			continue
		}
		if op.category == "" || op.eval == nil && op.parse == nil || op.params != nil && op.style == nil && op.parse == nil {
			t.Errorf("%s: the row is not complete", op.name)
		}
	}
}

func TestInterrupt(t *testing.T) {
	env := NewEnv(0)
	env.Interrupt = func() error { return mongoerr.New(mongoerr.Interrupted, "operation was interrupted") }
	e := compile(t, `{$map: {input: {$range: [0, 100000]}, in: '$$this'}}`, nil)
	if _, err := e.Eval(env, value.EmptyDoc); !mongoerr.Is(err, mongoerr.Interrupted) {
		t.Errorf("got %v, want an interruption", err)
	}
}
