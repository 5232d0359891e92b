package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// The reference answers a find the slow way, in Go values: numbers, strings,
// bools, nil, lists and ordered fields. It knows the operators that refFilter
// lists, and shares no code with the server.
type (
	list  []any
	field struct {
		name  string
		value any
	}
	fields []field
)

// rank is the order of types.
func rank(v any) int {
	switch v.(type) {
	case nil:
		return 1
	case float64:
		return 2
	case string:
		return 3
	case fields:
		return 4
	case list:
		return 5
	case bool:
		return 6
	}
	panic(fmt.Sprintf("%T", v))
}

func compare(a, b any) int {
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	switch a := a.(type) {
	case float64:
		return cmp.Compare(a, b.(float64))
	case string:
		return strings.Compare(a, b.(string))
	case bool:
		return cmp.Compare(map[bool]int{true: 1}[a], map[bool]int{true: 1}[b.(bool)])
	case list:
		return slices.CompareFunc(a, b.(list), compare)
	case fields:
		return slices.CompareFunc(a, b.(fields), func(x, y field) int {
			return cmp.Or(cmp.Compare(rank(x.value), rank(y.value)), strings.Compare(x.name, y.name), compare(x.value, y.value))
		})
	}
	return 0
}

func (d fields) get(name string) (any, bool) {
	for _, f := range d {
		if f.name == name {
			return f.value, true
		}
	}
	return nil, false
}

// reach lists what a path leads to: through the documents of arrays, and to
// their elements where a part is a position. Missing ends are left out, and
// told of; to a sort an element that is no document is one too.
func reach(v any, parts []string, sorting bool) (found []any, missing bool) {
	if len(parts) == 0 {
		return []any{v}, false
	}
	switch v := v.(type) {
	case fields:
		next, ok := v.get(parts[0])
		if !ok {
			return nil, true
		}
		return reach(next, parts[1:], sorting)
	case list:
		if i := int(parts[0][0] - '0'); len(parts[0]) == 1 && i >= 0 && i < len(v) {
			found, _ = reach(v[i], parts[1:], sorting)
		}
		for _, e := range v {
			if d, ok := e.(fields); ok {
				more, none := reach(d, parts, sorting)
				found, missing = append(found, more...), missing || none
			} else if sorting {
				missing = true
			}
		}
		return found, missing
	}
	return nil, true
}

// refFilter judges a document.
func refFilter(filter, d fields) bool {
	for _, f := range filter {
		if !refClause(f, d) {
			return false
		}
	}
	return true
}

func refClause(f field, d fields) bool {
	n := 0
	if strings.HasPrefix(f.name, "$") {
		for _, branch := range f.value.(list) {
			if refFilter(branch.(fields), d) {
				n++
			}
		}
		switch f.name {
		case "$and":
			return n == len(f.value.(list))
		case "$or":
			return n > 0
		}
		return n == 0
	}
	found, missing := reach(d, strings.Split(f.name, "."), false)
	ops, ok := f.value.(fields)
	if !ok || len(ops) == 0 || !strings.HasPrefix(ops[0].name, "$") {
		ops = fields{{"$eq", f.value}}
	}
	for _, op := range ops {
		if !refOperator(op, found, missing) {
			return false
		}
	}
	return true
}

func refOperator(op field, found []any, missing bool) bool {
	switch op.name {
	case "$ne":
		return !refOperator(field{"$eq", op.value}, found, missing)
	case "$nin":
		return !refOperator(field{"$in", op.value}, found, missing)
	case "$not":
		return !refOperator(op.value.(fields)[0], found, missing)
	case "$in":
		return slices.ContainsFunc(op.value.(list), func(want any) bool {
			return refOperator(field{"$eq", want}, found, missing)
		})
	case "$exists":
		return (len(found) > 0) == op.value.(bool)
	case "$size":
		return slices.ContainsFunc(found, func(v any) bool {
			l, ok := v.(list)
			return ok && float64(len(l)) == op.value.(float64)
		})
	}
	candidates := slices.Clone(found)
	for _, v := range found {
		if l, ok := v.(list); ok {
			candidates = append(candidates, l...)
		}
	}
	if missing {
		candidates = append(candidates, nil)
	}
	return slices.ContainsFunc(candidates, func(v any) bool {
		if rank(v) != rank(op.value) {
			return false
		}
		c := compare(v, op.value)
		return map[string]bool{"$eq": c == 0, "$gt": c > 0, "$gte": c >= 0, "$lt": c < 0, "$lte": c <= 0}[op.name]
	})
}

// refSortValue is what a document is sorted by. An empty array comes before
// null.
func refSortValue(d fields, path string, desc bool) any {
	found, missing := reach(d, strings.Split(path, "."), true)
	var all []any
	for _, v := range found {
		if l, ok := v.(list); ok {
			if len(l) == 0 {
				all = append(all, emptyList{})
			}
			all = append(all, l...)
			continue
		}
		all = append(all, v)
	}
	if missing || len(all) == 0 {
		all = append(all, nil)
	}
	if desc {
		return slices.MaxFunc(all, compareSort)
	}
	return slices.MinFunc(all, compareSort)
}

type emptyList struct{}

func compareSort(a, b any) int {
	_, x := a.(emptyList)
	_, y := b.(emptyList)
	switch {
	case x && y:
		return 0
	case x:
		return -1
	case y:
		return 1
	}
	return compare(a, b)
}

// refFind filters and sorts.
func refFind(docs []fields, filter fields, sort []field) string {
	var out []fields
	for _, d := range docs {
		if refFilter(filter, d) {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b fields) int {
		for _, key := range sort {
			desc := key.value.(float64) < 0
			c := compareSort(refSortValue(a, key.name, desc), refSortValue(b, key.name, desc))
			if c != 0 {
				if desc {
					return -c
				}
				return c
			}
		}
		return 0
	})
	var ids []string
	for _, d := range out {
		ids = append(ids, fmt.Sprint(d[0].value))
	}
	return strings.Join(ids, " ")
}

// encode turns a value of the reference into BSON; whole numbers take several
// of its types.
func encode(v any) value.Value {
	switch v := v.(type) {
	case nil:
		return value.Null()
	case bool:
		return value.Bool(v)
	case string:
		return value.String(v)
	case float64:
		switch n := int64(v); {
		case float64(n) != v || n%3 == 2:
			return value.Double(v)
		case n%3 == 1:
			return value.Int64(n)
		}
		return value.Int32(int32(v))
	case list:
		var out []value.Value
		for _, e := range v {
			out = append(out, encode(e))
		}
		return value.NewArray(out...)
	case fields:
		b := value.NewBuilder()
		for _, f := range v {
			b.Append(f.name, encode(f.value))
		}
		return value.Document(b.Doc())
	}
	panic(fmt.Sprintf("%T", v))
}

func genRef(t *rapid.T, depth int) any {
	if depth > 0 {
		switch rapid.IntRange(0, 7).Draw(t, "shape") {
		case 0, 1:
			return genRefFields(t, depth-1)
		case 2:
			out := list{}
			for range rapid.IntRange(0, 3).Draw(t, "len") {
				out = append(out, genRef(t, depth-1))
			}
			return out
		}
	}
	switch rapid.IntRange(0, 6).Draw(t, "scalar") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return pick(t, "s", "", "a", "b", "ab")
	case 3:
		return 1.5
	}
	return float64(rapid.IntRange(0, 5).Draw(t, "n"))
}

func genRefFields(t *rapid.T, depth int) (out fields) {
	for _, name := range []string{"a", "b"} {
		if rapid.IntRange(0, 3).Draw(t, "has") > 0 {
			out = append(out, field{name, genRef(t, depth)})
		}
	}
	return out
}

func genRefFilter(t *rapid.T, depth int) (out fields) {
	for _, path := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "a.b", "b.a", "_id"}), 0, 3, rapid.ID[string]).Draw(t, "paths") {
		if depth > 0 && rapid.IntRange(0, 4).Draw(t, "nest") == 0 {
			name := pick(t, "logic", "$or", "$and", "$nor")
			if _, twice := out.get(name); !twice {
				out = append(out, field{name, list{genRefFilter(t, depth-1), genRefFilter(t, depth-1)}})
			}
			continue
		}
		op, arg := pick(t, "op", "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$size", "$not"), genRef(t, 1)
		switch op {
		case "$in", "$nin":
			arg = list{arg, genRef(t, 1)}
		case "$exists":
			arg = rapid.Bool().Draw(t, "exists")
		case "$size":
			arg = float64(rapid.IntRange(0, 2).Draw(t, "size"))
		case "$not":
			arg = fields{{pick(t, "inner", "$eq", "$gt", "$lte"), arg}}
		}
		out = append(out, field{path, fields{{op, arg}}})
	}
	return out
}

// TestFindAgainstReference compares finds, with indexes of all kinds in
// place, with the reference: which documents come, and in what order.
func TestFindAgainstReference(t *testing.T) {
	s := newServer(t)
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		coll := fmt.Sprint("ref", round)
		var docs []fields
		var stored []value.Value
		for i := range rapid.IntRange(1, 15).Draw(t, "docs") {
			d := append(fields{{"_id", float64(i)}}, genRefFields(t, 2)...)
			docs, stored = append(docs, d), append(stored, encode(d))
		}
		s.insertDocs(coll, stored)
		defer s.run(`{drop: '` + coll + `'}`)
		var specs []string
		for i, spec := range rapid.SliceOfNDistinct(rapid.SampledFrom(indexPool), 0, 3, rapid.ID[string]).Draw(t, "indexes") {
			if s.send(parse(fmt.Sprintf(`{createIndexes: '%s', indexes: [{key: %s, name: 'i%d'}]}`, coll, spec, i))).Lookup("ok").Truthy() {
				specs = append(specs, spec)
			}
		}
		for range 5 {
			filter := genRefFilter(t, 2)
			var sort []field
			if rapid.Bool().Draw(t, "sorted") {
				sort = append(sort, field{pick(t, "by", "a", "b", "a.b"), float64(pick(t, "direction", 1, -1))})
			}
			sort = append(sort, field{"_id", float64(pick(t, "direction", 1, -1))})
			reply := s.send(value.NewDoc("find", value.String(coll), "filter", encode(filter), "sort", encode(fields(sort))))
			if code, text := failure(reply); code != 0 {
				t.Fatalf("%s: %d %s", encode(filter), code, text)
			}
			if got, want := idsAsNumbers(batch(reply)), refFind(docs, filter, sort); got != want {
				t.Fatalf("%s sort %s\nindexes %v\ngot  %s\nwant %s\nof\n%v", encode(filter), encode(fields(sort)), specs, got, want, docs)
			}
		}
	})
}

func idsAsNumbers(docs []value.Doc) string {
	var out []string
	for _, d := range docs {
		out = append(out, fmt.Sprint(d.Lookup("_id").AsDouble()))
	}
	return strings.Join(out, " ")
}
