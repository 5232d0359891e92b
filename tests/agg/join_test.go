package agg

import "testing"

// The examples of the manual's page on $lookup.
func TestLookup(t *testing.T) {
	s := newServer(t)
	s.insert("orders", `[
		{_id: 1, item: "almonds", price: 12, quantity: 2},
		{_id: 2, item: "pecans", price: 20, quantity: 1},
		{_id: 3}]`)
	s.insert("inventory", `[
		{_id: 1, sku: "almonds", description: "product 1", instock: 120},
		{_id: 2, sku: "bread", description: "product 2", instock: 80},
		{_id: 3, sku: "cashews", description: "product 3", instock: 60},
		{_id: 4, sku: "pecans", description: "product 4", instock: 70},
		{_id: 5, sku: null, description: "Incomplete"},
		{_id: 6}]`)
	join := `[{$lookup: {from: "inventory", localField: "item", foreignField: "sku", as: "docs"}}]`
	want := `[
		{_id: 1, item: "almonds", price: 12, quantity: 2, docs: [{_id: 1, sku: "almonds", description: "product 1", instock: 120}]},
		{_id: 2, item: "pecans", price: 20, quantity: 1, docs: [{_id: 4, sku: "pecans", description: "product 4", instock: 70}]},
		{_id: 3, docs: [{_id: 5, sku: null, description: "Incomplete"}, {_id: 6}]}]`
	s.gives("orders", join, want)
	s.ok(`{createIndexes: "inventory", indexes: [{key: {sku: 1}, name: "sku_1"}]}`)
	s.givesAnyOrder("orders", `[{$lookup: {from: "inventory", localField: "item", foreignField: "sku", as: "docs"}}, {$unwind: "$docs"}, {$project: {d: "$docs._id"}}]`,
		`[{_id: 1, d: 1}, {_id: 2, d: 4}, {_id: 3, d: 5}, {_id: 3, d: 6}]`)

	// An array on the local side.
	s.insert("classes", `[
		{_id: 1, title: "Reading is ...", enrollmentlist: ["giraffe2", "pandabear", "artie"], days: ["M", "W", "F"]},
		{_id: 2, title: "But Writing ...", enrollmentlist: ["giraffe1", "artie"], days: ["T", "F"]}]`)
	s.insert("members", `[
		{_id: 1, name: "artie", status: "A"}, {_id: 2, name: "giraffe", status: "D"}, {_id: 3, name: "giraffe1", status: "A"},
		{_id: 4, name: "panda", status: "C"}, {_id: 5, name: "pandabear", status: "A"}, {_id: 6, name: "giraffe2", status: "D"}]`)
	s.gives("classes", `[{$lookup: {from: "members", localField: "enrollmentlist", foreignField: "name", as: "e"}}, {$project: {ids: "$e._id"}}]`,
		`[{_id: 1, ids: [1, 5, 6]}, {_id: 2, ids: [1, 3]}]`)
}

func TestLookupMergeObjects(t *testing.T) {
	s := newServer(t)
	s.insert("orders", `[{_id: 1, item: "almonds", price: 12, quantity: 2}, {_id: 2, item: "pecans", price: 20, quantity: 1}]`)
	s.insert("items", `[
		{_id: 1, item: "almonds", description: "almond clusters", instock: 120},
		{_id: 2, item: "bread", description: "raisin and nut bread", instock: 80},
		{_id: 3, item: "pecans", description: "candied pecans", instock: 60}]`)
	s.gives("orders", `[
		{$lookup: {from: "items", localField: "item", foreignField: "item", as: "fromItems"}},
		{$replaceRoot: {newRoot: {$mergeObjects: [{$arrayElemAt: ["$fromItems", 0]}, "$$ROOT"]}}},
		{$project: {fromItems: 0}}]`, `[
		{_id: 1, item: "almonds", description: "almond clusters", instock: 120, price: 12, quantity: 2},
		{_id: 2, item: "pecans", description: "candied pecans", instock: 60, price: 20, quantity: 1}]`)
}

func TestLookupWithPipeline(t *testing.T) {
	s := newServer(t)
	s.insert("orders", `[
		{_id: 1, item: "almonds", price: 12, ordered: 2}, {_id: 2, item: "pecans", price: 20, ordered: 1},
		{_id: 3, item: "cookies", price: 10, ordered: 60}]`)
	s.insert("warehouses", `[
		{_id: 1, stock_item: "almonds", warehouse: "A", instock: 120}, {_id: 2, stock_item: "pecans", warehouse: "A", instock: 80},
		{_id: 3, stock_item: "almonds", warehouse: "B", instock: 60}, {_id: 4, stock_item: "cookies", warehouse: "B", instock: 40},
		{_id: 5, stock_item: "cookies", warehouse: "A", instock: 80}]`)
	want := `[
		{_id: 1, item: "almonds", price: 12, ordered: 2, stockdata: [{warehouse: "A", instock: 120}, {warehouse: "B", instock: 60}]},
		{_id: 2, item: "pecans", price: 20, ordered: 1, stockdata: [{warehouse: "A", instock: 80}]},
		{_id: 3, item: "cookies", price: 10, ordered: 60, stockdata: [{warehouse: "A", instock: 80}]}]`
	pipeline := `[{$lookup: {from: "warehouses", let: {order_item: "$item", order_qty: "$ordered"}, pipeline: [
		{$match: {$expr: {$and: [{$eq: ["$stock_item", "$$order_item"]}, {$gte: ["$instock", "$$order_qty"]}]}}},
		{$project: {stock_item: 0, _id: 0}}], as: "stockdata"}}]`
	concise := `[{$lookup: {from: "warehouses", localField: "item", foreignField: "stock_item", let: {order_qty: "$ordered"}, pipeline: [
		{$match: {$expr: {$gte: ["$instock", "$$order_qty"]}}}, {$project: {stock_item: 0, _id: 0}}], as: "stockdata"}}]`
	for range 2 {
		s.gives("orders", pipeline, want)
		s.gives("orders", concise, want)
		s.ok(`{createIndexes: "warehouses", indexes: [{key: {stock_item: 1, instock: 1}, name: "i"}]}`)
		s.ok(`{dropIndexes: "warehouses", index: "i"}`)
	}
	// Uncorrelated, and $documents on the other side.
	s.insert("absences", `[{_id: 1, student: "Ann Aardvark", sickdays: ["a", "b"]}, {_id: 2, student: "Zoe Zebra", sickdays: ["c"]}]`)
	s.insert("holidays", `[
		{_id: 1, year: 2018, name: "New Years", date: "x"}, {_id: 2, year: 2018, name: "Pi Day", date: "y"}, {_id: 3, year: 2017, name: "New Years", date: "z"}]`)
	s.gives("absences", `[{$lookup: {from: "holidays", pipeline: [
		{$match: {year: 2018}}, {$project: {_id: 0, date: {name: "$name", date: "$date"}}}, {$replaceRoot: {newRoot: "$date"}}], as: "holidays"}}]`, `[
		{_id: 1, student: "Ann Aardvark", sickdays: ["a", "b"], holidays: [{name: "New Years", date: "x"}, {name: "Pi Day", date: "y"}]},
		{_id: 2, student: "Zoe Zebra", sickdays: ["c"], holidays: [{name: "New Years", date: "x"}, {name: "Pi Day", date: "y"}]}]`)
	s.gives("absences", `[{$lookup: {localField: "_id", foreignField: "k", pipeline: [{$documents: [{k: 1, v: "one"}, {k: 2, v: "two"}]}], as: "d"}}, {$project: {d: 1}}]`,
		`[{_id: 1, d: [{k: 1, v: "one"}]}, {_id: 2, d: [{k: 2, v: "two"}]}]`)
}

// The examples of the manual's page on $graphLookup.
func TestGraphLookup(t *testing.T) {
	s := newServer(t)
	s.insert("employees", `[
		{_id: 1, name: "Dev"}, {_id: 2, name: "Eliot", reportsTo: "Dev"}, {_id: 3, name: "Ron", reportsTo: "Eliot"},
		{_id: 4, name: "Andrew", reportsTo: "Eliot"}, {_id: 5, name: "Asya", reportsTo: "Ron"}, {_id: 6, name: "Dan", reportsTo: "Andrew"}]`)
	for range 2 {
		s.gives("employees", `[
			{$graphLookup: {from: "employees", startWith: "$reportsTo", connectFromField: "reportsTo", connectToField: "name", as: "h"}},
			{$project: {h: {$sortArray: {input: "$h._id", sortBy: 1}}}}]`,
			`[{_id: 1, h: []}, {_id: 2, h: [1]}, {_id: 3, h: [1, 2]}, {_id: 4, h: [1, 2]}, {_id: 5, h: [1, 2, 3]}, {_id: 6, h: [1, 2, 4]}]`)
		s.ok(`{createIndexes: "employees", indexes: [{key: {name: 1}, name: "n"}]}`)
	}
	s.insert("airports", `[
		{_id: 0, airport: "JFK", connects: ["BOS", "ORD"]}, {_id: 1, airport: "BOS", connects: ["JFK", "PWM"]},
		{_id: 2, airport: "ORD", connects: ["JFK"]}, {_id: 3, airport: "PWM", connects: ["BOS", "LHR"]}, {_id: 4, airport: "LHR", connects: ["PWM"]}]`)
	s.insert("travelers", `[{_id: 1, name: "Dev", nearestAirport: "JFK"}, {_id: 2, name: "Eliot", nearestAirport: "JFK"}, {_id: 3, name: "Jeff", nearestAirport: "BOS"}]`)
	s.gives("travelers", `[
		{$graphLookup: {from: "airports", startWith: "$nearestAirport", connectFromField: "connects", connectToField: "airport",
			maxDepth: 2, depthField: "numConnections", as: "destinations"}},
		{$project: {d: {$sortArray: {input: "$destinations", sortBy: {_id: 1}}}}}, {$project: {"d.connects": 0}}]`, `[
		{_id: 1, d: [{_id: 0, airport: "JFK", numConnections: NumberLong("0")}, {_id: 1, airport: "BOS", numConnections: NumberLong("1")},
			{_id: 2, airport: "ORD", numConnections: NumberLong("1")}, {_id: 3, airport: "PWM", numConnections: NumberLong("2")}]},
		{_id: 2, d: [{_id: 0, airport: "JFK", numConnections: NumberLong("0")}, {_id: 1, airport: "BOS", numConnections: NumberLong("1")},
			{_id: 2, airport: "ORD", numConnections: NumberLong("1")}, {_id: 3, airport: "PWM", numConnections: NumberLong("2")}]},
		{_id: 3, d: [{_id: 0, airport: "JFK", numConnections: NumberLong("1")}, {_id: 1, airport: "BOS", numConnections: NumberLong("0")},
			{_id: 2, airport: "ORD", numConnections: NumberLong("2")}, {_id: 3, airport: "PWM", numConnections: NumberLong("1")},
			{_id: 4, airport: "LHR", numConnections: NumberLong("2")}]}]`)
	s.insert("people", `[
		{_id: 1, name: "Tanya", friends: ["Shirley", "Terry", "Carole"], hobbies: ["tennis", "unicycling", "golf"]},
		{_id: 2, name: "Carole", friends: ["Joseph", "Tanya", "Terry"], hobbies: ["archery", "golf", "woodworking"]},
		{_id: 3, name: "Terry", friends: ["Tanya", "Joseph", "Carole"], hobbies: ["knitting", "frisbee"]},
		{_id: 4, name: "Joseph", friends: ["Carole", "Angelo"], hobbies: ["tennis", "golf", "topiary"]},
		{_id: 5, name: "Angelo", friends: ["Joseph"], hobbies: ["travel", "ceramics", "golf"]},
		{_id: 6, name: "Shirley", friends: ["Tanya"], hobbies: ["frisbee", "set theory"]}]`)
	s.gives("people", `[{$match: {name: "Tanya"}},
		{$graphLookup: {from: "people", startWith: "$friends", connectFromField: "friends", connectToField: "name", as: "golfers", restrictSearchWithMatch: {hobbies: "golf"}}},
		{$project: {name: 1, friends: 1, c: {$sortArray: {input: "$golfers.name", sortBy: 1}}}}]`,
		`[{_id: 1, name: "Tanya", friends: ["Shirley", "Terry", "Carole"], c: ["Angelo", "Carole", "Joseph", "Tanya"]}]`)
}

// The examples of the manual's page on $unionWith.
func TestUnionWith(t *testing.T) {
	s := newServer(t)
	s.insert("warehouse", `[{_id: 1, name: "A"}, {_id: 2, name: "B"}]`)
	s.insert("suppliers", `[{_id: 1, supplier: "Aardvark", state: "Texas"}, {_id: 2, supplier: "Bears", state: "Colorado"}, {_id: 3, supplier: "Squid", state: "Rhode Island"}]`)
	s.gives("suppliers", `[{$project: {state: 1, _id: 0}}, {$unionWith: {coll: "warehouse", pipeline: [{$project: {name: 1, _id: 0}}]}}]`,
		`[{state: "Texas"}, {state: "Colorado"}, {state: "Rhode Island"}, {name: "A"}, {name: "B"}]`)
	s.gives("suppliers", `[{$match: {_id: 1}}, {$unionWith: "nosuch"}, {$unionWith: {pipeline: [{$documents: [{a: 1}]}]}}]`,
		`[{_id: 1, supplier: "Aardvark", state: "Texas"}, {a: 1}]`)
	s.ok(`{create: "texans", viewOn: "suppliers", pipeline: [{$match: {state: "Texas"}}]}`)
	s.gives("warehouse", `[{$unionWith: "texans"}, {$match: {_id: 1}}]`, `[{_id: 1, name: "A"}, {_id: 1, supplier: "Aardvark", state: "Texas"}]`)
	s.gives("texans", `[{$unionWith: {coll: "texans", pipeline: [{$project: {_id: 1}}]}}, {$group: {_id: null, n: {$sum: 1}}}]`, `[{_id: null, n: 2}]`)
	s.gives("1", `[{$documents: [{x: 1}]}, {$unionWith: {coll: "texans", pipeline: [{$project: {_id: 1}}]}}]`, `[{x: 1}, {_id: 1}]`)
}

// A hint applies only to the collection of the command.
func TestHintIsNotForJoins(t *testing.T) {
	s := newServer(t)
	s.insert("a", `[{_id: 1, x: 1}]`)
	s.insert("b", `[{_id: 1, x: 1}]`)
	s.ok(`{createIndexes: "a", indexes: [{key: {x: 1}, name: "x_1"}]}`)
	s.gives("a", `[{$match: {x: 1}}, {$lookup: {from: "b", localField: "x", foreignField: "x", as: "r"}}]`, `[{_id: 1, x: 1, r: [{_id: 1, x: 1}]}]`, `hint: {x: 1}`)
	s.gives("a", `[{$unionWith: "b"}]`, `[{_id: 1, x: 1}, {_id: 1, x: 1}]`, `hint: "x_1"`)
	s.fails(2, "b", `[{$match: {x: 1}}]`, `hint: "x_1"`)
}

// A $lookup by $expr uses an index with the values of its variables, and has the same
// result as without.
func TestLookupByExpressionUsesIndexes(t *testing.T) {
	s := newServer(t)
	s.insert("in", `[{_id: 1, v: 1}, {_id: 2, v: null}, {_id: 3}, {_id: 4, v: [1, 2]}, {_id: 5, v: "x"}]`)
	s.insert("other", `[{_id: 1, f: 1}, {_id: 2, f: null}, {_id: 3}, {_id: 4, f: [1, 2]}, {_id: 5, f: "x"}, {_id: 6, f: [1]}, {_id: 7, f: "X"}, {_id: 8, f: NumberLong("1")}]`)
	pipeline := `[{$lookup: {from: "other", let: {v: "$v"}, pipeline: [{$match: {$expr: {$eq: ["$f", "$$v"]}}}, {$sort: {_id: 1}}], as: "r"}}, {$sort: {_id: 1}}, {$project: {r: "$r._id"}}]`
	want := `[{_id: 1, r: [1, 8]}, {_id: 2, r: [2]}, {_id: 3, r: [3]}, {_id: 4, r: [4]}, {_id: 5, r: [5]}]`
	s.gives("in", pipeline, want)
	s.ok(`{createIndexes: "other", indexes: [{key: {f: 1}, name: "f_1"}]}`)
	s.gives("in", pipeline, want)
	s.gives("other", `[{$indexStats: {}}, {$match: {name: "f_1"}}, {$project: {_id: 0, n: "$accesses.ops"}}]`, `[{n: NumberLong("4")}]`)
	s.gives("in", `[{$match: {_id: 5}}, {$lookup: {from: "other", let: {v: "$v"}, pipeline: [{$match: {$expr: {$eq: ["$f", "$$v"]}}}], as: "r"}}, {$project: {r: "$r._id"}}]`,
		`[{_id: 5, r: [5, 7]}]`, `collation: {locale: "en", strength: 2}`)
	s.gives("other", `[{$match: {$expr: {$eq: ["$f", "$$x"]}}}, {$project: {_id: 1}}]`, `[{_id: 5}]`, `let: {x: "x"}`)
}

// Ranges by variables read only their part of an index; a value that cannot become a
// range causes a collection scan.
func TestLookupByRangeUsesIndexes(t *testing.T) {
	s := newServer(t)
	s.insert("in", `[{_id: 1, lo: 2, hi: 4}, {_id: 2, lo: 3}, {_id: 3, lo: null, hi: 1}, {_id: 4, lo: [1], hi: [2, 3]}, {_id: 5, lo: "a", hi: "c"}]`)
	s.insert("other", `[{_id: 1, f: 1}, {_id: 2, f: 2}, {_id: 3, f: 3.5}, {_id: 4, f: null}, {_id: 5}, {_id: 6, f: "b"}, {_id: 7, f: [2]}, {_id: 8, f: NumberLong("4")}]`)
	s.ok(`{createIndexes: "other", indexes: [{key: {f: 1}, name: "f_1"}]}`)
	for _, c := range []struct{ condition, want string }{
		{`{$and: [{$gte: ["$f", "$$lo"]}, {$lt: ["$f", "$$hi"]}]}`, `[{_id: 1, r: [2, 3]}, {_id: 2, r: []}, {_id: 3, r: [4]}, {_id: 4, r: [7]}, {_id: 5, r: [6]}]`},
		{`{$and: [{$gt: ["$$hi", "$f"]}, {$lte: ["$$lo", "$f"]}]}`, `[{_id: 1, r: [2, 3]}, {_id: 2, r: []}, {_id: 3, r: [4]}, {_id: 4, r: [7]}, {_id: 5, r: [6]}]`},
		{`{$lt: ["$f", "$$lo"]}`, `[{_id: 1, r: [1, 4, 5]}, {_id: 2, r: [1, 2, 4, 5]}, {_id: 3, r: [5]}, {_id: 4, r: [1, 2, 3, 4, 5, 6, 8]}, {_id: 5, r: [1, 2, 3, 4, 5, 8]}]`},
		{`{$and: [{$gte: ["$f", {$subtract: ["$$lo", 1]}]}, {$eq: [{$type: "$$lo"}, "int"]}]}`, ``},
	} {
		pipeline := `[{$lookup: {from: "other", let: {lo: "$lo", hi: "$hi"}, pipeline: [{$match: {$expr: ` + c.condition + `}}, {$sort: {_id: 1}}], as: "r"}}, {$sort: {_id: 1}}, {$project: {r: "$r._id"}}]`
		if c.want == "" {
			s.fails(14, "in", pipeline)
			continue
		}
		s.gives("in", pipeline, c.want)
	}
	// An array in the index is greater than all numbers, and has no key that
	// tells so: only an index without arrays serves.
	uses := func() int64 {
		return s.aggregate("other", `[{$indexStats: {}}, {$match: {name: "f_1"}}]`)[0].Lookup("accesses").Doc().Lookup("ops").Int64()
	}
	pipeline := `[{$match: {_id: {$in: [1, 5]}}}, {$lookup: {from: "other", let: {lo: "$lo", hi: "$hi"}, pipeline: [{$match: {$expr: {$and: [{$gte: ["$f", "$$lo"]}, {$lt: ["$f", "$$hi"]}]}}}, {$sort: {_id: 1}}], as: "r"}}, {$sort: {_id: 1}}, {$project: {r: "$r._id"}}]`
	want := `[{_id: 1, r: [2, 3]}, {_id: 5, r: [6]}]`
	before := uses()
	s.gives("in", pipeline, want)
	if n := uses() - before; n != 0 {
		t.Errorf("the index with arrays is used %d times", n)
	}
	s.ok(`{delete: "other", deletes: [{q: {_id: 7}, limit: 1}]}`)
	s.ok(`{dropIndexes: "other", index: "f_1"}`)
	s.ok(`{createIndexes: "other", indexes: [{key: {f: 1}, name: "f_1"}]}`)
	s.gives("in", pipeline, want)
	if n := uses(); n != 2 {
		t.Errorf("the index is used %d times for two ranges", n)
	}
}
