package growth

import "strings"

// brief are cases whose operations do so little for each of their n that they need not look
// whether they were killed: a message and a document have at most 48 and 16 MB, and what an
// expression builds at most 64 MB.
var brief = titles(
	onePass + few,
)

// titles are the lines of a text.
func titles(text string) map[string]bool {
	list := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list[line] = true
		}
	}
	return list
}

// onePass are operations that read their input once, a few nanoseconds for each byte, and look
// before they read the next.
const onePass = `
	expression: $add [<<#i>>]
	expression: $arrayElemAt ["$r", -1]
	expression: $binarySize "$s"
	expression: $bsonSize "$$ROOT"
	expression: $cmp ["$r", "$q"]
	expression: $concat [<<"a#i">>]
	expression: $concat [<<"$$ROOT.a">>]
	expression: $convert {input: "$s", to: "bool"}
	expression: $dateFromString {dateString: "$s", onError: 1}
	expression: $eq ["$r", "$q"]
	expression: $eq ["$r", "$r"]
	expression: $getField {field: "f#h", input: "$o"}
	expression: $gt ["$q", "$r"]
	expression: $gte ["$r", "$r"]
	expression: $in ["$v", [<<#i>>]]
	expression: $indexOfArray [[<<#i>>], -1]
	expression: $indexOfBytes ["$s", "zz"]
	expression: $indexOfBytes ["$s", {$concat: [{$substrBytes: ["$s", 0, #n]}, "z"]}]
	expression: $indexOfCP ["$s", "zz"]
	expression: $indexOfCP ["$s", {$concat: [{$substrCP: ["$s", 0, #n]}, "z"]}]
	expression: $literal [<<#i>>]
	expression: $lt ["$r", "$q"]
	expression: $lte ["$r", "$r"]
	expression: $ne ["$r", "$q"]
	expression: $ltrim {input: "$s"}
	expression: $ltrim {input: "$s", chars: "ab "}
	expression: $rtrim {input: "$s", chars: "ab "}
	expression: $trim {input: "$s", chars: "ab "}
	expression: $trim {input: "abc", chars: "$s"}
	expression: $mergeObjects [<<{f#i: 1}>>]
	expression: $not [["$r"]]
	expression: $range [0, #n]
	expression: $range [#n, 0, -1]
	expression: $regexFind {input: "$s", regex: "zz$"}
	expression: $regexMatch {input: "$s", regex: "zz$"}
	expression: $replaceAll {input: "$s", find: "ab", replacement: "xyz"}
	expression: $replaceOne {input: "$s", find: "zz", replacement: "a"}
	expression: $replaceAll {input: "$s", find: "zz", replacement: "a"}
	expression: $reverseArray "$r"
	expression: $round [1.5, 0]
	expression: $setIntersection [<<[1]>>]
	expression: $setUnion [<<[#i]>>]
	expression: $setField {field: "y", input: "$o", value: 1}
	expression: $unsetField {field: "f#h", input: "$o"}
	expression: $size "$r"
	expression: $split ["$s", "zz"]
	expression: $strLenBytes "$s"
	expression: $strLenCP "$s"
	expression: $strcasecmp ["$s", "$s"]
	expression: $substr ["$s", #n, #n]
	expression: $substrBytes ["$s", #n, #n]
	expression: $substrCP ["$s", #n, #n]
	expression: $toHashedIndexKey "$s"
	expression: $toHashedIndexKey "$r"
	expression: $toLower "$s"
	expression: $toUpper "$s"
	expression: $toString "$s"
	expression: $toBool "$s"
	expression: $type "$r"
	expression: $isArray "$r"
	expression: $first "$r"
	expression: $last "$r"
	expression: $concat ["$s", "$s"]
	query operator: $eq one r: {$eq: [<<#i>>]}
	query operator: $eq one r: -1
	query operator: $ne one r: {$ne: [<<#i>>]}
	query operator: $gt one r: {$gt: [<<#i>>]}
	query operator: $gte one r: {$gte: [<<#i>>]}
	query operator: $lt one r: {$lt: [<<#i>>]}
	query operator: $lte one r: {$lte: [<<#i>>]}
	query operator: $all one r: {$all: [1, -1]}
	query operator: $or one $or: [<<{v: #i}>>]
	query operator: $or one $or: [{$or: [<<{v: #i}>>]}, {y: 1}]
	query operator: $in one r: {$in: [<<-#i>>]}
	query operator: $nin one r: {$nin: [<<-#i>>]}
	query operator: $type one r: {$type: "string"}
	query operator: $mod one r: {$mod: [7, 9]}
	query operator: $regex one w: {$regex: "^x"}
	query operator: $regex one s: {$regex: "zz$"}
	query operator: $options one s: {$regex: "ZZ$", $options: "i"}
	query operator: $size one r: {$size: #n}
	query operator: $bitsAllClear one v: {$bitsAllClear: [<<1>>]}
	query operator: $bitsAllSet one v: {$bitsAllSet: [<<1>>]}
	query operator: $bitsAnyClear one v: {$bitsAnyClear: [<<1>>]}
	query operator: $bitsAnySet one v: {$bitsAnySet: [<<1>>]}
	query operator: $bitsAllSet one r: {$bitsAllSet: 1000000000}
	query operator: $jsonSchema one $jsonSchema: {properties: {o: {required: [<<"f#i">>]}}}
	query operator: $jsonSchema one $jsonSchema: {properties: {v: {enum: [<<#i>>]}}}
	query operator: $jsonSchema one $jsonSchema: {properties: {o: {dependencies: {<<f#i: ["f0"]>>}}}}
	query operator: $geoWithin one l: {$geoWithin: {$polygon: [[0, 0], <<[3, #i]>>]}}
	query operator: $within one l: {$within: {$polygon: [[0, 0], <<[3, #i]>>]}}
	update operator: $addToSet {y: {$each: [<<#i>>]}}
	update operator: $push {y: {$each: [<<#i>>]}}
	update operator: $push {r: {$each: [<<#i>>], $position: 3}}
	update operator: $push {r: {$each: [], $slice: -3}}
	update operator: $set {r: [<<-#i>>]}
	update operator: $set filters of one array
	update operator: $set pipeline stages
	update operator: $set replacement
`

// few are operations for which n is not the number of what they visit, or that take less than
// 100 ms for all that a message can ask of one document.
const few = `
	accumulator: $avg fields "$x"
	accumulator: $count fields {}
	accumulator: $first fields "$v"
	accumulator: $last fields "$v"
	accumulator: $max fields "$x"
	accumulator: $median fields {input: "$x", method: "approximate"}
	accumulator: $min fields "$x"
	accumulator: $percentile fields {input: "$x", p: [0.5, 0.9], method: "approximate"}
	accumulator: $stdDevPop fields "$x"
	accumulator: $stdDevSamp fields "$x"
	accumulator: $sum fields "$v"
	accumulator: $sum fields "$x"
	query operator: $alwaysFalse documents $alwaysFalse: 1
	query operator: $eq documents v: {$eq: 5}
	query operator: $geoIntersects documents l: {$geoIntersects: {$geometry: {type: "Point", coordinates: [1, 1]}}}
	query operator: $lt documents v: {$lt: 5}
	query operator: $not documents v: {$not: {$gt: 3}}
	stage: $collStats documents
	stage: $currentOp cursors and sessions
	stage: $facet one {<<y#i: [{$match: {v: #i}}]>>}
	stage: $group one {_id: null, <<y#i: {$sum: "$v"}>>}
	stage: $listCatalog collections
	stage: $listClusterCatalog collections
	stage: $listLocalSessions sessions
	stage: $listSampledQueries
	stage: $listSessions sessions
	stage: $lookup one {from: "one", pipeline: [{$match: {$or: [<<{v: #i}>>]}}], as: "y"}
	stage: $match one {$or: [<<{y: #i}>>]}
	stage: $merge one {into: "target", on: "_id"}
	stage: $out one "target"
	stage: $planCacheStats shapes
	stage: $project one {<<"o.f#i": 1>>}
	stage: $querySettings
	stage: $queryStats shapes
	stage: $redact levels
	stage: $replaceWith one {<<y#i: 1>>}
	stage: $unset one [<<"y#i">>]
`
