package agg

import "testing"

// scores are documents with a field that is a number, null, missing and of
// another type.
const scores = `[{_id: 1, g: "A", s: 10, n: "u"}, {_id: 2, g: "A", s: null, n: "v"}, {_id: 3, g: "A", n: "w"}, {_id: 4, g: "A", s: 20, n: "x"}, {_id: 5, g: "B", s: "text", n: "y"}, {_id: 6, g: "B", s: 5, n: "z"}]`

// Accumulators over numbers, null, missing fields and other types.
func TestAccumulatorsOverMixedValues(t *testing.T) {
	s := newServer(t)
	s.insert("c", scores)
	for _, c := range []struct{ acc, a, b string }{
		{`{$accumulator: {init: "function() { return [] }", accumulate: "function(a, s) { a.push(s); return a }", accumulateArgs: ["$s"], merge: "f", lang: "js"}}`, `[10.0, null, null, 20.0]`, `["text", 5.0]`},
		{`{$bottom: {sortBy: {_id: 1}, output: "$s"}}`, `20`, `5`},
		{`{$bottom: {sortBy: {s: 1}, output: "$n"}}`, `"x"`, `"y"`},
		{`{$bottomN: {n: 2, sortBy: {_id: 1}, output: "$s"}}`, `[null, 20]`, `["text", 5]`},
		{`{$bottomN: {n: 9, sortBy: {s: 1, _id: -1}, output: "$n"}}`, `["w", "v", "u", "x"]`, `["z", "y"]`},
		{`{$top: {sortBy: {s: -1}, output: ["$n", "$s"]}}`, `["x", 20]`, `["y", "text"]`},
		{`{$topN: {n: 1, sortBy: {s: -1}, output: "$s"}}`, `[20]`, `["text"]`},
		{`{$firstN: {n: 3, input: "$s"}}`, `[10, null, null]`, `["text", 5]`},
		{`{$lastN: {n: 1, input: "$s"}}`, `[20]`, `[5]`},
		{`{$maxN: {n: 2, input: "$s"}}`, `[20, 10]`, `["text", 5]`},
		{`{$maxN: {n: 1, input: "$missing"}}`, `[]`, `[]`},
		{`{$minN: {n: 2, input: "$s"}}`, `[10, 20]`, `[5, "text"]`},
		{`{$median: {input: "$s", method: "approximate"}}`, `10.0`, `5.0`},
		{`{$percentile: {input: "$s", p: [0, 1], method: "approximate"}}`, `[10.0, 20.0]`, `[5.0, 5.0]`},
		{`{$stdDevSamp: "$s"}`, `7.0710678118654755`, `null`},
		{`{$stdDevSamp: "$missing"}`, `null`, `null`},
		{`{$mergeObjects: {$cond: [{$eq: ["$s", null]}, null, {k: "$s"}]}}`, `{k: 20}`, `{k: 5}`},
	} {
		s.gives("c", `[{$sort: {_id: 1}}, {$group: {_id: "$g", r: `+c.acc+`}}, {$sort: {_id: 1}}]`, `[{_id: "A", r: `+c.a+`}, {_id: "B", r: `+c.b+`}]`)
	}
}

func TestAccumulatorsRefuse(t *testing.T) {
	s := newServer(t)
	s.insert("c", scores)
	s.fails(5788001, "c", `[{$group: {_id: null, r: {$top: 1}}}]`)
	s.fails(5788005, "c", `[{$group: {_id: null, r: {$top: {output: "$s"}}}}]`)
	s.fails(5788003, "c", `[{$group: {_id: null, r: {$topN: {output: "$s", sortBy: {s: 1}}}}}]`)
	s.fails(5788002, "c", `[{$group: {_id: null, r: {$bottom: {output: "$s", sortBy: {s: 1}, x: 1}}}}]`)
	s.fails(5788004, "c", `[{$group: {_id: null, r: {$bottomN: {n: 1, sortBy: {s: 1}}}}}]`)
	s.fails(5787902, "c", `[{$unwind: "$_id"}, {$group: {_id: null, r: {$firstN: {n: "x", input: "$s"}}}}]`)
	s.fails(5787908, "c", `[{$unwind: "$_id"}, {$group: {_id: null, r: {$lastN: {n: 0, input: "$s"}}}}]`)
	s.fails(5787903, "c", `[{$unwind: "$_id"}, {$group: {_id: null, r: {$maxN: {n: 1.5, input: "$s"}}}}]`)
	s.fails(5787906, "c", `[{$group: {_id: null, r: {$minN: {input: "$s"}}}}]`)
	s.fails(5787907, "c", `[{$group: {_id: null, r: {$maxN: {n: 1}}}}]`)
	s.fails(7436100, "c", `[{$group: {_id: null, r: {$median: 1}}}]`)
	s.fails(40414, "c", `[{$group: {_id: null, r: {$median: {input: "$s"}}}}]`)
	s.fails(7750303, "c", `[{$group: {_id: null, r: {$percentile: {input: "$s", p: [2], method: "approximate"}}}}]`)
	s.fails(2, "c", `[{$group: {_id: null, r: {$percentile: {input: "$s", p: [0.5], method: "exact"}}}}]`)
	s.fails(40400, "c", `[{$unwind: "$_id"}, {$group: {_id: null, r: {$mergeObjects: "$_id"}}}]`)

	// A $group at the beginning runs in mongod's slot-based engine, with its codes
	// (db/exec/sbe: 4848401, 4848403, 5911200).
	const failed = "Executor error during aggregate command on namespace: test.c :: caused by :: "
	s.says(5911200, failed+"$mergeObjects only supports objects", "c", `[{$group: {_id: null, r: {$mergeObjects: "$_id"}}}]`)
	s.says(4848401, failed+"can't $divide by zero", "c", `[{$match: {_id: 1}}, {$sort: {_id: 1}}, {$group: {_id: null, r: {$push: {$divide: ["$_id", 0]}}}}]`)
	s.says(7548606, failed+"parameter 'n' must be coercible to a positive 64-bit integer", "c", `[{$group: {_id: null, r: {$lastN: {n: 0, input: "$s"}}}}]`)
	s.says(4848403, failed+"can't $mod by zero", "c", `[{$group: {_id: {$mod: ["$_id", 0]}}}]`)
	s.says(2, failed+"can't $divide by zero", "c", `[{$unwind: "$_id"}, {$group: {_id: null, r: {$push: {$divide: ["$_id", 0]}}}}]`)
	s.says(2, failed+"can't $divide by zero", "c", `[{$project: {r: {$divide: ["$_id", 0]}}}]`)
	s.says(2, "Failed to optimize pipeline :: caused by :: can't $divide by zero", "c", `[{$group: {_id: null, r: {$push: {$divide: [1, 0]}}}}]`)
}

// Window operators over numbers, null, missing fields and other types.
func TestWindowOperatorsOverMixedValues(t *testing.T) {
	s := newServer(t)
	s.insert("c", `[{_id: 1, x: 1, y: 2}, {_id: 2, x: null, y: 3}, {_id: 3, y: 1}, {_id: 4, x: 3, y: 6}]`)
	for _, c := range []struct{ output, want string }{
		{`{$covariancePop: ["$x", "$y"]}`, `[2.0, 2.0, 2.0, 2.0]`},
		{`{$covariancePop: ["$x", "$y"], window: {documents: ["unbounded", "current"]}}`, `[0.0, 0.0, 0.0, 2.0]`},
		{`{$covariancePop: "$x"}`, `[null, null, null, null]`},
		{`{$covarianceSamp: ["$x", "$y"]}`, `[4.0, 4.0, 4.0, 4.0]`},
		{`{$covarianceSamp: ["$x", "$missing"]}`, `[null, null, null, null]`},
		{`{$covarianceSamp: ["$y", "$y"], window: {documents: [0, 0]}}`, `[null, null, null, null]`},
		{`{$denseRank: {}}`, `[1, 2, 3, 4]`},
		{`{$documentNumber: {}}`, `[1, 2, 3, 4]`},
		{`{$integral: {input: "$y"}}`, `[8.0, 8.0, 8.0, 8.0]`},
		{`{$integral: {input: "$y"}, window: {documents: ["unbounded", "current"]}}`, `[0, 2.5, 4.5, 8.0]`},
		{`{$locf: "$x"}`, `[1, 1, 1, 3]`},
		{`{$locf: "$missing"}`, `[null, null, null, null]`},
		{`{$bottom: {sortBy: {y: 1}, output: "$_id"}}`, `[4, 4, 4, 4]`},
		{`{$bottomN: {n: 2, sortBy: {y: 1}, output: "$_id"}, window: {documents: [0, 1]}}`, `[[1, 2], [3, 2], [3, 4], [4]]`},
		{`{$maxN: {n: 1, input: "$x"}, window: {documents: ["unbounded", "current"]}}`, `[[1], [1], [1], [3]]`},
		{`{$stdDevSamp: "$x"}`, `[1.4142135623730951, 1.4142135623730951, 1.4142135623730951, 1.4142135623730951]`},
	} {
		s.gives("c", `[{$setWindowFields: {sortBy: {_id: 1}, output: {r: `+c.output+`}}}, {$group: {_id: null, r: {$push: "$r"}}}]`, `[{_id: null, r: `+c.want+`}]`)
	}
	s.gives("c", `[{$set: {k: {$gt: ["$y", 2]}}}, {$setWindowFields: {sortBy: {k: 1}, output: {r: {$denseRank: {}}}}}, {$group: {_id: "$k", r: {$max: "$r"}}}, {$sort: {_id: 1}}]`,
		`[{_id: false, r: 1}, {_id: true, r: 2}]`)
	s.gives("c", `[{$setWindowFields: {partitionBy: "$x", sortBy: {_id: -1}, output: {r: {$documentNumber: {}}}}}, {$match: {x: null}}, {$project: {r: 1}}]`,
		`[{_id: 3, r: 1}, {_id: 2, r: 2}]`)
	s.fails(5371603, "c", `[{$setWindowFields: {sortBy: {_id: 1}, output: {r: {$denseRank: "$x"}}}}]`)
	s.fails(5371602, "c", `[{$setWindowFields: {output: {r: {$documentNumber: {}}}}}]`)
	s.fails(5423902, "c", `[{$setWindowFields: {sortBy: {_id: 1}, output: {r: {$integral: {input: "$x"}}}}}]`)
}

func TestStagesThatWereTestedLittle(t *testing.T) {
	s := newServer(t)
	s.insert("c", scores)
	s.fails(17053, "c", `[{$redact: "$g"}]`)
	s.fails(40228, "c", `[{$replaceWith: "$g"}]`)
	s.fails(40228, "c", `[{$replaceWith: "$missing"}]`)
	s.fails(40415, "c", `[{$changeStream: {nothing: 1}}]`)
	s.gives("c", `[{$listCatalog: {}}, {$project: {_id: 0, db: 1, name: 1, type: 1}}]`, `[{db: "test", name: "c", type: "collection"}]`)
	s.gives("nosuch", `[{$listCatalog: {}}]`, `[]`)
	s.fails(40602, "c", `[{$match: {}}, {$listCatalog: {}}]`)
	s.gives("admin.1", `[{$querySettings: {}}]`, `[]`)
	s.fails(73, "c", `[{$querySettings: {}}]`)
	s.gives("admin.1", `[{$listSampledQueries: {}}]`, `[]`)
	s.gives("admin.1", `[{$listSampledQueries: {namespace: "test.c"}}]`, `[]`)
	s.fails(73, "c", `[{$listSampledQueries: {}}]`)
}
