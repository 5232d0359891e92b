package growth

import "strings"

// stages over the n documents of the collection docs.
const stages = `
	$addFields: {y: 1} | $addFields: {"o.y": "$v"} | $bucket: {groupBy: "$v", boundaries: [0, 10, 100], default: "x"} | $bucket: {groupBy: "$v", boundaries: [<<#i>>], default: "x"} | $bucketAuto: {groupBy: "$v", buckets: 5}
	$bucketAuto: {groupBy: "$v", buckets: #h} | $bucketAuto: {groupBy: "$v", buckets: 5, granularity: "R5"} | $count: "n" | $densify: {field: "v", range: {step: 1, bounds: [0, #n]}} | $densify: {field: "x", range: {step: 0.25, bounds: "full"}} | $densify: {field: "v", partitionByFields: ["k"], range: {step: 1, bounds: "partition"}}
	$facet: {a: [{$match: {v: 1}}], b: [{$sortByCount: "$k"}]} | $facet: {<<y#i: [{$limit: 1}]>>} | $fill: {sortBy: {v: 1}, output: {y: {method: "locf"}}} | $fill: {sortBy: {v: 1}, output: {x: {method: "linear"}}}
	$geoNear: {near: {type: "Point", coordinates: [0, 0]}, distanceField: "dist"} | $graphLookup: {from: "chain", startWith: "$missing", connectFromField: "to", connectToField: "_id", as: "y"} | $group: {_id: "$v", y: {$sum: 1}} | $group: {_id: null, y: {$push: "$v"}} | $group: {_id: {a: "$v", b: "$s"}, y: {$first: "$x"}}
	$limit: #h | $lookup: {from: "docs", localField: "v", foreignField: "v", as: "y"} | $lookup: {from: "docs", localField: "x", foreignField: "x", as: "y"} | $lookup: {from: "docs", let: {x: "$x"}, pipeline: [{$match: {$expr: {$eq: ["$x", "$$x"]}}}], as: "y"} | $lookup: {from: "docs", let: {x: "$v"}, pipeline: [{$match: {$expr: {$eq: ["$v", "$$x"]}}}], as: "y"} | $lookup: {from: "docs", pipeline: [{$count: "n"}], as: "y"}
	$match: {v: {$gt: 3}} | $match: {$expr: {$gt: ["$v", 3]}} | $merge: {into: "target"} | $merge: {into: "target", whenMatched: "replace"} | $merge: {into: "target", whenMatched: [{$set: {y: 1}}]} | $out: "target"
	$project: {v: 1} | $project: {y: "$v"} | $project: {v: 0} | $rankFusion: {input: {pipelines: {p: [{$sort: {x: 1}}], q: [{$match: {v: {$gt: 3}}}, {$sort: {v: -1}}]}}, scoreDetails: true} | $redact: {$cond: [{$gt: ["$v", 3]}, "$$KEEP", "$$PRUNE"]} | $replaceRoot: {newRoot: "$$ROOT"} | $replaceWith: {y: "$v"} | $sample: {size: #h} | $sample: {size: 1000000} | $score: {score: "$v", normalization: "sigmoid"} | $score: {score: "$v", normalization: "minMaxScaler"} | $scoreFusion: {input: {pipelines: {p: [{$score: {score: "$x"}}], q: [{$score: {score: "$v"}}]}, normalization: "minMaxScaler"}} | $set: {y: "$v"} | $setWindowFields: {sortBy: {v: 1}, output: {y: {$sum: "$v"}}} | $setWindowFields: {partitionBy: "$v", sortBy: {v: 1}, output: {y: {$sum: "$v"}}}
	$skip: #h | $sort: {x: -1} | $sort: {s: 1, v: -1} | $sortByCount: "$v" | $unionWith: "docs" | $unionWith: {coll: "docs", pipeline: [{$match: {v: 3}}]} | $unset: "v" | $unset: ["v", "o.f"] | $unwind: "$r" | $unwind: {path: "$r", includeArrayIndex: "i", preserveNullAndEmptyArrays: true}`

// stagesOnOne have n elements, fields or branches, over the collection one.
const stagesOnOne = `
	$addFields: {<<y#i: 1>>} | $addFields: {<<"o.f#i": 1>>} | $addFields: {<<"y#i.a": 1>>} | $addFields: {"g.y": 1} | $project: {<<"o.f#i": 1>>} | $project: {<<"o.f#i": 0>>} | $project: {<<y#i: "$v">>} | $project: {<<"y#i.a": "$v">>} | $project: {"g.a": 1} | $project: {"g.a": 0}
	$set: {<<"o.y#i": 1>>} | $set: {y: {<<y#i: 1>>}} | $unset: [<<"o.f#i">>] | $unset: [<<"y#i">>] | $unset: "g.a" | $match: {$and: [<<{"o.f#i": #i}>>]} | $match: {$or: [<<{y: #i}>>]}
	$fill: {output: {<<y#i: {value: 1}>>}} | $replaceRoot: {newRoot: {<<y#i: "$v">>}} | $replaceWith: {<<y#i: 1>>} | $group: {_id: {<<y#i: "$v">>}} | $group: {_id: null, <<y#i: {$sum: "$v"}>>} | $unwind: "$r" | $unwind: "$g" | $unwind: {path: "$g", includeArrayIndex: "o.i"}
	$sortByCount: {$size: "$r"} | $lookup: {from: "docs", localField: "r", foreignField: "v", as: "y"} | $lookup: {from: "docs", localField: "r", foreignField: "x", as: "y"} | $lookup: {from: "small", localField: "r", foreignField: "r", as: "y"} | $lookup: {from: "docs", pipeline: [], as: "y"} | $lookup: {from: "one", pipeline: [{$match: {$or: [<<{v: #i}>>]}}], as: "y"}
	$graphLookup: {from: "chain", startWith: 0, connectFromField: "to", connectToField: "_id", as: "y"} | $graphLookup: {from: "star", startWith: 0, connectFromField: "to", connectToField: "from", as: "y"} | $graphLookup: {from: "chain", startWith: "$r", connectFromField: "to", connectToField: "_id", as: "y", maxDepth: 0} | $setWindowFields: {sortBy: {v: 1}, output: {<<y#i: {$sum: "$v"}>>}}
	$facet: {<<y#i: [{$match: {v: #i}}]>>} | $fill: {sortBy: {v: 1}, output: {<<y#i: {method: "locf"}>>}} | $densify: {field: "v", range: {step: 1, bounds: [0, #n]}} | $merge: {into: "target", on: "_id"} | $out: "target"`

// repeated are stages of which a pipeline has n. MongoDB allows a thousand.
var repeated = specs(`$addFields: {y: 1} | $limit: 5 | $match: {v: 5} | $match: {y: {$ne: 3}} | $project: {v: 1, r: 1} | $project: {y: 0} | $set: {y: "$v"} | $set: {<<y#i: 1>>} | $skip: 0 | $sort: {v: 1} | $sort: {x: 1} | $unset: "y"
	$replaceWith: "$$ROOT" | $redact: "$$KEEP" | $unionWith: {coll: "missing", pipeline: []} | $unwind: {path: "$missing", preserveNullAndEmptyArrays: true} | $group: {_id: "$_id", v: {$first: "$v"}} | $fill: {output: {y: {value: 1}}} | $setWindowFields: {sortBy: {v: 1}, output: {y: {$sum: "$v"}}}
	$lookup: {from: "missing", localField: "v", foreignField: "v", as: "y"} | $sample: {size: 5} | $sortByCount: "$v" | $bucketAuto: {groupBy: "$v", buckets: 2} | $graphLookup: {from: "missing", startWith: "$v", connectFromField: "a", connectToField: "b", as: "y"}`)

func stageCases() []growth {
	list := []growth{
		{name: "$documents elements", run: `{aggregate: 1, pipeline: [{$documents: [<<{v: #i}>>]}], cursor: {batchSize: 1000000}}`},
		{name: "$documents range", run: `{aggregate: 1, pipeline: [{$documents: {$map: {input: {$range: [0, #n]}, in: {v: "$$this"}}}}], cursor: {batchSize: 1000000}}`},
		{name: "$changeStream events", before: []string{`{drop: "watched"}`, `{aggregate: "watched", pipeline: [{$changeStream: {}}], cursor: {}}`, `{insert: "watched", documents: [<<{v: #i}>>]}`},
			run: `{getMore: CURSOR, collection: "watched", batchSize: 1000000}`},
		{name: "$changeStreamSplitLargeEvent events", before: []string{`{drop: "watched"}`, `{aggregate: "watched", pipeline: [{$changeStream: {}}, {$changeStreamSplitLargeEvent: {}}], cursor: {}}`, `{insert: "watched", documents: [<<{v: #i}>>]}`},
			run: `{getMore: CURSOR, collection: "watched", batchSize: 1000000}`},
		{name: "$collStats documents", run: `{aggregate: "docs", pipeline: [{$collStats: {count: {}, storageStats: {}, latencyStats: {}}}], cursor: {}}`},
		{name: "$currentOp cursors and sessions", run: `admin: {aggregate: 1, pipeline: [{$currentOp: {allUsers: true, idleCursors: true, idleSessions: true, idleConnections: true}}], cursor: {batchSize: 1000000}}`},
		{name: "$indexStats indexes", limit: 60, run: `{aggregate: "indexed", pipeline: [{$indexStats: {}}], cursor: {batchSize: 1000000}}`},
		{name: "$listCatalog collections", run: `admin: {aggregate: 1, pipeline: [{$listCatalog: {}}], cursor: {batchSize: 1000000}}`},
		{name: "$listClusterCatalog collections", run: `admin: {aggregate: 1, pipeline: [{$listClusterCatalog: {}}], cursor: {batchSize: 1000000}}`},
		{name: "$listLocalSessions sessions", run: `admin: {aggregate: 1, pipeline: [{$listLocalSessions: {allUsers: true}}], cursor: {batchSize: 1000000}}`},
		{name: "$listSessions sessions", run: `config: {aggregate: "system.sessions", pipeline: [{$listSessions: {allUsers: true}}], cursor: {batchSize: 1000000}}`},
		{name: "$listSampledQueries", run: `admin: {aggregate: 1, pipeline: [{$listSampledQueries: {}}], cursor: {}}`},
		{name: "$planCacheStats shapes", before: []string{`{find: "docs", filter: {v: 1, k: 2, x: 3}}`}, run: `{aggregate: "docs", pipeline: [{$planCacheStats: {}}], cursor: {batchSize: 1000000}}`},
		{name: "$queryStats shapes", before: []string{`admin: {setParameter: 1, internalQueryStatsRateLimit: -1}`, `{find: "one", filter: {$or: [<<{y#i: 1}>>]}}`},
			run: `admin: {aggregate: 1, pipeline: [{$queryStats: {}}], cursor: {batchSize: 1000000}}`},
		{name: "$querySettings", run: `admin: {aggregate: 1, pipeline: [{$querySettings: {}}], cursor: {}}`},
		{name: "$unwind behind $set", run: `{aggregate: "one", pipeline: [{$set: {y: {$range: [0, #n]}, r: 0, q: 0, w: 0, g: 0, e: 0, z: 0, o: 0, t: 0, t2: 0, s: 0, b: 0, p: 0, p2: 0}}, {$unwind: "$y"}, {$count: "n"}], cursor: {}}`},
		{name: "$unwind and then $group", run: `{aggregate: "one", pipeline: [{$unwind: "$r"}, {$group: {_id: "$r", y: {$sum: "$v"}}}], cursor: {batchSize: 1000000}}`},
		{name: "$unwind and then $project", run: `{aggregate: "one", pipeline: [{$unwind: "$g"}, {$project: {y: "$g.a"}}], cursor: {batchSize: 1000000}}`},
		{name: "$unwind and then $match and $count", run: `{aggregate: "one", pipeline: [{$unwind: "$r"}, {$match: {r: {$gt: 5}}}, {$count: "n"}], cursor: {}}`},
		{name: "$unwind behind $lookup", run: `{aggregate: "one", pipeline: [{$project: {v: 1}}, {$lookup: {from: "docs", pipeline: [], as: "y"}}, {$unwind: "$y"}, {$count: "n"}], cursor: {}}`},
		{name: "$sort fields", limit: 30, run: `{aggregate: "one", pipeline: [{$sort: {<<y#i: 1>>}}], cursor: {}}`},
		{name: "$setWindowFields sort fields", limit: 30, run: `{aggregate: "one", pipeline: [{$setWindowFields: {sortBy: {<<y#i: 1>>}, output: {y: {$sum: "$v"}}}}], cursor: {}}`},
		{name: "$redact conditions", run: `{aggregate: "small", pipeline: [{$redact: {$cond: [{$or: [<<{$eq: ["$v", -#i]}>>]}, "$$KEEP", "$$DESCEND"]}}], cursor: {}}`},
		{name: "$redact levels", run: `{aggregate: "one", pipeline: [{$redact: "$$DESCEND"}], cursor: {}}`},
		{name: "$count statistics", run: `{explain: {aggregate: "docs", pipeline: [{$match: {v: {$gt: 3}}}, {$count: "n"}], cursor: {}}, verbosity: "executionStats"}`},
	}
	over := func(coll, what, text string) {
		for _, spec := range specs(text) {
			name, arg := cut(spec)
			before := []string(nil)
			pipeline := `{` + spec + `}`
			switch name {
			case "$unwind": // what is beside the array is in every result
				if coll == "one" {
					pipeline = `{$project: {` + string(arg[strings.IndexByte(arg, '$')+1]) + `: 1}}, ` + pipeline
				}
			case "$merge", "$out":
				before = []string{`{drop: "target"}`}
			}
			list = append(list, growth{name: name + " " + what + " " + arg, before: before, run: `{aggregate: "` + coll + `", pipeline: [` + pipeline + `], cursor: {batchSize: 1000000}}`})
		}
	}
	over("docs", "documents", stages)
	over("one", "one", stagesOnOne)
	for _, spec := range repeated {
		name, arg := cut(spec)
		if name == "$set" && arg[1] == '<' { // n fields of a document in stages of their own
			spec, arg = `$set: {y#i: 1}`, "fields"
		}
		list = append(list, growth{name: name + " stages " + arg, limit: 1000, run: `{aggregate: "small", pipeline: [<<{` + spec + `}>>], cursor: {}}`})
	}
	return list
}

// accumulators over all documents in one group.
const accumulators = `
	$accumulator: {init: "function() { return 0 }", accumulate: "function(s, v) { return s + v }", accumulateArgs: ["$v"], merge: "function(a, b) { return a + b }", lang: "js"}
	$addToSet: "$v" | $addToSet: "$s" | $addToSet: "$k" | $addToSet: "$o" | $avg: "$x" | $bottom: {sortBy: {x: 1}, output: "$v"} | $bottomN: {n: 5, sortBy: {x: 1}, output: "$v"} | $bottomN: {n: #h, sortBy: {x: 1}, output: "$v"} | $concatArrays: {$slice: [["$k"], 1]} | $count: {}
	$first: "$v" | $firstN: {n: #h, input: "$v"} | $last: "$v" | $lastN: {n: #h, input: "$v"} | $max: "$x" | $maxN: {n: #h, input: "$v"} | $maxN: {n: #h, input: {$subtract: [0, "$v"]}} | $median: {input: "$x", method: "approximate"} | $mergeObjects: "$o" | $mergeObjects: {$arrayToObject: [[{k: "$s", v: 1}]]}
	$min: "$x" | $minN: {n: #h, input: "$v"} | $minN: {n: #h, input: {$subtract: [0, "$v"]}} | $percentile: {input: "$x", p: [0.5, 0.9], method: "approximate"} | $percentile: {input: "$x", p: [<<0.5>>], method: "approximate"} | $push: "$v" | $push: "$$ROOT" | $setUnion: {$slice: [["$k"], 1]} | $stdDevPop: "$x" | $stdDevSamp: "$x" | $sum: "$x" | $sum: "$v"
	$top: {sortBy: {x: 1}, output: "$v"} | $topN: {n: #h, sortBy: {x: 1}, output: "$v"} | $topN: {n: #h, sortBy: {x: -1}, output: "$v"} | $topN: {n: #h, sortBy: {k: 1}, output: "$v"}`

func accumulatorCases() (list []growth) {
	for _, spec := range specs(accumulators) {
		name, arg := cut(spec)
		add := func(what, coll, group string) {
			list = append(list, growth{name: name + " " + what + " " + arg, run: `{aggregate: "` + coll + `", pipeline: [{$group: {` + group + `}}], cursor: {batchSize: 1000000}}`})
		}
		add("documents", "docs", `_id: null, y: {`+spec+`}`)
		if name == "$accumulator" {
			continue // each group would have n calls of its own
		}
		if !hasSize(arg) {
			add("groups", "docs", `_id: "$v", y: {`+spec+`}`)
			add("fields", "small", `_id: null, <<y#i: {`+spec+`}>>`)
		}
	}
	return list
}

// hasSize reports whether a specification itself depends on n.
func hasSize(spec string) bool {
	for i := range spec {
		if spec[i] == '#' || spec[i] == '<' {
			return true
		}
	}
	return false
}
