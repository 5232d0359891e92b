package update

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

func TestPush(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$push":{"a":4}}`, doc: `{"a":[1,2]}`, want: `{"a":[1,2,4]}`},
		{update: `{"$push":{"a":[4]}}`, doc: `{"a":[1]}`, want: `{"a":[1,[4]]}`},
		{update: `{"$push":{"a":4}}`, doc: `{}`, want: `{"a":[4]}`},
		{update: `{"$push":{"a.b":4}}`, doc: `{}`, want: `{"a":{"b":[4]}}`},
		{update: `{"$push":{"a.1":4}}`, doc: `{"a":[[1],[2]]}`, want: `{"a":[[1],[2,4]]}`},
		{update: `{"$push":{"a":{"$slice":2}}}`, doc: `{"a":[]}`, want: `{"a":[{"$slice":2}]}`},
		{update: `{"$push":{"a":{"$each":[3,4]}}}`, doc: `{"a":[1]}`, want: `{"a":[1,3,4]}`},
		{update: `{"$push":{"a":{"$each":[]}}}`, doc: `{"a":[1]}`},
		{update: `{"$push":{"a":{"$each":[]}}}`, doc: `{}`, want: `{"a":[]}`},
		{update: `{"$push":{"a":{"$each":[3,4],"$position":0}}}`, doc: `{"a":[1,2]}`, want: `{"a":[3,4,1,2]}`},
		{update: `{"$push":{"a":{"$each":[3],"$position":1}}}`, doc: `{"a":[1,2]}`, want: `{"a":[1,3,2]}`},
		{update: `{"$push":{"a":{"$each":[3],"$position":9}}}`, doc: `{"a":[1,2]}`, want: `{"a":[1,2,3]}`},
		{update: `{"$push":{"a":{"$each":[90,80],"$position":-2}}}`, doc: `{"a":[50,60,70,100]}`, want: `{"a":[50,60,90,80,70,100]}`},
		{update: `{"$push":{"a":{"$each":[9],"$position":-9}}}`, doc: `{"a":[1,2]}`, want: `{"a":[9,1,2]}`},
		{update: `{"$push":{"a":{"$each":[],"$slice":2}}}`, doc: `{"a":[1,2,3]}`, want: `{"a":[1,2]}`},
		{update: `{"$push":{"a":{"$each":[],"$slice":-2}}}`, doc: `{"a":[1,2,3]}`, want: `{"a":[2,3]}`},
		{update: `{"$push":{"a":{"$each":[],"$slice":3}}}`, doc: `{"a":[1,2,3]}`},
		{update: `{"$push":{"a":{"$each":[4],"$slice":0}}}`, doc: `{"a":[1,2,3]}`, want: `{"a":[]}`},
		{update: `{"$push":{"a":{"$each":[4],"$slice":{"$numberLong":"-9223372036854775808"}}}}`, doc: `{"a":[1]}`, want: `{"a":[1,4]}`},
		{update: `{"$push":{"a":{"$each":[2,9],"$sort":1}}}`, doc: `{"a":[7,1]}`, want: `{"a":[1,2,7,9]}`},
		{update: `{"$push":{"a":{"$each":[2,9],"$sort":-1,"$slice":2}}}`, doc: `{"a":[7,1]}`, want: `{"a":[9,7]}`},
		{name: "quizzes of the manual", update: `{"$push":{"quizzes":{"$each":[{"wk":5,"score":8},{"wk":6,"score":7},{"wk":7,"score":6}],
			"$sort":{"score":-1},"$slice":3}}}`,
			doc:  `{"_id":5,"quizzes":[{"wk":1,"score":10},{"wk":2,"score":8},{"wk":3,"score":5},{"wk":4,"score":6}]}`,
			want: `{"_id":5,"quizzes":[{"wk":1,"score":10},{"wk":2,"score":8},{"wk":5,"score":8}]}`},
		{update: `{"$push":{"a":{"$each":[],"$sort":{"b.c":1}}}}`, doc: `{"a":[{"b":{"c":2}},{"b":{"c":1}},{"x":1},5]}`,
			want: `{"a":[{"x":1},5,{"b":{"c":1}},{"b":{"c":2}}]}`},
		{update: `{"$push":{"a":1}}`, doc: `{"_id":7,"a":1}`, code: 2,
			message: "The field 'a' must be an array but is of type int in document {_id: 7}"},
		{update: `{"$push":{"a.b":1}}`, doc: `{"a":{"b":"x"}}`, code: 2,
			message: "The field 'a.b' must be an array but is of type string in document {no id}"},
		{update: `{"$push":{"a":{"$each":1}}}`, doc: `{}`, code: 2, message: "The argument to $each in $push must be an array but it was of type: int"},
		{update: `{"$push":{"a":{"$each":[],"$x":1}}}`, doc: `{}`, code: 2, message: "Unrecognized clause in $push: $x"},
		{update: `{"$push":{"a":{"$each":[],"$slice":"1"}}}`, doc: `{}`, code: 2,
			message: "The value for $slice must be an integer value but was given type: string"},
		{update: `{"$push":{"a":{"$each":[],"$slice":1.5}}}`, doc: `{}`, code: 2,
			message: "The value for $slice must be an integer value but was given type: double"},
		{update: `{"$push":{"a":{"$each":[],"$position":null}}}`, doc: `{}`, code: 2,
			message: "The value for $position must be an integer value, not of type: null"},
		{update: `{"$push":{"a":{"$each":[],"$sort":2}}}`, doc: `{}`, code: 2, message: "The $sort element value must be either 1 or -1"},
		{update: `{"$push":{"a":{"$each":[],"$sort":{"x":2}}}}`, doc: `{}`, code: 2, message: "The sort element value must be either 1 or -1"},
		{update: `{"$push":{"a":{"$each":[],"$sort":{}}}}`, doc: `{}`, code: 2,
			message: "The sort pattern is empty when it should be a set of fields."},
		{update: `{"$push":{"a":{"$each":[],"$sort":{"":1}}}}`, doc: `{}`, code: 2, message: "The sort field cannot be empty"},
		{update: `{"$push":{"a":{"$each":[],"$sort":{"a.":1}}}}`, doc: `{}`, code: 2,
			message: "The sort field is a dotted field but has an empty part: a."},
		{update: `{"$push":{"a":{"$each":[],"$sort":"x"}}}`, doc: `{}`, code: 2, message: "The $sort is invalid: use 1/-1 to sort the" +
			" whole element, or {field:1/-1} to sort embedded fields"},
	})
}

func TestAddToSet(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$addToSet":{"a":3}}`, doc: `{"a":[1,2]}`, want: `{"a":[1,2,3]}`},
		{update: `{"$addToSet":{"a":2.0}}`, doc: `{"a":[1,2]}`},
		{update: `{"$addToSet":{"a":[1]}}`, doc: `{"a":[1,2]}`, want: `{"a":[1,2,[1]]}`},
		{update: `{"$addToSet":{"a":{"$each":[2,3,3,4]}}}`, doc: `{"a":[1,2]}`, want: `{"a":[1,2,3,4]}`},
		{update: `{"$addToSet":{"a":{"$each":[1,1]}}}`, doc: `{}`, want: `{"a":[1]}`},
		{update: `{"$addToSet":{"a":{"$each":[]}}}`, doc: `{}`, want: `{"a":[]}`},
		{update: `{"$addToSet":{"a":{"x":1,"y":2}}}`, doc: `{"a":[{"y":2,"x":1}]}`, want: `{"a":[{"y":2,"x":1},{"x":1,"y":2}]}`},
		{update: `{"$addToSet":{"a":{"x":1,"$each":2}}}`, doc: `{"a":[]}`, want: `{"a":[{"x":1,"$each":2}]}`},
		{update: `{"$addToSet":{"a":1}}`, doc: `{"a":1}`, code: 2,
			message: "Cannot apply $addToSet to non-array field. Field named 'a' has non-array type int"},
		{update: `{"$addToSet":{"a":{"$each":1}}}`, doc: `{}`, code: 14,
			message: "The argument to $each in $addToSet must be an array but it was of type int"},
		{update: `{"$addToSet":{"a":{"$each":[],"x":1}}}`, doc: `{}`, code: 2,
			message: "Found unexpected fields after $each in $addToSet: { $each: [], x: 1 }"},
	})
}

func TestMerging(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{name: "levels below the merged element", update: `{"$set":{"a.$[].x.p":1,"a.$[i].x.q":2,"a.$[i].y":3}}`, filters: []string{`{"i.k":1}`},
			doc: `{"a":[{"k":1,"x":{"r":0}},{"k":2}]}`, want: `{"a":[{"k":1,"x":{"r":0,"p":1,"q":2},"y":3},{"k":2,"x":{"p":1}}]}`},
		{update: `{"$set":{"a.$[].x.$[]":1,"a.$[i].x.$[j]":2}}`, filters: []string{`{"i.k":1}`, `{"j":5}`},
			doc: `{"a":[{"k":1,"x":[4,5]}]}`, code: 40, message: "Update created a conflict at 'a.0.x.1'"},
		{update: `{"$set":{"a.$[].x.$[].u":1,"a.$[i].x.$[j].v":2}}`, filters: []string{`{"i.k":1}`, `{"j.w":5}`},
			doc: `{"a":[{"k":1,"x":[{"w":5},{}]}]}`, want: `{"a":[{"k":1,"x":[{"w":5,"u":1,"v":2},{"u":1}]}]}`},
		{update: `{"$set":{"a.$[].x.$[]":1,"a.$[i].x.y":2}}`, filters: []string{`{"i.k":1}`},
			doc: `{"a":[{"k":1,"x":[5,6]}]}`, code: 40, message: "Update created a conflict at 'a.0.x'"},
		{update: `{"$set":{"a.$[].x.$":1,"a.$[i].x.1":2}}`, filters: []string{`{"i.k":1}`}, position: 1,
			doc: `{"a":[{"k":1,"x":[5,6]}]}`, want: `{"a":[{"k":1,"x":[1,2]}]}`},
		{update: `{"$set":{"a.$[].x":1,"a.$[i].x":2}}`, filters: []string{`{"i.k":1}`},
			doc: `{"a":[{"k":0},{"k":1}]}`, code: 40, message: "Update created a conflict at 'a.1.x'"},
	})
}

// caseless compares strings without regard to case.
type caseless struct{}

func (caseless) Compare(a, b string) int {
	return strings.Compare(strings.ToLower(a), strings.ToLower(b))
}
func (caseless) AppendKey(dst []byte, s string) []byte {
	return append(dst, strings.ToLower(s)...)
}

func TestCollation(t *testing.T) {
	for _, tt := range []struct{ update, doc, want string }{
		{`{"$addToSet":{"a":"X"}}`, `{"a":["x"]}`, `{"a":["x"]}`},
		{`{"$addToSet":{"a":{"$each":["Y","y"]}}}`, `{"a":["x"]}`, `{"a":["x","Y"]}`},
		{`{"$pull":{"a":"X"}}`, `{"a":["x","y"]}`, `{"a":["y"]}`},
		{`{"$pull":{"a":{"$in":["X"]}}}`, `{"a":["x","y"]}`, `{"a":["y"]}`},
		{`{"$pullAll":{"a":["X"]}}`, `{"a":["x","y"]}`, `{"a":["y"]}`},
		{`{"$max":{"a":"B"}}`, `{"a":"a"}`, `{"a":"B"}`},
		{`{"$min":{"a":"B"}}`, `{"a":"a"}`, `{"a":"a"}`},
		{`{"$push":{"a":{"$each":["C"],"$sort":1}}}`, `{"a":["d","B","a"]}`, `{"a":["a","B","C","d"]}`},
		{`{"$set":{"a":"X"}}`, `{"a":"x"}`, `{"a":"X"}`},
	} {
		u, err := Compile(value.Document(value.MustJSON(tt.update)), Options{Collation: caseless{}})
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := u.Apply(expr.NewEnv(now), value.MustJSON(tt.doc), ApplyOptions{Position: -1})
		if err != nil || got.JSON() != value.MustJSON(tt.want).JSON() {
			t.Errorf("%s on %s: %s %v", tt.update, tt.doc, got, err)
		}
	}
}

func TestFirstErrorCounts(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$inc":{"a":1,"b":1}}`, doc: `{"_id":1,"b":"x","a":[]}`, code: 14, message: "Cannot apply $inc to a value of non-numeric" +
			" type. {_id: 1} has the field 'a' of non-numeric type array"},
		{update: `{"$inc":{"b":1},"$set":{"a.b":1}}`, doc: `{"b":"x","a":1}`, code: 28},
		{update: `{"$inc":{"b":1},"$set":{"c.d":1}}`, doc: `{"c":1,"b":"x"}`, code: 14},
		{update: `{"$set":{"b.x.y":8},"$push":{"a.01.b":1,"a.1.b.c":2}}`, doc: `{"_id":1,"a":["xxxxxxxxxxxxxxxxxxxxxxxxx",{}],"b":{"x":1}}`, code: 28},
		{update: `{"$inc":{"a.0":1},"$set":{"a.b":1}}`, doc: `{"_id":1,"a":["x"]}`, code: 14},
		{update: `{"$inc":{"a.0":1},"$set":{"a.$x":1}}`, doc: `{"_id":1,"a":["x"]}`, code: 28},
	})
}

func TestPop(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$pop":{"a":1}}`, doc: `{"a":[8,9,10]}`, want: `{"a":[8,9]}`},
		{update: `{"$pop":{"a":-1}}`, doc: `{"a":[8,9,10]}`, want: `{"a":[9,10]}`},
		{update: `{"$pop":{"a":1}}`, doc: `{"a":[]}`},
		{update: `{"$pop":{"a":1}}`, doc: `{}`},
		{update: `{"$pop":{"a.b":1}}`, doc: `{"a":{}}`},
		{update: `{"$pop":{"a.2.b":1}}`, doc: `{"a":[{"b":0},{"b":1}]}`},
		{update: `{"$pop":{"a.b":1}}`, doc: `{"a":1}`, code: 28, message: "Cannot use the part (b) of (a.b) to traverse the element ({a: 1})"},
		{update: `{"$pop":{"a.b":1}}`, doc: `{"a":[{"b":[1]}]}`, code: 28,
			message: "Cannot use the part (b) of (a.b) to traverse the element ({a: [ { b: [ 1 ] } ]})"},
		{update: `{"$pop":{"a":1}}`, doc: `{"a":"x"}`, code: 14, message: "Path 'a' contains an element of non-array type 'string'"},
		{update: `{"$pop":{"a":2}}`, doc: `{}`, code: 9, message: "$pop expects 1 or -1, found: 2"},
		{update: `{"$pop":{"a.b":"1"}}`, doc: `{}`, code: 9, message: `Expected a number in: a.b: "1"`},
		{update: `{"$pop":{"a":1.5}}`, doc: `{}`, code: 9, message: `Expected an integer: a: 1.5`},
		{update: `{"$pop":{"a":{"$numberDouble":"NaN"}}}`, doc: `{}`, code: 9, message: `Expected an integer, but found NaN in: a: nan`},
		{update: `{"$pop":{"a":1e300}}`, doc: `{}`, code: 9},
	})
}

func TestPull(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$pull":{"a":1}}`, doc: `{"a":[1,2,1.0,3]}`, want: `{"a":[2,3]}`},
		{update: `{"$pull":{"a":9}}`, doc: `{"a":[1,2]}`},
		{update: `{"$pull":{"a":[1]}}`, doc: `{"a":[1,[1],[1,2]]}`, want: `{"a":[1,[1,2]]}`},
		{update: `{"$pull":{"a":1}}`, doc: `{"a":[[1],1]}`, want: `{"a":[[1]]}`},
		{update: `{"$pull":{"a":{"$gte":6}}}`, doc: `{"a":[1,3,5,6,7,8]}`, want: `{"a":[1,3,5]}`},
		{update: `{"$pull":{"a":{"$in":["apples","oranges"]}}}`, doc: `{"a":["apples","pears","oranges"]}`, want: `{"a":["pears"]}`},
		{update: `{"$pull":{"results":{"score":8,"item":"B"}}}`,
			doc:  `{"results":[{"item":"A","score":5},{"item":"B","score":8}]}`,
			want: `{"results":[{"item":"A","score":5}]}`},
		{update: `{"$pull":{"results":{"answers":{"$elemMatch":{"q":2,"a":{"$gte":8}}}}}}`,
			doc:  `{"results":[{"answers":[{"q":1,"a":4},{"q":2,"a":6}]},{"answers":[{"q":1,"a":8},{"q":2,"a":9}]}]}`,
			want: `{"results":[{"answers":[{"q":1,"a":4},{"q":2,"a":6}]}]}`},
		{update: `{"$pull":{"a":{"$regularExpression":{"pattern":"^x","options":""}}}}`, doc: `{"a":["xy","yx"]}`, want: `{"a":["yx"]}`},
		{update: `{"$pull":{"a":{"b":1}}}`, doc: `{"a":[{"b":1,"c":2},{"b":2},1]}`, want: `{"a":[{"b":2},1]}`},
		{update: `{"$pull":{"a":1}}`, doc: `{}`},
		{update: `{"$pull":{"a":1}}`, doc: `{"a":1}`, code: 2, message: "Cannot apply $pull to a non-array value"},
		{update: `{"$pull":{"a.b":1}}`, doc: `{"a":1}`, code: 28},
		{update: `{"$pull":{"a":{"$foo":1}}}`, doc: `{}`, code: 2},
		{update: `{"$pullAll":{"a":[0,5]}}`, doc: `{"a":[0,2,5,5,1,0]}`, want: `{"a":[2,1]}`},
		{update: `{"$pullAll":{"a":[]}}`, doc: `{"a":[0]}`},
		{update: `{"$pullAll":{"a":1}}`, doc: `{}`, code: 2, message: "$pullAll requires an array argument but was given a int"},
		{update: `{"$pullAll":{"a":[1]}}`, doc: `{"a":1}`, code: 2, message: "Cannot apply $pull to a non-array value"},
	})
}

func TestPositional(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$set":{"a.$":9}}`, doc: `{"a":[1,2,3]}`, position: 2, want: `{"a":[1,9,3]}`},
		{update: `{"$set":{"a.$.b":9}}`, doc: `{"a":[{"b":1},{"b":2}]}`, position: 1, want: `{"a":[{"b":9},{"b":2}]}`},
		{update: `{"$inc":{"a.$.b.0":9}}`, doc: `{"a":[{"b":[1]},{"b":[2]}]}`, position: 2, want: `{"a":[{"b":[1]},{"b":[11]}]}`},
		{update: `{"$unset":{"a.$":1}}`, doc: `{"a":[1,2]}`, position: 1, want: `{"a":[null,2]}`},
		{name: "merged with the same position by number", update: `{"$set":{"a.$.b":9,"a.0.c":8}}`,
			doc: `{"a":[{"b":1}]}`, position: 1, want: `{"a":[{"b":9,"c":8}]}`},
		{name: "beside another position", update: `{"$set":{"a.$.b":9,"a.0.c":8}}`,
			doc: `{"a":[{"b":1},{}]}`, position: 2, want: `{"a":[{"b":1,"c":8},{"b":9}]}`},
		{update: `{"$set":{"a.$.b":9,"a.0.b":8}}`, doc: `{"a":[{"b":1}]}`, position: 1, code: 40,
			message: "Update created a conflict at 'a.0.b'"},
		{update: `{"$set":{"a.$":9}}`, doc: `{"a":[1,2,3]}`, code: 2,
			message: "The positional operator did not find the match needed from the query."},
		{update: `{"$set":{"a.$.b.$":9}}`, doc: `{}`, code: 2, message: "Too many positional (i.e. '$') elements found in path 'a.$.b.$'"},
		{update: `{"$set":{"$.a":9}}`, doc: `{}`, code: 2, message: "Cannot have positional (i.e. '$') element in the first position in path '$.a'"},
		{update: `{"$set":{"a.$":9,"a.b":1}}`, doc: `{"a":{"0":1}}`, position: 1, want: `{"a":{"0":9,"b":1}}`},
		{update: `{"$set":{"b.$":9}}`, doc: `{"a":[1]}`, position: 1, want: `{"a":[1],"b":{"0":9}}`},
	})
}

func TestArrayFilters(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$set":{"a.$[]":0}}`, doc: `{"a":[1,2,3]}`, want: `{"a":[0,0,0]}`},
		{update: `{"$inc":{"a.$[].b":1}}`, doc: `{"a":[{"b":1},{"c":1}]}`, want: `{"a":[{"b":2},{"c":1,"b":1}]}`},
		{update: `{"$set":{"a.$[]":0}}`, doc: `{"a":[]}`},
		{update: `{"$unset":{"a.$[]":0}}`, doc: `{"a":[1,2]}`, want: `{"a":[null,null]}`},
		{update: `{"$set":{"grades.$[e]":100}}`, filters: []string{`{"e":{"$gte":100}}`}, doc: `{"grades":[95,102,90,150]}`,
			want: `{"grades":[95,100,90,100]}`},
		{update: `{"$set":{"grades.$[e]":100}}`, filters: []string{`{"e":{"$gte":200}}`}, doc: `{"grades":[95,102]}`},
		{update: `{"$set":{"grades.$[e].mean":100}}`, filters: []string{`{"e.grade":{"$gte":85}}`},
			doc:  `{"grades":[{"grade":80,"mean":75},{"grade":85,"mean":90}]}`,
			want: `{"grades":[{"grade":80,"mean":75},{"grade":85,"mean":100}]}`},
		{update: `{"$inc":{"g.$[t].q.$[s]":-2}}`, filters: []string{`{"t.type":"quiz"}`, `{"s":{"$gte":8}}`},
			doc:  `{"g":[{"type":"quiz","q":[10,8,5]},{"type":"exam","q":[9]}]}`,
			want: `{"g":[{"type":"quiz","q":[8,6,5]},{"type":"exam","q":[9]}]}`},
		{update: `{"$set":{"a.$[i].x":1,"a.$[j].y":2}}`, filters: []string{`{"i.k":1}`, `{"j.m":1}`},
			doc: `{"a":[{"k":1},{"m":1},{"k":1,"m":1},{}]}`, want: `{"a":[{"k":1,"x":1},{"m":1,"y":2},{"k":1,"m":1,"x":1,"y":2},{}]}`},
		{update: `{"$set":{"a.$[i]":1,"a.$[j]":2}}`, filters: []string{`{"i":5}`, `{"j":{"$gt":4}}`}, doc: `{"a":[5]}`, code: 40,
			message: "Update created a conflict at 'a.0'"},
		{update: `{"$set":{"a.$[]":1}}`, doc: `{}`, code: 2,
			message: "The path 'a' must exist in the document in order to apply array updates."},
		{update: `{"$set":{"a.b.$[]":1}}`, doc: `{"a":1}`, code: 2,
			message: "The path 'a.b' must exist in the document in order to apply array updates."},
		{update: `{"$set":{"a.$[]":1}}`, doc: `{"a":"x"}`, code: 2, message: `Cannot apply array updates to non-array element a: "x"`},
		{update: `{"$set":{"$[].a":1}}`, doc: `{}`, code: 2,
			message: "Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '$[].a'"},
		{update: `{"$set":{"a.$[i]":1}}`, doc: `{}`, code: 2, message: "No array filter found for identifier 'i' in path 'a.$[i]'"},
		{update: `{"$set":{"a.$[i]":1}}`, filters: []string{`{"i":1}`, `{"j":1}`}, doc: `{}`, code: 9,
			message: "The array filter for identifier 'j' was not used in the update { $set: { a.$[i]: 1 } }"},
		{update: `{"$set":{"a.$[i]":1}}`, filters: []string{`{"i":1}`, `{"i.b":1}`}, doc: `{}`, code: 9,
			message: "Found multiple array filters with the same top-level field name i"},
		{update: `{"$set":{"a.$[i]":1}}`, filters: []string{`{"i":1,"j":1}`}, doc: `{}`, code: 9,
			message: "Error parsing array filter :: caused by :: Expected a single top-level field name, found 'i' and 'j'"},
		{update: `{"$set":{"a.$[i]":1}}`, filters: []string{`{"I":1}`}, doc: `{}`, code: 2, message: "Error parsing array filter ::" +
			" caused by :: The top-level field name must be an alphanumeric string beginning with a lowercase letter, found 'I'"},
		{update: `{"$set":{"a.$[i]":1}}`, filters: []string{`{}`}, doc: `{}`, code: 9,
			message: "Cannot use an expression without a top-level field name in arrayFilters"},
		{update: `{"$set":{"a.$[i]":1,"a.0":2}}`, filters: []string{`{"i":1}`}, doc: `{}`, code: 40,
			message: "Updating the path 'a.0' would create a conflict at 'a'"},
		{update: `{"$set":{"a.$[i]":1,"a.$[i].b":2}}`, filters: []string{`{"i":1}`}, doc: `{}`, code: 40,
			message: "Updating the path 'a.$[i].b' would create a conflict at 'a.$[i]'"},
	})
}
