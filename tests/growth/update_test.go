package growth

// updates of the one document of the collection upd, which is like that of the collection one.
const updates = `
	$addToSet: {y: {$each: [<<#i>>]}} | $addToSet: {r: {$each: [<<-#i>>]}} | $addToSet: {r: {$each: [<<#i>>]}} | $addToSet: {w: {$each: [<<"x#i">>]}} | $addToSet: {<<"y#i": 1>>} | $addToSet: {g: {$each: [<<{a: -#i}>>]}}
	$bit: {<<"o.f#i": {or: 3}>>} | $bit: {<<"r.#i": {and: 3}>>} | $currentDate: {<<y#i: true>>} | $currentDate: {<<"o.f#i": true>>}
	$inc: {<<y#i: 1>>} | $inc: {<<"o.f#i": 1>>} | $inc: {<<"r.#i": 1>>} | $inc: {"r.$[]": 1} | $inc: {"g.$[].a": 1} | $inc: {<<"g.#i.a": 1>>} | $max: {<<y#i: 1>>} | $max: {<<"o.f#i": 100000>>} | $max: {"r.$[]": 100000}
	$min: {<<y#i: 1>>} | $min: {<<"o.f#i": -1>>} | $min: {"r.$[]": -1} | $mul: {<<y#i: 2>>} | $mul: {<<"o.f#i": 2>>} | $mul: {"r.$[]": 2} | $pop: {r: 1} | $pop: {r: -1} | $pop: {<<"p.#i": 1>>}
	$pull: {r: {$gte: #h}} | $pull: {r: {$in: [<<#i>>]}} | $pull: {g: {a: {$gt: 3}}} | $pull: {g: {a: {$in: [<<#i>>]}, b: {$lte: 0}}} | $pull: {<<"p.#i": 1>>} | $pullAll: {r: [<<#i>>]} | $pullAll: {w: [<<"w#i">>]} | $pullAll: {w: [<<"x#i">>]} | $pullAll: {r: [<<-#i>>]} | $pullAll: {g: [<<{a: #i}>>]} | $pullAll: {<<"p.#i": [1]>>}
	$push: {y: {$each: [<<#i>>]}} | $push: {r: {$each: [<<#i>>], $position: 3}} | $push: {r: {$each: [<<#i>>], $sort: -1, $slice: #h}} | $push: {g: {$each: [<<{a: #i}>>], $sort: {a: -1}}} | $push: {<<y#i: 1>>} | $push: {<<"p.#i": 1>>} | $push: {r: {$each: [], $slice: -3}}
	$rename: {<<"o.f#i": "y#i">>} | $rename: {<<"y#i": "z#i">>} | $set: {<<y#i: 1>>} | $set: {<<"o.f#i": -1>>} | $set: {<<"r.#i": -1>>} | $set: {<<"y#i.a.b": 1>>} | $set: {"r.$[]": 1} | $set: {"g.$[].y": 1} | $set: {r: [<<-#i>>]} | $set: {<<"g.#i.y": 1>>}
	$setOnInsert: {<<y#i: 1>>} | $unset: {<<"o.f#i": 1>>} | $unset: {<<"y#i": 1>>} | $unset: {<<"r.#i": 1>>} | $unset: {"g.$[].a": 1}`

// updateCases: each begins with the same document.
func updateCases() (list []growth) {
	for _, spec := range specs(updates) {
		name, arg := cut(spec)
		list = append(list, growth{name: name + " " + arg, before: fresh, run: `{update: "upd", updates: [{q: {_id: 1}, u: {` + spec + `}}]}`})
	}
	statement := func(name, u, more string) {
		list = append(list,
			growth{name: name + " documents", before: manyFresh, run: `{update: "many", updates: [{q: {}, u: ` + u + `, multi: true` + more + `}]}`},
			growth{name: name + " statements", before: manyFresh, run: `{update: "many", updates: [<<{q: {_id: #i}, u: ` + u + more + `}>>]}`},
			growth{name: name + " upserts", before: manyFresh, run: `{update: "many", updates: [<<{q: {_id: "u#i"}, u: ` + u + `, upsert: true` + more + `}>>]}`})
	}
	for _, spec := range specs(`$addToSet: {y: 1} | $bit: {v: {or: 3}} | $currentDate: {y: true} | $inc: {v: 1} | $max: {v: 7} | $min: {v: -7} | $mul: {v: 2} | $pop: {y: 1} | $pull: {y: 1} | $pullAll: {y: [1]} | $push: {y: 1} | $rename: {v: "y"} | $set: {y: 1} | $setOnInsert: {y: 1} | $unset: {v: 1}`) {
		name, _ := cut(spec)
		statement(name, `{`+spec+`}`, "")
	}
	return append(list,
		growth{name: "$set filters", before: fresh, run: `{update: "upd", updates: [{q: {_id: 1}, u: {$set: {"r.$[a]": -1}}, arrayFilters: [{a: {$gt: 3}}]}]}`},
		growth{name: "$set filters in", before: fresh, run: `{update: "upd", updates: [{q: {_id: 1}, u: {$set: {"r.$[a]": -1}}, arrayFilters: [{a: {$in: [<<#i>>]}}]}]}`},
		growth{name: "$set many filters", scale: 50, before: fresh, run: `{update: "upd", updates: [{q: {_id: 1}, u: {$set: {<<"p.#i.$[a#i]": -1>>}}, arrayFilters: [<<{a#i: 1}>>]}]}`},
		growth{name: "$set filters of one array", scale: 20, before: fresh, run: `{update: "upd", updates: [{q: {_id: 1}, u: {$set: {<<"p2.$[a#i]": -1>>}}, arrayFilters: [<<{a#i: -#i}>>]}]}`},
		growth{name: "$set positional", before: fresh, run: `{update: "upd", updates: [{q: {_id: 1, r: #h}, u: {$set: {"r.$": -1}}}]}`},
		growth{name: "$set pipeline", before: fresh, run: `{update: "upd", updates: [{q: {_id: 1}, u: [{$set: {<<y#i: 1>>}}]}]}`},
		growth{name: "$set pipeline stages", scale: 40, before: manyFresh, run: `{update: "many", updates: [{q: {_id: 1}, u: [<<{$set: {v: #i}}>>]}]}`},
		growth{name: "$set replacement", before: fresh, run: `{update: "upd", updates: [{q: {_id: 1}, u: {<<y#i: 1>>}}]}`},
		growth{name: "$set upsert", before: fresh, run: `{update: "upd", updates: [{q: {<<"y#i": 1>>}, u: {$set: {<<"z#i": 1>>}}, upsert: true}]}`},
		growth{name: "$set upsert and", before: fresh, run: `{update: "upd", updates: [{q: {$and: [<<{"y#i": 1}>>]}, u: {$setOnInsert: {<<"z#i": 1>>}}, upsert: true}]}`},
		growth{name: "$setOnInsert upsert", before: fresh, run: `{update: "upd", updates: [{q: {_id: 2}, u: {$setOnInsert: {<<"z#i.a": 1>>}}, upsert: true}]}`})
}

// cut separates the name from what is after it.
func cut(spec string) (name, rest string) {
	for i := range spec {
		if spec[i] == ':' {
			return spec[:i], spec[i+2:]
		}
	}
	return spec, ""
}
