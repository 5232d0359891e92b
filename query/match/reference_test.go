package match

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// The reference is a matcher written for clarity alone: it interprets the filter for
// every document, collects all values at a path in a list, and shares nothing with the
// real one but the comparison of two values.

func refFilter(filter, d value.Doc) bool {
	for name, arg := range filter.All() {
		if !refClause(name, arg, d) {
			return false
		}
	}
	return true
}

func refClause(name string, arg value.Value, d value.Doc) bool {
	count := func() (n int) {
		for f := range arg.Doc().Values() {
			if refFilter(f.Doc(), d) {
				n++
			}
		}
		return n
	}
	switch name {
	case "$and":
		return count() == arg.Doc().Len()
	case "$or":
		return count() > 0
	case "$nor":
		return count() == 0
	}
	parts := strings.Split(name, ".")
	if first := firstName(arg); strings.HasPrefix(first, "$") {
		return refOperators(arg.Doc(), refLeaves(d, parts), refWhole(d, parts))
	}
	return refAny(refLeaves(d, parts), func(v value.Value) bool { return refCompare("$eq", v, arg) })
}

// refOperators applies operators to the values at a path: leaves has the elements of
// arrays at its end, whole has the arrays themselves.
func refOperators(ops value.Doc, leaves, whole []value.Value) bool {
	for op, arg := range ops.All() {
		if !refOperator(op, arg, leaves, whole) {
			return false
		}
	}
	return true
}

func refOperator(op string, arg value.Value, leaves, whole []value.Value) bool {
	eq := func(want value.Value) bool {
		return refAny(leaves, func(v value.Value) bool { return refCompare("$eq", v, want) })
	}
	switch op {
	case "$not":
		return !refOperators(arg.Doc(), leaves, whole)
	case "$ne":
		return !eq(arg)
	case "$in":
		return slices.ContainsFunc(slices.Collect(arg.Doc().Values()), eq)
	case "$nin":
		return !slices.ContainsFunc(slices.Collect(arg.Doc().Values()), eq)
	case "$all":
		for want := range arg.Doc().Values() {
			if !eq(want) {
				return false
			}
		}
		return !arg.Doc().IsEmpty()
	case "$exists":
		return arg.Bool() == refAny(leaves, func(v value.Value) bool { return !v.IsMissing() })
	case "$type":
		return refAny(leaves, func(v value.Value) bool {
			return v.Kind().String() == arg.Str() || arg.Str() == "number" && v.IsNumber()
		})
	case "$size":
		return refAny(whole, func(v value.Value) bool {
			return v.Kind() == value.KindArray && v.Doc().Len() == int(arg.Int64())
		})
	case "$mod":
		d, r := arg.Doc().Index(0).Int64(), arg.Doc().Index(1).Int64()
		return refAny(leaves, func(v value.Value) bool {
			f := v.AsDouble()
			return v.IsNumber() && f == f && int64(f)%d == r
		})
	case "$elemMatch":
		return refElemMatch(arg.Doc(), whole)
	}
	return refAny(leaves, func(v value.Value) bool { return refCompare(op, v, arg) })
}

func refElemMatch(cond value.Doc, whole []value.Value) bool {
	first, _ := cond.First()
	values := strings.HasPrefix(first, "$") && first != "$or" && first != "$and" && first != "$nor"
	for _, a := range whole {
		if a.Kind() != value.KindArray {
			continue
		}
		for item := range a.Doc().Values() {
			if values && refOperators(cond, []value.Value{item}, []value.Value{item}) {
				return true
			}
			if !values && item.Doc() != nil && refFilter(cond, item.Doc()) {
				return true
			}
		}
	}
	return false
}

func refAny(vs []value.Value, pred func(value.Value) bool) bool { return slices.ContainsFunc(vs, pred) }

func refCompare(op string, v, want value.Value) bool {
	equalOK := op == "$eq" || op == "$lte" || op == "$gte"
	if want.Kind() == value.KindNull {
		return equalOK && (v.Kind() == value.KindNull || v.IsMissing())
	}
	if v.IsMissing() || v.Kind().Rank() != want.Kind().Rank() {
		return false
	}
	if v.IsNaN() || want.IsNaN() {
		return equalOK && v.IsNaN() && want.IsNaN()
	}
	c := value.Compare(v, want)
	switch op {
	case "$lt", "$lte":
		return c < 0 || equalOK && c == 0
	case "$gt", "$gte":
		return c > 0 || equalOK && c == 0
	}
	return c == 0
}

func refLeaves(d value.Doc, parts []string) (out []value.Value) {
	for _, r := range refPath(value.Document(d), parts) {
		if !r.direct && r.v.Kind() == value.KindArray {
			out = append(out, slices.Collect(r.v.Doc().Values())...)
		}
		out = append(out, r.v)
	}
	return out
}

func refWhole(d value.Doc, parts []string) (out []value.Value) {
	for _, r := range refPath(value.Document(d), parts) {
		out = append(out, r.v)
	}
	return out
}

// reached is a value at a path; direct reports whether the path has its position in
// an array.
type reached struct {
	v      value.Value
	direct bool
}

func refPath(v value.Value, parts []string) []reached {
	if v.Kind() == value.KindDocument {
		next := v.Doc().Lookup(parts[0])
		switch {
		case len(parts) == 1:
			return []reached{{v: next}}
		case next.Kind() == value.KindArray, next.Kind() == value.KindDocument:
			return refPath(next, parts[1:])
		}
		return []reached{{}}
	}
	var out []reached
	i := 0
	for item := range v.Doc().Values() {
		if item.Kind() == value.KindDocument {
			out = append(out, refPath(item, parts)...)
		}
		if parts[0] == strconv.Itoa(i) {
			switch {
			case len(parts) == 1:
				out = append(out, reached{item, true})
			case item.Doc() != nil:
				out = append(out, refPath(item, parts[1:])...)
			}
		}
		i++
	}
	return out
}

var scalars = []value.Value{
	value.Int32(0), value.Int32(1), value.Int64(2), value.Double(1), value.Double(-1.5), doc(`{v: nan}`).Lookup("v"),
	value.Null(), value.String("a"), value.String("b"), value.Bool(true), value.DateTime(5), value.Undefined(), value.Timestamp(0, 5),
	doc(`{v: {"$numberDecimal": "1.0"}}`).Lookup("v"), doc(`{v: {"$numberDecimal": "-1.5"}}`).Lookup("v"), value.Double(math.Copysign(0, -1)),
}

func genValue(t *rapid.T, depth int) value.Value {
	switch k := rapid.IntRange(0, 9).Draw(t, "kind"); {
	case depth > 0 && k < 2:
		return value.Document(genDoc(t, depth-1))
	case depth > 0 && k < 5:
		items := make([]value.Value, rapid.IntRange(0, 3).Draw(t, "items"))
		for i := range items {
			items[i] = genValue(t, depth-1)
		}
		return value.NewArray(items...)
	}
	return rapid.SampledFrom(scalars).Draw(t, "scalar")
}

var names = []string{"a", "b", "0", "1"}

func genDoc(t *rapid.T, depth int) value.Doc {
	b := value.NewBuilder()
	for _, name := range names[:3] {
		if rapid.IntRange(0, 2).Draw(t, "has") > 0 {
			b.Append(name, genValue(t, depth))
		}
	}
	return b.Doc()
}

// genArg makes a value to compare with: not undefined, which is refused, and
// no document that looks like an operator.
func genArg(t *rapid.T) value.Value {
	v := genValue(t, 1)
	if v.Kind() == value.KindUndefined {
		return value.Null()
	}
	return v
}

func genPath(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "path"), ".")
}

func genFilter(t *rapid.T, depth int) value.Doc {
	b := value.NewBuilder()
	if depth > 0 && rapid.IntRange(0, 3).Draw(t, "logical") == 0 {
		b.StartArray(rapid.SampledFrom([]string{"$and", "$or", "$nor"}).Draw(t, "list"))
		for range rapid.IntRange(1, 2).Draw(t, "clauses") {
			b.Document("", genFilter(t, depth-1))
		}
		b.End()
		return b.Doc()
	}
	if rapid.IntRange(0, 3).Draw(t, "implicit") == 0 {
		return b.Append(genPath(t), genArg(t)).Doc()
	}
	return b.Document(genPath(t), genOperators(t, depth)).Doc()
}

func genOperators(t *rapid.T, depth int) value.Doc {
	op := rapid.SampledFrom([]string{"$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$in", "$nin", "$all", "$exists",
		"$type", "$size", "$mod", "$not", "$elemMatch"}).Draw(t, "op")
	b := value.NewBuilder()
	switch op {
	case "$in", "$nin", "$all":
		b.StartArray(op)
		for range rapid.IntRange(0, 2).Draw(t, "options") {
			b.Append("", genArg(t))
		}
		b.End()
	case "$exists":
		b.Bool(op, rapid.Bool().Draw(t, "exists"))
	case "$type":
		b.String(op, rapid.SampledFrom([]string{"number", "array", "object", "null", "string", "int"}).Draw(t, "type"))
	case "$size":
		b.Int32(op, rapid.Int32Range(0, 3).Draw(t, "size"))
	case "$mod":
		b.StartArray(op).Int32("", 2).Int32("", rapid.Int32Range(0, 1).Draw(t, "rest")).End()
	case "$not":
		b.Document(op, genOperators(t, depth-1))
	case "$elemMatch":
		if rapid.Bool().Draw(t, "object") {
			b.Document(op, genFilter(t, depth-1))
		} else {
			b.Document(op, genOperators(t, depth-1))
		}
	default:
		b.Append(op, genArg(t))
	}
	return b.Doc()
}

func TestAgainstReference(t *testing.T) {
	env := expr.NewEnv(0)
	rapid.Check(t, func(t *rapid.T) {
		filter := genFilter(t, 2)
		m, err := Compile(filter, Options{})
		if err != nil {
			t.Fatalf("Compile(%v): %v", filter, err)
		}
		again, err := Compile(m.Parsed(), Options{})
		if err != nil {
			t.Fatalf("the parsed form %v of %v does not compile: %v", m.Parsed(), filter, err)
		}
		for range 20 {
			d := genDoc(t, 3)
			want := refFilter(filter, d)
			if got, _ := m.Match(env, d); got != want {
				t.Fatalf("filter %v on %v: %v, reference %v", filter, d, got, want)
			}
			if got, _, _ := m.MatchWithPosition(env, d); got != want {
				t.Fatalf("filter %v on %v: with position %v, reference %v", filter, d, got, want)
			}
			if got, _ := again.Match(env, d); got != want {
				t.Fatalf("filter %v parsed as %v on %v: %v, want %v", filter, m.Parsed(), d, got, want)
			}
			if !want {
				_ = m.Explain(env, d)
			}
		}
	})
}

// FuzzCompileAndMatch compiles arbitrary documents as filters.
func FuzzCompileAndMatch(f *testing.F) {
	for _, s := range []string{`{a: {$gt: 5}}`, `{$or: [{a: 1}, {b: {$in: [1, 2]}}]}`, `{a: {$elemMatch: {b: {$regex: "^x", $options: "i"}}}}`,
		`{a: {$bitsAllSet: [1, 5]}}`, `{$jsonSchema: {required: ["a"], properties: {a: {bsonType: "int", minimum: 3}}}}`,
		`{$expr: {$gt: ["$a", 1]}}`, `{loc: {$geoWithin: {$box: [[0, 0], [1, 1]]}}}`, `{loc: {$near: [0, 0], $maxDistance: 3}}`,
		`{a: {$all: [{$elemMatch: {b: 1}}]}}`, `{a: {$type: ["int", 2]}, b: {$mod: [3, 1]}, c: {$size: 2}}`} {
		f.Add([]byte(doc(s)), []byte(doc(`{a: [1, {b: "xy"}], loc: [0, 0]}`)))
	}
	env := expr.NewEnv(0)
	f.Fuzz(func(t *testing.T, filter, d []byte) {
		if value.Validate(filter) != nil || value.Validate(d) != nil {
			return
		}
		m, err := Compile(filter, Options{AllowNear: true})
		if err != nil {
			return
		}
		ok, pos, err := m.MatchWithPosition(env, d)
		if again, _ := m.Match(env, d); err == nil && again != ok && !strings.Contains(value.Doc(filter).String(), "$rand") && !strings.Contains(value.Doc(filter).String(), "$sampleRate") {
			t.Errorf("%v on %v: %v, then %v", value.Doc(filter), value.Doc(d), ok, again)
		}
		if pos < -1 {
			t.Errorf("position %d", pos)
		}
		_ = m.Parsed()
		_ = m.Explain(env, d)
		for range m.Equalities() {
		}
	})
}
