package agg

import "testing"

// mongod parses the pipeline of an update but never optimizes it: an error in
// a constant expression shows with the first document that is updated, and as
// one of the execution.
func TestUpdatePipelinesAreNotOptimized(t *testing.T) {
	const (
		stages  = `[{$set: {age: {$round: [{$add: ["age", 1]}, 0]}}}]`
		message = "$add only supports numeric or date types, not string"
	)
	s := newServer(t)
	s.insert("c", `[{_id: 1}]`)
	if r := s.ok(`{update: "c", updates: [{q: {_id: 5}, u: ` + stages + `}]}`); r.Lookup("n").Int32() != 0 {
		t.Errorf("nothing matches, but %s", r)
	}
	if r := s.ok(`{findAndModify: "c", query: {_id: 5}, update: [{$set: {a: {$divide: [1, 0]}}}]}`); !r.Lookup("value").IsNullish() {
		t.Errorf("nothing matches, but %s", r)
	}
	s.ok(`{explain: {update: "c", updates: [{q: {_id: 1}, u: ` + stages + `}]}, verbosity: "queryPlanner"}`)
	r := s.run(`{update: "c", updates: [{q: {_id: 1}, u: ` + stages + `}]}`)
	e := r.Lookup("writeErrors").Doc().Index(0).Doc()
	if e.Lookup("code").Int32() != 14 || e.Lookup("errmsg").Str() != "Plan executor error during update :: caused by :: "+message {
		t.Errorf("update: %s", r)
	}
	r = s.run(`{findAndModify: "c", query: {_id: 1}, update: ` + stages + `}`)
	if r.Lookup("code").Int32() != 14 || r.Lookup("errmsg").Str() != "Plan executor error during findAndModify :: caused by :: "+message {
		t.Errorf("findAndModify: %s", r)
	}
	s.insert("src", `[{_id: 5, v: 1}]`)
	s.gives("src", `[{$merge: {into: "c", whenMatched: `+stages+`, whenNotMatched: "insert"}}]`, `[]`)
	s.fails(14, "src", `[{$merge: {into: "c", whenMatched: `+stages+`}}]`)
	s.fails(14, "src", `[{$match: {_id: 0}}, {$set: {age: {$add: ["age", 1]}}}]`) // an aggregation is optimized

	// Constants still are what they were.
	s.ok(`{update: "c", updates: [{q: {_id: 1}, u: [{$set: {a: {$add: [1, 2]}, b: {$cond: [true, "x", {$divide: [1, 0]}]}, c: {$switch: {branches: [{case: false, then: 1}], default: 2}}, d: ["$a", {e: 1}]}}]}]}`)
	s.gives("c", `[{$match: {_id: 1}}]`, `[{_id: 1, a: 3, b: "x", c: 2, d: [null, {e: 1}]}]`)
}
