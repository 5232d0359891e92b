package agg

import (
	"strings"
	"testing"
)

// refused is a stage that writes, with mongod's error.
type refused struct {
	code    int32
	message string
	stage   string
}

// The errors of $out and $merge before they read documents.
func TestWritersRefuse(t *testing.T) {
	s := newServer(t)
	s.insert("c", `[{_id: 1}]`)
	for _, c := range []refused{
		{16990, "$out only supports a string or object argument, but found array", `{$out: ["x"]}`},
		{16990, "$out only supports a string or object argument, but found null", `{$out: null}`},
		{73, "Invalid $out target namespace, test.", `{$out: ""}`},
		{20, "Executor error during aggregate command on namespace: test.c :: caused by :: error with target namespace: Invalid collection name: a$b", `{$out: "a$b"}`},
		{73, "Invalid $out target namespace, test..a", `{$out: ".a"}`},
		{73, "Invalid $out target namespace, a b.c", `{$out: {db: "a b", coll: "c"}}`},
		{17385, "Can't $out to special collection: system.js", `{$out: "system.js"}`},
		{31321, "Can't $out to internal database: admin", `{$out: {db: "admin", coll: "c"}}`},
		{31321, "Can't $out to internal database: local", `{$out: {db: "local", coll: "c"}}`},
		{40414, "BSON field '$out.db' is missing but a required field", `{$out: {coll: "c"}}`},
		{40414, "BSON field '$out.coll' is missing but a required field", `{$out: {db: "c"}}`},
		{40415, "BSON field '$out.mode' is an unknown field.", `{$out: {db: "test", coll: "c", mode: "replace"}}`},
		{14, "BSON field '$out.coll' is the wrong type 'int', expected type 'string'", `{$out: {db: "test", coll: 1}}`},
		{14, "BSON field '$out.timeseries' is the wrong type 'string', expected type 'object'", `{$out: {db: "test", coll: "x", timeseries: "t"}}`},
		{40414, "BSON field '$out.timeseries.timeField' is missing but a required field", `{$out: {db: "test", coll: "x", timeseries: {metaField: "m"}}}`},

		{14, "$merge requires a string or object argument, but found double", `{$merge: 1.5}`},
		{14, "$merge requires a string or object argument, but found array", `{$merge: ["x"]}`},
		{40414, "BSON field '$merge.into' is missing but a required field", `{$merge: {whenMatched: "merge"}}`},
		{40415, "BSON field '$merge.upsert' is an unknown field.", `{$merge: {into: "x", upsert: true}}`},
		{51178, "$merge 'into' field  must be either a string or an object, but found int", `{$merge: {into: 1}}`},
		{5786800, "$merge 'into' field cannot be an empty string", `{$merge: {into: ""}}`},
		{5786801, "$merge 'into' field must specify a 'coll' that is not empty, null or undefined", `{$merge: {into: {}}}`},
		{5786801, "$merge 'into' field must specify a 'coll' that is not empty, null or undefined", `{$merge: {into: {db: "test"}}}`},
		{5786801, "$merge 'into' field must specify a 'coll' that is not empty, null or undefined", `{$merge: {into: {coll: null}}}`},
		{5786801, "$merge 'into' field must specify a 'coll' that is not empty, null or undefined", `{$merge: {into: {coll: "", db: "x"}}}`},
		{14, "BSON field 'into.coll' is the wrong type 'int', expected type 'string'", `{$merge: {into: {coll: 1}}}`},
		{40415, "BSON field 'into.x' is an unknown field.", `{$merge: {into: {coll: "a", x: 1}}}`},
		{73, "Invalid $merge target namespace: 'test.a$'", `{$merge: "a$"}`},
		{73, "Invalid $merge target namespace: '$.c'", `{$merge: {into: {db: "$", coll: "c"}}}`},
		{31319, "Cannot $merge to special collection: system.views", `{$merge: "system.views"}`},
		{31320, "Cannot $merge to internal database: config", `{$merge: {into: {db: "config", coll: "c"}}}`},
		{51186, "$merge 'on' field  must be either a string or an array of strings, but found double", `{$merge: {into: "x", on: 3.14}}`},
		{51186, "$merge 'on' field  must be either a string or an array of strings, but found object", `{$merge: {into: "x", on: {_id: 1}}}`},
		{51187, "If explicitly specifying $merge 'on', must include at least one field", `{$merge: {into: "x", on: []}}`},
		{51134, "$merge 'on' array elements must be strings, but found int", `{$merge: {into: "x", on: ["hashed", 1]}}`},
		{51134, "$merge 'on' array elements must be strings, but found array", `{$merge: {into: "x", on: [["_id"]]}}`},
		{51134, "$merge 'on' array elements must be strings, but found null", `{$merge: {into: "x", on: [null]}}`},
		{51134, "$merge 'on' array elements must be strings, but found bool", `{$merge: {into: "x", on: [true, "a"]}}`},
		{31465, "Found a duplicate field '_id'", `{$merge: {into: "x", on: ["_id", "a", "_id"]}}`},
		{51191, "$merge 'whenMatched' field  must be either a string or an array, but found object", `{$merge: {into: "x", whenMatched: {$set: {}}}}`},
		{2, "Enumeration value 'pipeline' for field 'whenMatched' is not a valid value.", `{$merge: {into: "x", whenMatched: "pipeline"}}`},
		{2, "Enumeration value 'replace' for field '$merge.whenNotMatched' is not a valid value.", `{$merge: {into: "x", whenNotMatched: "replace"}}`},
		{14, "BSON field '$merge.whenNotMatched' is the wrong type 'array', expected type 'string'", `{$merge: {into: "x", whenNotMatched: []}}`},
		{51181, "Combination of $merge modes 'whenMatched: fail' and 'whenNotMatched: fail' is not supported", `{$merge: {into: "x", whenMatched: "fail", whenNotMatched: "fail"}}`},
		{51181, "Combination of $merge modes 'whenMatched: keepExisting' and 'whenNotMatched: fail' is not supported", `{$merge: {into: "x", whenMatched: "keepExisting", whenNotMatched: "fail"}}`},
		{51199, "Cannot use 'let' variables with 'whenMatched: replace' mode", `{$merge: {into: "x", whenMatched: "replace", let: {a: 1}}}`},
		{51273, "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'", `{$merge: {into: "x", whenMatched: [], let: {new: "$a"}}}`},
		{14, "BSON field '$merge.let' is the wrong type 'array', expected type 'object'", `{$merge: {into: "x", whenMatched: [], let: []}}`},
		{51183, "Cannot find index to verify that join fields will be unique", `{$merge: {into: "x", on: "a"}}`},
		{51183, "Cannot find index to verify that join fields will be unique", `{$merge: {into: "x", on: ["_id", "a"]}}`},
	} {
		s.says(c.code, c.message, "c", `[`+c.stage+`]`)
	}
	if left := batch(s.ok(`{listCollections: 1, nameOnly: true}`)); len(left) != 1 {
		t.Error(left)
	}
	for _, stage := range []string{`{$out: "x"}`, `{$merge: "x"}`} {
		name := stage[1:strings.Index(stage, ":")]
		s.says(40601, name+" can only be the final stage in the pipeline", "c", `[`+stage+`, {$limit: 1}]`)
		s.says(40600, name+" is not allowed to be used within a $facet stage", "c", `[{$facet: {a: [`+stage+`]}}]`)
		s.says(51047, name+" is not allowed within a $lookup's sub-pipeline", "c", `[{$lookup: {from: "c", pipeline: [`+stage+`], as: "r"}}]`)
		s.says(51047, name+" is not allowed within a $lookup's sub-pipeline", "c", `[{$lookup: {from: "c", pipeline: [{$project: {x: 0}}, `+stage+`], as: "r"}}]`)
		s.fails(40601, "c", `[{$lookup: {from: "c", pipeline: [`+stage+`, {$match: {x: true}}], as: "r"}}]`)
		s.says(31441, name+" is not allowed within a $unionWith's sub-pipeline", "c", `[{$unionWith: {coll: "c", pipeline: [`+stage+`]}}]`)
		reply := s.run(`{create: "v", viewOn: "c", pipeline: [{$limit: 1}, ` + stage + `]}`)
		if reply.Lookup("code").Int32() != 167 || reply.Lookup("errmsg").Str() != "Invalid pipeline for view test.v :: caused by :: The aggregation stage "+name+
			" in location 1 of the pipeline cannot be used in the view definition of test.v because it writes to disk" {
			t.Error(reply)
		}
	}
}

// The indexes that can identify the documents of $merge.
func TestMergeNeedsUniqueIndex(t *testing.T) {
	for _, c := range []struct {
		name   string
		create string // options of the target
		index  string
		on     string
		option string
		code   int32
	}{
		{name: "the _id of nothing", on: `"_id"`},
		{name: "the _id", create: `, validationLevel: "strict"`, on: `["_id"]`},
		{name: "the _id under another collation", create: `, validationLevel: "strict"`, on: `"_id"`, option: `collation: {locale: "en_US"}`, code: 51183},
		{name: "the _id by default", create: `, validationLevel: "strict"`, option: `collation: {locale: "en_US"}`},
		{name: "both ways", index: `{key: {a: 1, _id: 1}, unique: true`, on: `["_id", "a"]`},
		{name: "one too many", index: `{key: {a: 1, _id: 1}, unique: true`, on: `["_id", "a", "b"]`, code: 51183},
		{name: "one too few", index: `{key: {a: 1, _id: 1}, unique: true`, on: `["a"]`, code: 51183},
		{name: "not unique", index: `{key: {a: 1}`, on: `"a"`, code: 51183},
		{name: "partial", index: `{key: {a: 1}, unique: true, partialFilterExpression: {a: {$gte: 2}}`, on: `"a"`, code: 51183},
		{name: "sparse", index: `{key: {a: 1}, unique: true, sparse: true`, on: `"a"`},
		{name: "another collation", index: `{key: {a: 1}, unique: true, collation: {locale: "en_US"}`, on: `"a"`, code: 51183},
		{name: "another strength", index: `{key: {a: 1}, unique: true, collation: {locale: "en_US"}`, on: `"a"`, option: `collation: {locale: "en_US", strength: 1}`, code: 51183},
		{name: "the same collation", index: `{key: {a: 1}, unique: true, collation: {locale: "en_US"}`, on: `"a"`, option: `collation: {locale: "en_US"}`},
		{name: "the target's collation is not the command's", create: `, collation: {locale: "en_US"}`, index: `{key: {a: 1}, unique: true`, on: `"a"`, code: 51183},
		{name: "simple", index: `{key: {a: 1}, unique: true`, on: `"a"`, option: `collation: {locale: "simple"}`},
		{name: "text", index: `{key: {a: 1, text: "text"}, unique: true`, on: `["a", "text"]`, code: 51183},
		{name: "2dsphere", index: `{key: {a: 1, geo: "2dsphere"}, unique: true`, on: `["geo", "a"]`, code: 51183},
		{name: "2d", index: `{key: {geo: "2d"}, unique: true`, on: `"geo"`, code: 51183},
		{name: "hashed", index: `{key: {a: "hashed"}`, on: `"a"`, code: 51183},
		{name: "dotted", index: `{key: {a: 1, "b.c": -1}, unique: true`, on: `["b.c", "a"]`},
	} {
		s := newServer(t)
		s.insert("c", `[{_id: 0, a: 0, b: {c: "x"}}, {_id: 1, a: 1, b: {c: "y"}}]`)
		if c.create != "" {
			s.ok(`{create: "t"%s}`, c.create)
		}
		if c.index != "" {
			s.ok(`{createIndexes: "t", indexes: [%s, name: "i"}]}`, c.index)
		}
		merge := `{into: "t"}`
		if c.on != "" {
			merge = `{into: "t", on: ` + c.on + `}`
		}
		option := c.option
		if option == "" {
			option = `comment: 1`
		}
		if c.code != 0 {
			s.fails(c.code, "c", `[{$merge: `+merge+`}]`, option)
			continue
		}
		t.Log(c.name)
		s.gives("c", `[{$merge: `+merge+`}]`, `[]`, option)
		s.gives("t", `[{$count: "n"}]`, `[{n: 2}]`)
	}
}

// The values of the on-fields, at paths through documents alone.
func TestMergeOnValues(t *testing.T) {
	s := newServer(t)
	s.ok(`{createIndexes: "t", indexes: [{key: {"a.b": 1}, name: "ab", unique: true, sparse: true}, {key: {name: 1, team: -1}, name: "nt", unique: true, sparse: true}]}`)
	const executing = "Executor error during aggregate command on namespace: test.c :: caused by :: "
	missing := func(path string) string {
		return executing + "$merge write error: 'on' field '" + path + "' cannot be missing, null or undefined if supporting index is sparse"
	}
	for _, c := range []struct {
		code     int32
		message  string
		document string
		on       string
	}{
		{51132, missing("name"), `{_id: 0}`, `["name", "team"]`},
		{51132, missing("name"), `{_id: 0, team: "query"}`, `["name", "team"]`},
		{51132, missing("team"), `{_id: 0, name: "n"}`, `["name", "team"]`},
		{51132, missing("a.b"), `{a: null}`, `"a.b"`},
		{51132, missing("a.b"), `{a: {b: null}}`, `"a.b"`},
		{51132, missing("a.b"), `{a: 5}`, `"a.b"`},
		{51185, executing + "$merge write error: 'on' field 'a.b' is an array", `{a: [{b: 1}]}`, `"a.b"`},
		{51185, executing + "$merge write error: 'on' field 'a.b' is an array", `{a: {b: [1, 2]}}`, `"a.b"`},
	} {
		s.insert("c", `[`+c.document+`]`)
		for _, mode := range []string{"replace", "merge", "keepExisting", "fail"} {
			s.says(c.code, c.message, "c", `[{$merge: {into: "t", on: `+c.on+`, whenMatched: "`+mode+`"}}]`)
		}
		s.ok(`{delete: "c", deletes: [{q: {}, limit: 0}]}`)
	}
	s.gives("t", `[{$count: "n"}]`, `[]`)
}

// A $merge is an update: new fields of {$set: …} are added in the order of
// their names, names with dots are paths, and an insert begins with the _id
// and the on-fields.
func TestMergeUpdates(t *testing.T) {
	dotted := `{$replaceWith: {$setField: {field: "x.y", input: "$$ROOT", value: 1}}}`
	dollar := `{$replaceWith: {$setField: {field: {$literal: "$d"}, input: "$$ROOT", value: 1}}}`
	for _, c := range []struct {
		code               int32
		source, stages, to string
		target, want       string
	}{
		{source: `{_id: 1, z: 1, b: 2, a: 3}`, to: `whenMatched: "merge"`, target: `[{_id: 1, q: 0}]`, want: `[{_id: 1, q: 0, a: 3, b: 2, z: 1}]`},
		{source: `{_id: 1, z: 1, b: 2, a: 3}`, to: `whenMatched: "merge"`, target: `[]`, want: `[{_id: 1, a: 3, b: 2, z: 1}]`},
		{source: `{_id: 1, z: 1, b: 2, a: 3}`, to: `whenMatched: "keepExisting"`, target: `[]`, want: `[{_id: 1, a: 3, b: 2, z: 1}]`},
		{source: `{_id: 1, z: 1, b: 2, a: 3}`, to: `whenMatched: "replace"`, target: `[]`, want: `[{_id: 1, z: 1, b: 2, a: 3}]`},
		{source: `{_id: 1, z: 1, b: 2, a: 3}`, to: `whenMatched: []`, target: `[]`, want: `[{_id: 1, z: 1, b: 2, a: 3}]`},
		{source: `{_id: 1, z: 1, b: 2}`, to: `whenMatched: "fail"`, target: `[]`, want: `[{_id: 1, z: 1, b: 2}]`},
		{source: `{_id: 1, k: 5, a: 3}`, stages: `{$unset: "_id"}`, to: `on: "k", whenMatched: "merge"`, target: `[{_id: 9, k: 5}]`, want: `[{_id: 9, k: 5, a: 3}]`},
		{source: `{_id: 1, k: 5, a: 3}`, stages: `{$unset: "_id"}`, to: `on: "k", whenMatched: "replace"`, target: `[{_id: 9, b: 1, k: 5}]`, want: `[{_id: 9, k: 5, a: 3}]`},
		{source: `{_id: 1, k: 5, a: 3}`, to: `on: "k", whenMatched: "merge"`, target: `[]`, want: `[{_id: 1, k: 5, a: 3}]`},
		{source: `{_id: 1}`, stages: dotted, to: `whenMatched: "merge"`, target: `[{_id: 1, x: {z: 0}}]`, want: `[{_id: 1, x: {z: 0, y: 1}}]`},
		{source: `{_id: 1}`, stages: dotted, to: `whenMatched: "merge"`, target: `[]`, want: `[{_id: 1, x: {y: 1}}]`},
		{source: `{_id: 1}`, stages: dotted, to: `whenMatched: "replace"`, target: `[{_id: 1, x: {z: 0}}]`, want: `[{_id: 1, "x.y": 1}]`},
		{source: `{_id: 1, k: 1}`, stages: dollar, to: `whenMatched: "merge"`, target: `[{_id: 1}]`, want: `[{_id: 1}]`, code: 52},
		{source: `{_id: 1, k: 1}`, stages: dollar, to: `whenMatched: "replace"`, target: `[{_id: 1}]`, want: `[{_id: 1}]`, code: 52},
		{source: `{_id: 1, k: 1}`, stages: dollar, to: `whenMatched: "replace"`, target: `[]`, want: `[{_id: 1, k: 1, "$d": 1}]`},
		{source: `{_id: 1, k: 1}`, stages: dollar, to: `whenMatched: "keepExisting"`, target: `[]`, want: `[{_id: 1, "$d": 1, k: 1}]`},
		{source: `{_id: 1, k: 1}`, stages: dollar, to: `whenMatched: "keepExisting"`, target: `[{_id: 1}]`, want: `[{_id: 1}]`},
		{source: `{_id: 1, k: 1}`, stages: dollar, to: `whenMatched: "fail"`, target: `[]`, want: `[{_id: 1, k: 1, "$d": 1}]`},
		{source: `{_id: 1, k: 1}`, stages: dollar, to: `whenMatched: [{$addFields: {b: 1}}]`, target: `[{_id: 1, a: 1}]`, want: `[{_id: 1, a: 1, b: 1}]`},
		{source: `{_id: 1, a: {b: 1}}`, to: `whenMatched: "merge"`, target: `[{_id: 1, a: {c: 2}}]`, want: `[{_id: 1, a: {b: 1}}]`},
		// A result with another _id than its match.
		{source: `{_id: 1, k: 5}`, to: `on: "k", whenMatched: "replace"`, target: `[{_id: 9, k: 5}]`, want: `[{_id: 9, k: 5}]`, code: 66},
		{source: `{_id: 1, k: 5}`, to: `on: "k", whenMatched: [{$set: {_id: 3}}]`, target: `[{_id: 9, k: 5}]`, want: `[{_id: 9, k: 5}]`, code: 66},
		{source: `{_id: 1, k: 5}`, to: `on: "k", whenMatched: [{$replaceWith: {x: 1}}]`, target: `[{_id: 9, k: 5}]`, want: `[{_id: 9, x: 1}]`},
		// $$new is there beside other variables, unless nothing is inserted.
		{source: `{_id: 1, k: 5}`, to: `let: {n: "$k"}, whenMatched: [{$set: {x: "$$n", y: "$$new.k"}}]`, target: `[{_id: 1}]`, want: `[{_id: 1, x: 5, y: 5}]`},
		{source: `{_id: 1, k: 5}`, to: `let: {n: "$k"}, whenMatched: [{$set: {x: "$$new.k"}}], whenNotMatched: "discard"`, target: `[{_id: 1}]`, want: `[{_id: 1}]`, code: 17276},
	} {
		s := newServer(t)
		s.insert("c", `[`+c.source+`]`)
		s.ok(`{createIndexes: "t", indexes: [{key: {k: 1}, name: "k", unique: true, sparse: true}]}`)
		if c.target != `[]` {
			s.insert("t", c.target)
		}
		pipeline := `[{$merge: {into: "t", ` + c.to + `}}]`
		if c.stages != "" {
			pipeline = `[` + c.stages + `, ` + pipeline[1:]
		}
		if c.code != 0 {
			s.fails(c.code, "c", pipeline)
		} else {
			s.gives("c", pipeline, `[]`)
		}
		s.same(pipeline, s.aggregate("t", `[]`), list(c.want))
	}
}

// The context that $merge adds to the error of an index or of an update.
func TestMergeTellsItsPart(t *testing.T) {
	s := newServer(t)
	s.insert("c", `[{_id: 0, a: 0}, {_id: 1, a: 0}]`)
	s.ok(`{createIndexes: "t", indexes: [{key: {a: 1}, name: "unique a", unique: true}]}`)
	const executing = "Executor error during aggregate command on namespace: test.c :: caused by :: "
	s.says(11000, executing+"$merge failed due to a DuplicateKey error :: caused by :: E11000 duplicate key error collection: test.t index: unique a dup key: { a: 0 }",
		"c", `[{$merge: "t"}]`)
	s.says(11000, executing+"$merge with whenMatched: fail found an existing document with the same values for the 'on' fields :: caused by :: E11000 duplicate key error collection: test.t index: unique a dup key: { a: 0 }",
		"c", `[{$match: {_id: 1}}, {$merge: {into: "t", on: "a", whenMatched: "fail"}}]`)
	s.says(11000, executing+"$merge failed due to a DuplicateKey error :: caused by :: E11000 duplicate key error collection: test.t index: unique a dup key: { a: 0 }",
		"c", `[{$match: {_id: 1}}, {$merge: {into: "t", whenMatched: "fail"}}]`)
	s.says(66, executing+"$merge failed to update the matching document, did you attempt to modify the _id or the shard key? :: caused by :: "+
		"After applying the update, the (immutable) field '_id' was found to have been altered to _id: 7",
		"c", `[{$match: {_id: 0}}, {$set: {_id: 7}}, {$merge: {into: "t", on: "a", whenMatched: "replace"}}]`)
	// Those that match are written, although another does not.
	s.insert("u", `[{_id: 1, old: 1}]`)
	s.says(13113, executing+"$merge could not find a matching document in the target collection for at least one document in the source collection",
		"c", `[{$sort: {_id: 1}}, {$merge: {into: "u", whenNotMatched: "fail"}}]`)
	s.gives("u", `[]`, `[{_id: 1, old: 1, a: 0}]`)
}
