package agg

import "testing"

// The examples of the manual's page on $out, and the properties of a replaced collection
// that it keeps.
func TestOut(t *testing.T) {
	s := newServer(t)
	s.insert("books", `[
		{_id: 8751, title: "The Banquet", author: "Dante", copies: 2}, {_id: 8752, title: "Divine Comedy", author: "Dante", copies: 1},
		{_id: 8645, title: "Eclogues", author: "Dante", copies: 2}, {_id: 7000, title: "The Odyssey", author: "Homer", copies: 10},
		{_id: 7020, title: "Iliad", author: "Homer", copies: 10}]`)
	s.gives("books", `[{$group: {_id: "$author", books: {$push: "$title"}}}, {$out: "authors"}]`, `[]`)
	s.gives("authors", `[{$sort: {_id: 1}}, {$project: {n: {$size: "$books"}}}]`, `[{_id: "Dante", n: 3}, {_id: "Homer", n: 2}]`)

	s.gives("books", `[{$group: {_id: "$author"}}, {$out: {db: "reporting", coll: "authors"}}]`, `[]`)
	s.gives("reporting.authors", `[{$sort: {_id: 1}}]`, `[{_id: "Dante"}, {_id: "Homer"}]`)

	// Indexes and options stay; a failure leaves everything as it was.
	s.ok(`{delete: "authors", deletes: [{q: {_id: "Homer"}, limit: 0}]}`)
	s.ok(`{createIndexes: "authors", indexes: [{key: {n: 1}, name: "n_1", unique: true}]}`)
	s.ok(`{collMod: "authors", validator: {n: {$exists: true}}}`)
	s.fails(121, "books", `[{$project: {title: 1}}, {$out: "authors"}]`)
	s.fails(11000, "books", `[{$project: {n: "$copies"}}, {$out: "authors"}]`)
	s.gives("authors", `[{$count: "n"}]`, `[{n: 1}]`)
	s.gives("books", `[{$match: {_id: 7000}}, {$project: {n: "$copies"}}, {$out: "authors"}]`, `[]`)
	s.gives("authors", `[]`, `[{_id: 7000, n: 10}]`)
	s.gives("authors", `[{$indexStats: {}}, {$sort: {name: 1}}, {$project: {name: 1}}]`, `[{name: "_id_"}, {name: "n_1"}]`)
	s.gives("books", `[{$project: {title: 1}}, {$limit: 1}, {$out: "authors"}]`, `[]`, `bypassDocumentValidation: true`)
	if n := len(batch(s.ok(`{listCollections: 1}`))); n != 2 {
		t.Error("temporary collections are left:", s.ok(`{listCollections: 1, nameOnly: true}`))
	}
	// Reading what is written.
	s.gives("books", `[{$match: {copies: 10}}, {$out: "books"}]`, `[]`)
	s.gives("books", `[{$count: "n"}]`, `[{n: 2}]`)
	// The target may not exist with documents: then it is empty.
	s.gives("books", `[{$match: {nothing: 1}}, {$out: "empty"}]`, `[]`)
	s.gives("empty", `[]`, `[]`)
	s.ok(`{create: "capped", capped: true, size: 4096}`)
	s.fails(17152, "books", `[{$out: "capped"}]`)
	s.ok(`{create: "v", viewOn: "books", pipeline: []}`)
	s.fails(166, "books", `[{$out: "v"}]`)
	s.fails(17385, "books", `[{$out: "system.users"}]`)
	s.fails(40601, "books", `[{$out: "a"}, {$match: {}}]`)
	s.fails(31321, "books", `[{$out: {db: "config", coll: "x"}}]`)
}

func TestOutTimeSeries(t *testing.T) {
	s := newServer(t)
	s.insert("w", `[
		{_id: 1, t: ISODate("2026-01-01T00:00:00Z"), m: {s: 1}, v: 10}, {_id: 2, t: ISODate("2026-01-01T00:01:00Z"), m: {s: 1}, v: 20},
		{_id: 3, t: ISODate("2026-01-01T00:02:00Z"), m: {s: 2}, v: 30}]`)
	out := `[{$out: {db: "test", coll: "ts", timeseries: {timeField: "t", metaField: "m"}}}]`
	s.gives("w", out, `[]`)
	want := `[
		{t: ISODate("2026-01-01T00:00:00Z"), m: {s: 1}, _id: 1, v: 10}, {t: ISODate("2026-01-01T00:01:00Z"), m: {s: 1}, _id: 2, v: 20},
		{t: ISODate("2026-01-01T00:02:00Z"), m: {s: 2}, _id: 3, v: 30}]`
	s.gives("ts", `[{$sort: {_id: 1}}]`, want)
	if kind := batch(s.ok(`{listCollections: 1, filter: {name: "ts"}}`))[0].Lookup("type").Str(); kind != "timeseries" {
		t.Error(kind)
	}
	s.gives("w", `[{$match: {_id: 1}}, {$out: "ts"}]`, `[]`)
	s.gives("ts", `[{$count: "n"}]`, `[{n: 1}]`)
	s.gives("w", out, `[]`)
	s.gives("ts", `[{$match: {"m.s": 1}}, {$group: {_id: "$m.s", n: {$sum: 1}, v: {$max: "$v"}}}]`, `[{_id: 1, n: 2, v: 20}]`)
	s.ok(`{create: "plain"}`)
	s.says(7268700, "Executor error during aggregate command on namespace: test.w :: caused by :: Cannot create a time-series collection from a non time-series collection or view.", "w", `[{$out: {db: "test", coll: "plain", timeseries: {timeField: "t"}}}]`)
	s.ok(`{create: "lens", viewOn: "w", pipeline: []}`)
	s.fails(7268700, "w", `[{$out: {db: "test", coll: "lens", timeseries: {timeField: "t"}}}]`)
	s.fails(7406103, "w", `[{$out: {db: "test", coll: "ts", timeseries: {timeField: "other", metaField: "m"}}}]`)
}

// The examples of the manual's page on $merge.
func TestMergeExamples(t *testing.T) {
	s := newServer(t)
	s.insert("salaries", `[
		{_id: 1, employee: "Ant", dept: "A", salary: 100000, fiscal_year: 2017}, {_id: 2, employee: "Bee", dept: "A", salary: 120000, fiscal_year: 2017},
		{_id: 3, employee: "Cat", dept: "Z", salary: 115000, fiscal_year: 2017}, {_id: 4, employee: "Ant", dept: "A", salary: 115000, fiscal_year: 2018},
		{_id: 5, employee: "Bee", dept: "Z", salary: 145000, fiscal_year: 2018}, {_id: 6, employee: "Cat", dept: "Z", salary: 135000, fiscal_year: 2018}]`)
	group := `{$group: {_id: {fiscal_year: "$fiscal_year", dept: "$dept"}, salaries: {$sum: "$salary"}}}`
	merge := `{$merge: {into: {db: "reporting", coll: "budgets"}, on: "_id", whenMatched: "replace", whenNotMatched: "insert"}}`
	s.gives("salaries", `[`+group+`,`+merge+`]`, `[]`)
	s.gives("reporting.budgets", `[{$sort: {_id: 1}}]`, `[
		{_id: {fiscal_year: 2017, dept: "A"}, salaries: 220000}, {_id: {fiscal_year: 2017, dept: "Z"}, salaries: 115000},
		{_id: {fiscal_year: 2018, dept: "A"}, salaries: 115000}, {_id: {fiscal_year: 2018, dept: "Z"}, salaries: 280000}]`)
	s.insert("salaries", `[{_id: 7, employee: "Dog", dept: "A", salary: 1, fiscal_year: 2018}]`)
	s.gives("salaries", `[{$match: {fiscal_year: {$gte: 2018}}},`+group+`,`+merge+`]`, `[]`)
	s.gives("reporting.budgets", `[{$match: {"_id.dept": "A"}}, {$sort: {_id: 1}}]`,
		`[{_id: {fiscal_year: 2017, dept: "A"}, salaries: 220000}, {_id: {fiscal_year: 2018, dept: "A"}, salaries: 115001}]`)

	// Joined by a unique index, results of two collections side by side.
	s.insert("purchaseorders", `[
		{_id: 1, quarter: "2019Q1", region: "A", qty: 200, reportDate: 1}, {_id: 2, quarter: "2019Q1", region: "B", qty: 300},
		{_id: 3, quarter: "2019Q1", region: "C", qty: 700}, {_id: 4, quarter: "2019Q2", region: "B", qty: 300}, {_id: 5, quarter: "2019Q2", region: "C", qty: 1000}]`)
	s.insert("reportedsales", `[
		{_id: 1, quarter: "2019Q1", region: "A", qty: 400}, {_id: 2, quarter: "2019Q1", region: "B", qty: 550},
		{_id: 3, quarter: "2019Q1", region: "C", qty: 1000}, {_id: 4, quarter: "2019Q2", region: "B", qty: 500}]`)
	s.ok(`{createIndexes: "quarterlyreport", indexes: [{key: {_id: 1}, name: "_id_"}]}`)
	s.gives("purchaseorders", `[{$group: {_id: "$quarter", purchased: {$sum: "$qty"}}},
		{$merge: {into: "quarterlyreport", on: "_id", whenMatched: "merge", whenNotMatched: "insert"}}]`, `[]`)
	s.gives("reportedsales", `[{$group: {_id: "$quarter", sales: {$sum: "$qty"}}},
		{$merge: {into: "quarterlyreport", on: "_id", whenMatched: "merge", whenNotMatched: "insert"}}]`, `[]`)
	s.gives("quarterlyreport", `[{$sort: {_id: 1}}]`, `[{_id: "2019Q1", purchased: 1200, sales: 1950}, {_id: "2019Q2", purchased: 1300, sales: 500}]`)

	// A pipeline decides.
	s.insert("votes", `[{_id: 1, month: "05", thumbsup: 20, thumbsdown: 35}]`)
	s.insert("monthlytotals", `[{_id: "2019-05", thumbsup: 14, thumbsdown: 10}]`)
	s.gives("votes", `[{$project: {_id: "2019-05", thumbsup: 1, thumbsdown: 1}}, {$merge: {into: "monthlytotals", on: "_id",
		whenMatched: [{$addFields: {thumbsup: {$add: ["$thumbsup", "$$new.thumbsup"]}, thumbsdown: {$add: ["$thumbsdown", "$$new.thumbsdown"]}}}],
		whenNotMatched: "insert"}}]`, `[]`)
	s.gives("monthlytotals", `[]`, `[{_id: "2019-05", thumbsup: 34, thumbsdown: 45}]`)

	s.insert("cakeSales", `[{_id: 1, flavor: "chocolate", salesTotal: 1580, salesTrend: "up"}, {_id: 2, flavor: "strawberry", salesTotal: 4350, salesTrend: "down"},
		{_id: 3, flavor: "cherry", salesTotal: 2150, salesTrend: "down"}]`)
	s.gives("cakeSales", `[{$merge: {into: "cakeSales", let: {year: "2020"}, whenMatched: [{$addFields: {salesYear: "$$year"}}]}}]`, `[]`)
	s.gives("cakeSales", `[{$match: {_id: 1}}]`, `[{_id: 1, flavor: "chocolate", salesTotal: 1580, salesTrend: "up", salesYear: "2020"}]`)
	s.gives("cakeSales", `[{$merge: {into: "cakeSales", whenMatched: [{$addFields: {salesYear: "$$year"}}]}}]`, `[]`, `let: {year: "2021"}`)
	s.gives("cakeSales", `[{$match: {_id: 2}}]`, `[{_id: 2, flavor: "strawberry", salesTotal: 4350, salesTrend: "down", salesYear: "2021"}]`)
}

// Results are written in batches; if one fails, the others of its batch are still
// written.
func TestMergeInBatches(t *testing.T) {
	s := newServer(t)
	s.numbers("c", 1200, 10)
	s.insert("d", `[{_id: 300, old: true}]`)
	s.fails(11000, "c", `[{$match: {_id: {$lt: 450}}}, {$merge: {into: "d", whenMatched: "fail"}}]`)
	s.gives("d", `[{$group: {_id: null, n: {$sum: 1}, hi: {$max: "$_id"}}}]`, `[{_id: null, n: 450, hi: 449}]`)
	s.gives("c", `[{$merge: {into: "d", whenMatched: "keepExisting"}}]`, `[]`)
	s.gives("d", `[{$group: {_id: "$old", n: {$sum: 1}}}, {$sort: {_id: 1}}]`, `[{_id: null, n: 1199}, {_id: true, n: 1}]`)
	// Several results for one document follow each other.
	s.gives("c", `[{$sort: {_id: 1}}, {$project: {_id: "$k", last: "$_id"}}, {$merge: {into: "e", whenMatched: [{$set: {last: "$$new.last", n: {$add: [{$ifNull: ["$n", 0]}, 1]}}}]}}]`, `[]`)
	s.gives("e", `[{$match: {_id: 42}}]`, `[{_id: 42, last: 1142, n: 11}]`)
	// A collection may be merged into itself.
	s.gives("c", `[{$set: {twice: {$multiply: ["$k", 2]}}}, {$merge: "c"}]`, `[]`)
	s.gives("c", `[{$match: {twice: {$gte: 0}}}, {$count: "n"}]`, `[{n: 1200}]`)
}

func TestMergeModes(t *testing.T) {
	for _, c := range []struct {
		mode string
		want string
		code int32
	}{
		{`whenMatched: "merge"`, `[{_id: 1, a: 1, b: 10}, {_id: 2, b: 20}]`, 0},
		{`whenMatched: "replace"`, `[{_id: 1, b: 10}, {_id: 2, b: 20}]`, 0},
		{`whenMatched: "keepExisting"`, `[{_id: 1, a: 1, b: 1}, {_id: 2, b: 20}]`, 0},
		{`whenMatched: "fail"`, `[{_id: 1, a: 1, b: 1}]`, 11000},
		{`whenMatched: [{$set: {c: "$$new.b"}}]`, `[{_id: 1, a: 1, b: 1, c: 10}, {_id: 2, b: 20}]`, 0},
		{`whenMatched: "merge", whenNotMatched: "discard"`, `[{_id: 1, a: 1, b: 10}]`, 0},
		{`whenMatched: "replace", whenNotMatched: "discard"`, `[{_id: 1, b: 10}]`, 0},
		{`whenMatched: [{$unset: "a"}], whenNotMatched: "discard"`, `[{_id: 1, b: 1}]`, 0},
		{`whenMatched: "merge", whenNotMatched: "fail"`, `[{_id: 1, a: 1, b: 10}]`, 13113},
		{`whenMatched: "replace", whenNotMatched: "fail"`, `[{_id: 1, b: 10}]`, 13113},
		{`whenMatched: [{$unset: "a"}], whenNotMatched: "fail"`, `[{_id: 1, b: 1}]`, 13113},
		{`whenMatched: "keepExisting", whenNotMatched: "discard"`, `[{_id: 1, a: 1, b: 1}]`, 51181},
		{`whenMatched: "fail", whenNotMatched: "fail"`, `[{_id: 1, a: 1, b: 1}]`, 51181},
	} {
		s := newServer(t)
		s.insert("src", `[{_id: 1, b: 10}, {_id: 2, b: 20}]`)
		s.insert("dst", `[{_id: 1, a: 1, b: 1}]`)
		pipeline := `[{$sort: {_id: 1}}, {$merge: {into: "dst", ` + c.mode + `}}]`
		if c.code != 0 {
			s.fails(c.code, "src", pipeline)
		} else {
			s.gives("src", pipeline, `[]`)
		}
		if c.code == 11000 {
			s.gives("dst", `[{$match: {_id: 1}}]`, c.want)
			continue
		}
		s.gives("dst", `[{$sort: {_id: 1}}]`, c.want)
	}
}

func TestMergeOnFields(t *testing.T) {
	s := newServer(t)
	s.insert("src", `[{_id: 1, k: 1, r: "x", v: 10}, {_id: 2, k: 2, r: "y", v: 20}]`)
	s.insert("dst", `[{_id: "old", k: 1, r: "x", v: 1}]`)
	s.says(51183, "Cannot find index to verify that join fields will be unique", "src", `[{$merge: {into: "dst", on: "k"}}]`)
	s.ok(`{createIndexes: "dst", indexes: [{key: {r: 1, k: -1}, name: "rk", unique: true}]}`)
	s.fails(51183, "src", `[{$merge: {into: "dst", on: "k"}}]`)
	s.says(66, "Executor error during aggregate command on namespace: test.src :: caused by :: $merge failed to update the matching document, did you attempt to modify the _id or the shard key? :: caused by :: "+
		"Performing an update on the path '_id' would modify the immutable field '_id'", "src", `[{$merge: {into: "dst", on: ["k", "r"]}}]`)
	s.gives("src", `[{$unset: "_id"}, {$merge: {into: "dst", on: ["k", "r"]}}]`, `[]`)
	s.gives("dst", `[{$match: {k: 1}}]`, `[{_id: "old", k: 1, r: "x", v: 10}]`)
	s.gives("dst", `[{$match: {k: 2}}, {$unset: "_id"}]`, `[{k: 2, r: "y", v: 20}]`)
	s.gives("src", `[{$match: {k: 1}}, {$project: {_id: 0, k: 1}}, {$merge: {into: "dst", on: ["k", "r"]}}]`, `[]`)
	s.gives("dst", `[{$match: {r: null}}, {$unset: "_id"}]`, `[{k: 1, r: null}]`)
	s.ok(`{delete: "dst", deletes: [{q: {r: null}, limit: 0}]}`)
	s.fails(51185, "src", `[{$project: {_id: 0, k: ["$k"], r: 1}}, {$merge: {into: "dst", on: ["k", "r"]}}]`)
	// Sparse is fine, partial is not.
	s.ok(`{createIndexes: "d2", indexes: [{key: {k: 1}, name: "k", unique: true, sparse: true}]}`)
	s.gives("src", `[{$merge: {into: "d2", on: "k"}}]`, `[]`)
	s.gives("d2", `[{$count: "n"}]`, `[{n: 2}]`)
	s.ok(`{createIndexes: "d3", indexes: [{key: {k: 1}, name: "k", unique: true, partialFilterExpression: {k: {$gt: 0}}}]}`)
	s.fails(51183, "src", `[{$merge: {into: "d3", on: "k"}}]`)
	// The collation of the command and of the index must agree.
	s.ok(`{createIndexes: "d4", indexes: [{key: {r: 1}, name: "r", unique: true, collation: {locale: "en", strength: 2}}]}`)
	s.fails(51183, "src", `[{$merge: {into: "d4", on: "r"}}]`)
	s.gives("src", `[{$merge: {into: "d4", on: "r"}}]`, `[]`, `collation: {locale: "en", strength: 2}`)
	s.gives("src", `[{$project: {_id: 0, r: {$toUpper: "$r"}, z: {$literal: 1}}}, {$merge: {into: "d4", on: "r"}}]`, `[]`, `collation: {locale: "en", strength: 2}`)
	s.gives("d4", `[{$sort: {_id: 1}}, {$project: {r: 1, z: 1}}]`, `[{_id: 1, r: "X", z: 1}, {_id: 2, r: "Y", z: 1}]`)
	// Into the collection that is read.
	s.gives("src", `[{$set: {v: {$multiply: ["$v", 2]}}}, {$merge: "src"}]`, `[]`)
	s.gives("src", `[{$sort: {_id: 1}}, {$project: {v: 1}}]`, `[{_id: 1, v: 20}, {_id: 2, v: 40}]`)
	// Validation, views, time series.
	s.ok(`{create: "strict", validator: {z: 1}}`)
	s.fails(121, "src", `[{$merge: "strict"}]`)
	s.gives("src", `[{$merge: "strict"}]`, `[]`, `bypassDocumentValidation: true`)
	s.ok(`{create: "v", viewOn: "src", pipeline: []}`)
	s.fails(166, "src", `[{$merge: "v"}]`)
	s.ok(`{create: "ts", timeseries: {timeField: "t"}}`)
	s.fails(166, "src", `[{$merge: "ts"}]`)
}
