package expr

import (
	"errors"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

const pathsDoc = `{a: {b: 1, c: {d: 2}}, arr: [{x: 1}, {x: 2, y: 3}, 7, [{x: 9}], {z: 0}], n: null, f: 0, t: true, '0': 'zero'}`

func TestPaths(t *testing.T) {
	checkResults(t, pathsDoc, []result{
		{`'$a.b'`, `1`}, {`'$a.c.d'`, `2`}, {`'$a.x'`, `missing`}, {`'$a.b.x'`, `missing`}, {`'$n.x'`, `missing`}, {`'$n'`, `null`},
		{`'$arr.x'`, `[1, 2]`}, {`'$arr.y'`, `[3]`}, {`'$arr.0'`, `[]`}, {`'$arr.x.q'`, `[]`}, {`'$0'`, `'zero'`},
		{`'$$ROOT.a.b'`, `1`}, {`'$$CURRENT.a.b'`, `1`}, {`'$$REMOVE'`, `missing`}, {`'$$NOW'`, `ms(1600000000000)`}, {`'plain'`, `'plain'`},
		{`{x: '$a.b', y: '$missing', z: [1, '$missing']}`, `{x: 1, z: [1, null]}`}, {`{}`, `{}`}, {`{a: {b: {$add: ['$a.b', 1]}}}`, `{a: {b: 2}}`},
		{`{$literal: '$a.b'}`, `'$a.b'`}, {`{$const: {$add: [1]}}`, `{$add: [1]}`},
	})
	checkFailures(t, pathsDoc, []failure{
		{`'$'`, 16872, "'$' by itself is not a valid FieldPath"}, {`'$a..b'`, 15998, "FieldPath field names may not be empty strings."}, {`'$a.'`, 40353, "FieldPath must not end with a '.'."}, {`'$.a'`, 15998, ""},
		{`'$a.$b'`, 16410, "FieldPath field names may not start with '$'. Consider using $getField or $setField."}, {`'$$what'`, 17276, "Use of undefined variable: what"}, {`'$$'`, 9, "empty variable names are not allowed"}, {`'$$9'`, 9, "'9' starts with an invalid character for a variable name"}, {`'$$a-b'`, 9, ""},
		{`{$foo: 1}`, 168, "Unrecognized expression '$foo'"}, {`{$add: 1, $sum: 2}`, 15983, "An object representing an expression must have exactly one field: { $add: 1, $sum: 2 }"}, {`{a: 1, $add: 2}`, 16410, ""}, {`{'a.b': 1}`, 16412, ""}, {`{$accumulator: {}}`, 168, "Unrecognized expression '$accumulator'"},
		{`'$$CLUSTER_TIME'`, 51144, "Builtin variable '$$CLUSTER_TIME' is not available"}, {`'$$KEEP'`, 17276, "Use of undefined variable: KEEP"},
	})
}

func TestLogic(t *testing.T) {
	checkResults(t, pathsDoc, []result{
		{`{$and: [1, 'a', '$t']}`, `true`}, {`{$and: []}`, `true`}, {`{$and: ['$f', {$divide: ['$t', '$f']}]}`, `false`}, {`{$or: []}`, `false`}, {`{$or: ['$n', '$t']}`, `true`}, {`{$or: ['$f', '$missing']}`, `false`},
		{`{$not: [true]}`, `false`}, {`{$not: '$missing'}`, `true`}, {`{$not: [[]]}`, `false`},
		{`{$cmp: [1, 2]}`, `-1`}, {`{$cmp: ['b', 'a']}`, `1`}, {`{$cmp: [1, 1.0]}`, `0`}, {`{$eq: ['$missing', null]}`, `false`}, {`{$lt: ['$missing', null]}`, `true`}, {`{$gt: ['a', 5]}`, `true`}, {`{$gte: [2, 2]}`, `true`}, {`{$lte: [3, 2]}`, `false`}, {`{$ne: [[1], [1]]}`, `false`},
		{`{$cond: ['$t', 1, 2]}`, `1`}, {`{$cond: {if: '$f', then: 1, else: '$a.b'}}`, `1`}, {`{$cond: ['$f', {$divide: [1, '$f']}, 2]}`, `2`},
		{`{$ifNull: ['$n', '$missing', 'x']}`, `'x'`}, {`{$ifNull: ['$f', 1]}`, `0`}, {`{$ifNull: ['$n', '$missing']}`, `missing`},
		{`{$switch: {branches: [{case: '$f', then: 1}, {case: '$t', then: 2}]}}`, `2`}, {`{$switch: {branches: [{case: false, then: 1}], default: 'd'}}`, `'d'`},
	})
	checkFailures(t, pathsDoc, []failure{
		{`{$cond: [1, 2]}`, 16020, "Expression $cond takes exactly 3 arguments. 2 were passed in."}, {`{$cond: {if: 1, then: 2}}`, 17082, "Missing 'else' parameter to $cond"}, {`{$cond: {if: 1, z: 2}}`, 17083, "Unrecognized parameter to $cond: z"},
		{`{$ifNull: [1]}`, 1257300, "$ifNull needs at least two arguments, had: 1"}, {`{$not: [1, 2]}`, 16020, ""}, {`{$eq: [1]}`, 16020, ""},
		{`{$switch: 1}`, 40060, "$switch requires an object as an argument, found: int"}, {`{$switch: {branches: 1}}`, 40061, "$switch expected an array for 'branches', found: int"}, {`{$switch: {branches: [1]}}`, 40062, ""}, {`{$switch: {branches: [{z: 1}]}}`, 40063, ""}, {`{$switch: {branches: [{then: 1}]}}`, 40064, ""}, {`{$switch: {branches: [{case: 1}]}}`, 40065, ""},
		{`{$switch: {branches: [{case: '$f', then: 1}]}}`, 40066, "$switch could not find a matching branch for an input, and no default was specified."}, {`{$switch: {z: 1}}`, 40067, ""}, {`{$switch: {branches: []}}`, 40068, "$switch requires at least one branch."},
	})
}

func TestObjects(t *testing.T) {
	checkResults(t, `{o: {a: 1, b: 2}, 'x': {'$odd.name': 5}, n: null, list: [1], s: 'str'}`, []result{
		{`{$mergeObjects: ['$o', {b: 3, c: 4}]}`, `{a: 1, b: 3, c: 4}`}, {`{$mergeObjects: ['$n', '$missing']}`, `{}`}, {`{$mergeObjects: '$o'}`, `{a: 1, b: 2}`}, {`{$mergeObjects: {$literal: [{a: 1}, null, {b: 2, a: 3}]}}`, `{a: 3, b: 2}`}, {`{$mergeObjects: []}`, `{}`},
		{`{$getField: 'n'}`, `null`}, {`{$getField: {field: {$literal: '$odd.name'}, input: '$x'}}`, `5`}, {`{$getField: {field: 'a', input: '$list'}}`, `missing`}, {`{$getField: {field: 'a', input: '$n'}}`, `null`}, {`{$getField: {field: 'a', input: '$missing'}}`, `missing`}, {`{$getField: {field: {$concat: ['a']}, input: '$o'}}`, `1`},
		{`{$setField: {field: 'b', input: '$o', value: 9}}`, `{a: 1, b: 9}`}, {`{$setField: {field: {$literal: '$c.d'}, input: '$o', value: 1}}`, `{a: 1, b: 2, '$c.d': 1}`}, {`{$setField: {field: 'a', input: '$o', value: '$$REMOVE'}}`, `{b: 2}`}, {`{$setField: {field: 'a', input: '$n', value: 1}}`, `null`},
		{`{$unsetField: {field: 'a', input: '$o'}}`, `{b: 2}`}, {`{$unsetField: {field: 'zz', input: '$o'}}`, `{a: 1, b: 2}`}, {`{$unsetField: {field: 'zz', input: '$missing'}}`, `null`},
	})
	checkFailures(t, `{o: {a: 1}, s: 'str'}`, []failure{
		{`{$mergeObjects: ['$o', 1]}`, 40400, "$mergeObjects requires object inputs, but input 1 is of type int"}, {`{$mergeObjects: ['$o', '$s']}`, 40400, `$mergeObjects requires object inputs, but input "str" is of type string`},
		{`{$getField: 1}`, 3041704, "$getField requires 'field' to evaluate to type String, but got int"}, {`{$getField: {field: 'a'}}`, 3041703, "$getField requires 'input' to be specified"}, {`{$getField: {input: 'a'}}`, 3041702, ""}, {`{$getField: {k: 1}}`, 3041701, "$getField found an unknown argument: k"},
		{`{$setField: 1}`, 4161100, "$setField only supports an object as its argument"}, {`{$setField: {field: 'a', input: {}}}`, 4161103, "$setField requires 'value' to be specified"}, {`{$setField: {field: '$a', input: {}, value: 1}}`, 4161108, ""}, {`{$setField: {field: {$concat: ['$s']}, input: {}, value: 1}}`, 4161106, "$setField requires 'field' to evaluate to a constant, but got a non-constant argument"},
		{`{$setField: {field: 1, input: {}, value: 1}}`, 4161107, "$setField requires 'field' to evaluate to type String, but got int"}, {`{$setField: {field: 'a', input: '$s', value: 1}}`, 4161105, "$setField requires 'input' to evaluate to type Object"}, {`{$unsetField: {field: 'a', input: {}, value: 1}}`, 4161101, "$unsetField found an unknown argument: value"}, {`{$unsetField: {field: 'a'}}`, 4161109, "$unsetField requires 'input' to be specified"},
	})
}

func TestAccumulators(t *testing.T) {
	checkResults(t, `{q: [10, 6, 7], mix: [1, 'a', null, 2.5], l: [long(9223372036854775807), 1], d: [0.1, 0.2, 0.3], m: [dec('1.5'), 1], n: null, i: 4}`, []result{
		{`{$sum: '$q'}`, `23`}, {`{$sum: ['$i', 1, 'x']}`, `5`}, {`{$sum: ['$q', 1]}`, `1`}, {`{$sum: '$mix'}`, `3.5`}, {`{$sum: '$n'}`, `0`}, {`{$sum: '$l'}`, `9.223372036854776e18`}, {`{$sum: [2147483647, 1]}`, `long(2147483648)`}, {`{$sum: '$d'}`, `0.6`}, {`{$sum: '$m'}`, `dec('2.5')`}, {`{$sum: [long(1), 1]}`, `long(2)`},
		{`{$avg: '$q'}`, `7.666666666666667`}, {`{$avg: '$n'}`, `null`}, {`{$avg: '$m'}`, `dec('1.25')`}, {`{$avg: [1, 2, 'x']}`, `1.5`},
		{`{$min: '$q'}`, `6`}, {`{$max: '$mix'}`, `'a'`}, {`{$min: '$mix'}`, `1`}, {`{$max: '$n'}`, `null`}, {`{$max: ['$i', 10, '$q']}`, `[10, 6, 7]`}, {`{$min: []}`, `null`},
		{`{$stdDevPop: [2, 4, 4, 4, 5, 5, 7, 9]}`, `2.0`}, {`{$stdDevSamp: [1, 2, 3, 'x']}`, `1.0`}, {`{$stdDevSamp: [1]}`, `null`}, {`{$stdDevPop: [1]}`, `0.0`}, {`{$stdDevPop: 'x'}`, `null`},
		{`{$percentile: {input: '$q', p: [0, 0.5, 1], method: 'approximate'}}`, `[6.0, 7.0, 10.0]`}, {`{$percentile: {input: '$n', p: [0.5], method: 'approximate'}}`, `[null]`}, {`{$median: {input: '$q', method: 'approximate'}}`, `7.0`}, {`{$median: {input: '$i', method: 'approximate'}}`, `4.0`}, {`{$median: {input: '$mix', method: 'approximate'}}`, `1.0`},
	})
	checkFailures(t, `{}`, []failure{
		{`{$percentile: 1}`, 7429703, ""}, {`{$median: 1}`, 7436100, ""}, {`{$percentile: {input: [1], method: 'approximate'}}`, 40414, "BSON field '$percentile.p' is missing but a required field"}, {`{$median: {input: [1], method: 'approximate', p: 1}}`, 40415, "BSON field '$median.p' is an unknown field."},
		{`{$median: {input: [1], method: 'discrete'}}`, 2, "Currently only 'approximate' can be used as a percentile 'method'."}, {`{$median: {input: [1], method: 1}}`, 14, "BSON field '$median.method' is the wrong type 'int', expected type 'string'"}, {`{$percentile: {input: [1], p: [2], method: 'approximate'}}`, 7750303, ""}, {`{$percentile: {input: [1], p: [], method: 'approximate'}}`, 7750301, ""}, {`{$percentile: {input: [1], p: ['$a'], method: 'approximate'}}`, 7750300, ""},
	})
}

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
	scope, let, err := ScopeWithLet(parse(t, `{x: 5, y: {$add: ['$$x', 1]}, now: ms(1600000000000)}`).Doc())
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
		if _, _, err := ScopeWithLet(parse(t, in).Doc()); mongoerr.CodeOf(err) != code {
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
	if !slices.IsSorted(names) || len(names) != 153 { // 152 and the alias $const
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

// Doubling again and again ends in an error, not in the end of the process.
func TestGrowthIsBounded(t *testing.T) {
	checkFailures(t, `{s: '0123456789'}`, []failure{
		{`{$reduce: {input: {$range: [0, 60]}, initialValue: '$s', in: {$concat: ['$$value', '$$value']}}}`, 16493, ""},
		{`{$reduce: {input: {$range: [0, 60]}, initialValue: ['$s'], in: {$concatArrays: ['$$value', '$$value']}}}`, 13548, ""},
		{`{$reduce: {input: {$range: [0, 60]}, initialValue: '$s', in: ['$$value', '$$value']}}`, 13548, ""},
		{`{$reduce: {input: {$range: [0, 60]}, initialValue: '$s', in: {a: '$$value', b: '$$value'}}}`, 13548, ""},
		{`{$reduce: {input: {$range: [0, 60]}, initialValue: '$s', in: {$replaceAll: {input: '$$value', find: '0', replacement: '$$value'}}}}`, 16493, ""},
	})
}

func TestInterrupt(t *testing.T) {
	env := NewEnv(0)
	env.Interrupt = func() error { return mongoerr.New(mongoerr.Interrupted, "operation was interrupted") }
	e := compile(t, `{$map: {input: {$range: [0, 100000]}, in: '$$this'}}`, nil)
	if _, err := e.Eval(env, value.EmptyDoc); !mongoerr.Is(err, mongoerr.Interrupted) {
		t.Errorf("got %v, want an interruption", err)
	}
}
