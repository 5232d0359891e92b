package query

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// indexPool are the indexes of which random tests make some.
var indexPool = []string{
	`{a: 1}`, `{a: -1}`, `{b: 1}`, `{a: 1, b: 1}`, `{a: 1, b: -1}`, `{b: -1, c: 1}`, `{a: 1, b: 1, c: 1}`, `{'a.b': 1}`, `{'a.b': 1, 'a.c': 1}`, `{'b.0': 1}`,
	`{a: 1}, sparse: true`, `{b: 1, c: 1}, sparse: true`, `{a: 1}, partialFilterExpression: {b: {$gt: 1}}`, `{b: 1}, partialFilterExpression: {a: {$exists: true}}`,
	`{'$**': 1}`, `{'$**': 1}, wildcardProjection: {a: 1, _id: 0}`, `{'a.$**': 1}`, `{c: 1, 'a.$**': 1}`, `{a: 'hashed'}`, `{b: 1, a: 'hashed'}`, `{c: 'hashed'}`,
	`{a: 1}, collation: {locale: 'en', strength: 2}`, `{b: 1, a: 1}, collation: {locale: 'en', strength: 2}`, `{c: 1, b: 1}`, `{_id: 1, a: 1}`, `{c: 1, a: 1, b: 1}`, `{a: 1, _id: 1}`, `{b: 1, a: -1, _id: -1}`, `{'a.b': -1, c: 1, _id: 1}`,
}

func pick[T any](t *rapid.T, name string, from ...T) T { return rapid.SampledFrom(from).Draw(t, name) }

func genScalar(t *rapid.T) value.Value {
	n := rapid.IntRange(0, 4).Draw(t, "n")
	switch rapid.IntRange(0, 11).Draw(t, "kind") {
	case 0:
		return value.Null()
	case 1:
		return value.Bool(n > 2)
	case 2, 3:
		return value.String(pick(t, "s", "", "a", "B", "b", "ab"))
	case 4:
		return pick(t, "number", value.Double(float64(n)+0.5), value.MustJSON(`{"n":{"$numberDecimal":"2.0"}}`).Lookup("n"), value.Double(math.Copysign(0, -1)), value.Symbol("a"))
	case 5:
		return value.Int64(int64(n))
	case 6:
		return value.Double(float64(n))
	case 7:
		return value.DateTime(int64(n))
	}
	return value.Int32(int32(n))
}

func genValue(t *rapid.T, depth int) value.Value {
	if depth > 0 {
		switch rapid.IntRange(0, 9).Draw(t, "shape") {
		case 0, 1:
			return value.Document(genFields(t, depth-1))
		case 2, 3:
			var list []value.Value
			for range rapid.IntRange(0, 3).Draw(t, "len") {
				list = append(list, genValue(t, depth-1))
			}
			return value.NewArray(list...)
		}
	}
	return genScalar(t)
}

func genFields(t *rapid.T, depth int) value.Doc {
	b := value.NewBuilder()
	for _, name := range []string{"a", "b", "c"} {
		if rapid.IntRange(0, 3).Draw(t, "has "+name) > 0 {
			b.Append(name, genValue(t, depth))
		}
	}
	return b.Doc()
}

// genDocs makes documents; flat ones have no arrays, so that indexes stay
// single-key and may do more.
func genDocs(t *rapid.T) (docs []value.Value) {
	depth := rapid.IntRange(0, 2).Draw(t, "depth")
	for i := range rapid.IntRange(1, 24).Draw(t, "docs") {
		b := value.NewBuilder()
		b.Int32("_id", int32(i))
		it := genFields(t, depth).Iter()
		b.Raw(it.Rest())
		docs = append(docs, value.Document(b.Doc()))
	}
	return docs
}

func genPath(t *rapid.T) string {
	return pick(t, "path", "a", "a", "a", "b", "b", "c", "a.b", "a.c", "b.0", "a.b.c", "_id")
}

func genPredicate(t *rapid.T) value.Value {
	op := pick(t, "op", "", "", "$eq", "$gt", "$gte", "$lt", "$lte", "$ne", "$in", "$in", "$nin", "$exists", "$type", "$size", "$all", "$elemMatch", "$not", "$regex", "$mod", "$bitsAllSet", "range")
	var arg value.Value
	switch op {
	case "":
		return genValue(t, 1)
	case "$in", "$nin", "$all":
		var list []value.Value
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			list = append(list, genValue(t, 1))
		}
		arg = value.NewArray(list...)
	case "$exists":
		arg = value.Bool(rapid.Bool().Draw(t, "exists"))
	case "$type":
		arg = value.String(pick(t, "type", "number", "string", "null", "array", "object", "int", "bool", "date"))
	case "$size":
		arg = value.Int32(int32(rapid.IntRange(0, 3).Draw(t, "size")))
	case "$elemMatch":
		arg = value.Document(pick(t, "elem", parse(`{b: 1}`), parse(`{b: {$gt: 1}, c: {$lt: 3}}`), parse(`{$gt: 1, $lt: 4}`), parse(`{b: null}`), parse(`{$in: [1, 'a']}`), parse(`{$exists: true}`)))
	case "$not":
		arg = value.Document(value.NewDoc(pick(t, "inner", "$gt", "$eq", "$lte"), genValue(t, 1)))
	case "$regex":
		arg = value.String(pick(t, "pattern", "^a", "b", "^", "^ab$"))
	case "$mod":
		arg = value.NewArray(value.Int32(2), value.Int32(1))
	case "$bitsAllSet":
		arg = value.Int32(1)
	case "range":
		return value.Document(value.NewDoc("$gte", genScalar(t), "$lt", genScalar(t)))
	default:
		arg = genValue(t, 1)
	}
	return value.Document(value.NewDoc(op, arg))
}

// genComparison makes an expression that an index may serve.
func genComparison(t *rapid.T) value.Doc {
	field := value.String("$" + pick(t, "field", "a", "b", "c", "a.b"))
	operand := value.Document(value.NewDoc("$literal", genValue(t, 1)))
	op := pick(t, "compare", "$eq", "$gt", "$gte", "$lt", "$lte")
	if rapid.Bool().Draw(t, "turned") {
		field, operand = operand, field
	}
	return value.NewDoc(op, value.NewArray(field, operand))
}

func genFilter(t *rapid.T, depth int) value.Doc {
	b := value.NewBuilder()
	for range rapid.IntRange(0, 3).Draw(t, "clauses") {
		if depth > 0 && rapid.IntRange(0, 4).Draw(t, "nest") == 0 {
			var list []value.Value
			for range rapid.IntRange(1, 3).Draw(t, "branches") {
				list = append(list, value.Document(genFilter(t, depth-1)))
			}
			b.Append(pick(t, "logic", "$or", "$or", "$and", "$nor"), value.NewArray(list...))
			continue
		}
		if rapid.IntRange(0, 7).Draw(t, "expr") == 0 {
			b.Document("$expr", genComparison(t))
			continue
		}
		b.Append(genPath(t), genPredicate(t))
	}
	return b.Doc()
}

// genSort makes a sort that leaves no ties: the order has one answer.
func genSort(t *rapid.T) value.Doc {
	b := value.NewBuilder()
	paths := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "a.b"}), 0, 3, rapid.ID[string]).Draw(t, "sort")
	if slices.Contains(paths, "a") { // a and a.b may both be arrays: no sort has two of those
		paths = slices.DeleteFunc(paths, func(s string) bool { return s == "a.b" })
	}
	for _, p := range paths {
		b.Int32(p, pick[int32](t, "direction", 1, -1))
	}
	b.Int32("_id", pick[int32](t, "direction", 1, -1))
	return b.Doc()
}

// genPage takes a part of what is sorted.
func genPage(t *rapid.T, query *value.Builder) {
	if n := rapid.IntRange(0, 3).Draw(t, "limit"); n > 0 {
		query.Int32("limit", int32(n*2))
	}
	if rapid.IntRange(0, 3).Draw(t, "skips") == 0 {
		query.Int32("skip", 2)
	}
}

// outcome is what a command answered, as text: in its order, or in any.
func outcome(reply value.Doc, sorted bool) string {
	if code, _ := failure(reply); code != 0 {
		return fmt.Sprint("error ", code)
	}
	var out []string
	for _, d := range batch(reply) {
		d = ordered(d)
		out = append(out, fmt.Sprintf("%s %x", d, value.Marshal(nil, value.Document(d))))
	}
	if !sorted {
		slices.Sort(out)
	}
	return strings.Join(out, "\n")
}

// distinctOutcome is what distinct answered, in the order of the values. Which
// of several equal numbers stands for them is left open.
func distinctOutcome(reply value.Doc) string {
	if code, _ := failure(reply); code != 0 {
		return fmt.Sprint("error ", code)
	}
	return keysOf(slices.Collect(reply.Lookup("values").Doc().Values()))
}

// groupOutcome is which groups an aggregation found.
func groupOutcome(reply value.Doc) string {
	if code, _ := failure(reply); code != 0 {
		return fmt.Sprint("error ", code)
	}
	var values []value.Value
	for _, d := range batch(reply) {
		values = append(values, d.Lookup("_id"))
	}
	return keysOf(values)
}

func keysOf(values []value.Value) string {
	slices.SortFunc(values, value.Compare)
	var keys []byte
	for _, v := range values {
		keys = value.AppendKey(keys, v)
	}
	return fmt.Sprintf("%x", keys)
}

// ordered puts the fields of a document in the order of their names: a result
// made from an index has them in its order.
func ordered(d value.Doc) value.Doc {
	fields := map[string]value.Value{}
	for name, v := range d.All() {
		if v.Kind() == value.KindDocument {
			v = value.Document(ordered(v.Doc()))
		}
		fields[name] = v
	}
	b := value.NewBuilder()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		b.Append(name, fields[name])
	}
	return b.Doc()
}

// TestIndexesChangeNothing runs random queries with and without random
// indexes: the answers, their order included, must be the same.
func TestIndexesChangeNothing(t *testing.T) {
	s := newServer(t)
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		plain, indexed := fmt.Sprint("plain", round), fmt.Sprint("indexed", round)
		docs := genDocs(t)
		s.insertDocs(plain, docs)
		s.insertDocs(indexed, docs)
		defer s.run(`{drop: '` + plain + `'}`)
		defer s.run(`{drop: '` + indexed + `'}`)
		var specs []string
		for i, spec := range rapid.SliceOfNDistinct(rapid.SampledFrom(indexPool), 1, 4, rapid.ID[string]).Draw(t, "indexes") {
			reply := s.send(parse(fmt.Sprintf(`{createIndexes: '%s', indexes: [{key: %s, name: 'i%d'}]}`, indexed, spec, i)))
			if reply.Lookup("ok").Truthy() { // arrays do not go into every index
				specs = append(specs, spec)
			}
		}
		for range 6 {
			query := value.NewBuilder()
			filter := genFilter(t, 2)
			query.Document("filter", filter)
			sorted := rapid.IntRange(0, 2).Draw(t, "sorted") > 0
			if sorted {
				genPage(t, query.Document("sort", genSort(t)))
			}
			if rapid.IntRange(0, 3).Draw(t, "collated") == 0 {
				query.Document("collation", parse(`{locale: 'en', strength: 2}`))
			}
			if rapid.IntRange(0, 3).Draw(t, "projected") < 2 {
				query.Document("projection", pick(t, "projection", parse(`{a: 1, _id: 0}`), parse(`{a: 1, b: 1}`), parse(`{b: 1, a: 1, _id: 0}`), parse(`{b: 1, _id: 0}`), parse(`{'a.b': 1, _id: 0}`), parse(`{'a.b': 1, 'a.c': 1, _id: 0}`), parse(`{c: 1, x: {$add: ['$b', 1]}, _id: 0}`), parse(`{a: 0}`)))
			}
			options := query.Doc()
			find := func(coll string) value.Doc {
				it := options.Iter()
				return value.NewBuilder().String("find", coll).Raw(it.Rest()).Doc()
			}
			want, got := outcome(s.send(find(plain)), sorted), outcome(s.send(find(indexed)), sorted)
			if got != want {
				explained := s.send(value.NewDoc("explain", value.Document(find(indexed))))
				t.Fatalf("%s\nindexes %v\ngot\n%s\nwant\n%s\nplan %s", options, specs, got, want, explained.Lookup("queryPlanner").Doc().Lookup("winningPlan"))
			}
			count := func(coll string) string {
				return s.send(value.NewDoc("count", value.String(coll), "query", value.Document(filter))).Lookup("n").String()
			}
			if want, got := count(plain), count(indexed); got != want {
				t.Fatalf("count %s\nindexes %v\ngot %s want %s", filter, specs, got, want)
			}
			if rapid.Bool().Draw(t, "every") {
				filter = value.EmptyDoc
			}
			key := value.String(genPath(t))
			groups := func(coll string) string {
				pipeline := value.NewArray(value.Document(value.NewDoc("$match", value.Document(filter))),
					value.Document(value.NewDoc("$group", value.Document(value.NewDoc("_id", value.String("$"+key.Str()))))))
				return groupOutcome(s.send(value.NewDoc("aggregate", value.String(coll), "pipeline", pipeline, "cursor", value.Document(value.EmptyDoc))))
			}
			if want, got := groups(plain), groups(indexed); got != want {
				t.Fatalf("groups by %s of %s\nindexes %v\ngot  %s\nwant %s", key, filter, specs, got, want)
			}
			end := value.Document(value.NewDoc(pick(t, "end", "$first", "$last"), value.String("$_id")))
			ends := func(coll string) string {
				pipeline := value.NewArray(value.Document(value.NewDoc("$match", value.Document(filter))),
					value.Document(value.NewDoc("$sort", value.Document(value.NewDoc(key.Str(), value.Int32(1), "_id", value.Int32(1))))),
					value.Document(value.NewDoc("$group", value.Document(value.NewDoc("_id", value.String("$"+key.Str()), "end", end)))),
					value.Document(parse(`{$project: {_id: '$end'}}`)))
				return groupOutcome(s.send(value.NewDoc("aggregate", value.String(coll), "pipeline", pipeline, "cursor", value.Document(value.EmptyDoc))))
			}
			if want, got := ends(plain), ends(indexed); key.Str() != "_id" && got != want {
				t.Fatalf("%s of groups by %s of %s\nindexes %v\ngot  %s\nwant %s", end, key, filter, specs, got, want)
			}
			distinct := func(coll string) string {
				return distinctOutcome(s.send(value.NewDoc("distinct", value.String(coll), "key", key, "query", value.Document(filter))))
			}
			if want, got := distinct(plain), distinct(indexed); got != want {
				t.Fatalf("distinct %s of %s\nindexes %v\ngot  %s\nwant %s", key, filter, specs, got, want)
			}
		}
	})
}
