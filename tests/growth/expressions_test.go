package growth

import "strings"

// Expressions are evaluated over the one document of the collection one, whose fields have
// n elements, fields or characters:
//
//	r, q   the numbers from 0 to n-1, ascending and descending
//	w      strings
//	g      documents {k, v, a, b}
//	e, z   {k, v} with names as $arrayToObject takes them; pairs of them
//	o      a document with n fields
//	t      true, n times
//	s      a string of 8n characters; b bytes
//	v x d  a number, a double, a date
//
// or over n documents of the collection docs, each with fields v, x, s, d, r, o of one value.

// scalarExpressions take a fixed number of scalars. What there are n of are documents, and
// fields computed in one document.
const scalarExpressions = `
	$abs: "$x" | $acos: 0.5 | $acosh: 1.5 | $asin: 0.5 | $asinh: "$x" | $atan: "$x" | $atan2: ["$x", 2] | $atanh: 0.5
	$arrayElemAt: ["$r", 0] | $binarySize: "$s" | $bitNot: "$v" | $bsonSize: "$o" | $ceil: "$x" | $cmp: ["$v", "$x"]
	$cond: ["$v", 1, 2] | $const: 1 | $convert: {input: "$v", to: "string"} | $cos: "$x" | $cosh: 0.5
	$dateAdd: {startDate: "$d", unit: "day", amount: 1} | $dateDiff: {startDate: "$d", endDate: "$d", unit: "day"}
	$dateFromParts: {year: 2026} | $dateFromString: {dateString: "2026-01-01T00:00:00Z"} | $dateSubtract: {startDate: "$d", unit: "day", amount: 1}
	$dateToParts: {date: "$d"} | $dateToString: {date: "$d"} | $dateTrunc: {date: "$d", unit: "day"} | $dayOfMonth: "$d" | $dayOfWeek: "$d"
	$dayOfYear: "$d" | $degreesToRadians: "$x" | $divide: ["$x", 2] | $eq: ["$v", 1] | $exp: 0.5 | $floor: "$x" | $function: 0
	$getField: "v" | $gt: ["$v", 1] | $gte: ["$v", 1] | $hour: "$d" | $isArray: "$r" | $isNumber: "$v" | $isoDayOfWeek: "$d" | $isoWeek: "$d"
	$isoWeekYear: "$d" | $literal: 1 | $ln: 2.5 | $log: [10, 2] | $log10: 2.5 | $lt: ["$v", 1] | $lte: ["$v", 1] | $meta: "recordId"
	$millisecond: "$d" | $minute: "$d" | $mod: ["$v", 3] | $month: "$d" | $ne: ["$v", 1] | $not: "$v" | $pow: ["$x", 2] | $radiansToDegrees: "$x"
	$rand: {} | $round: ["$x", 1] | $second: "$d" | $sigmoid: "$x" | $sin: "$x" | $sinh: 0.5 | $sqrt: 2.5 | $subtract: ["$v", 1] | $tan: "$x" | $tanh: "$x"
	$toBool: "$v" | $toDate: "$d" | $toDecimal: "$v" | $toDouble: "$v" | $toHashedIndexKey: "$v" | $toInt: "$v" | $toLong: "$v"
	$toObjectId: "0123456789abcdef01234567" | $toString: "$v" | $toUUID: "01234567-89ab-cdef-0123-456789abcdef" | $trunc: ["$x", 1]
	$tsIncrement: {$literal: {$timestamp: {t: 1, i: 2}}} | $tsSecond: {$literal: {$timestamp: {t: 1, i: 2}}} | $type: "$v" | $week: "$d" | $year: "$d"
	$strcasecmp: ["$s", "x"] | $let: {vars: {y: "$v"}, in: "$$y"} | $substrBytes: ["$s", 0, 2] | $substrCP: ["$s", 0, 2] | $substr: ["$s", 0, 2]
	$setField: {field: "y", input: "$$ROOT", value: 1} | $unsetField: {field: "v", input: "$$ROOT"}
	$size: {$objectToArray: "$$ROOT"} | $first: "$r" | $last: "$r" | $min: ["$v", 1] | $max: ["$v", 1] | $sum: ["$v", 1] | $avg: ["$v", 1]`

// longExpressions have n elements, arguments, branches, fields or characters.
const longExpressions = `
	$add: [<<"$v">>] | $add: [<<#i>>] | $allElementsTrue: ["$t"] | $and: [<<"$v">>] | $anyElementTrue: [{$map: {input: "$r", in: false}}]
	$arrayElemAt: ["$r", -1] | $size: {$map: {input: "$r", in: {$arrayElemAt: [["$v", "$x"], 0]}}} | $arrayToObject: "$e" | $arrayToObject: "$z"
	$avg: "$r" | $avg: [<<"$x">>] | $binarySize: "$s" | $bitAnd: [<<"$v">>] | $bitOr: [<<"$v">>] | $bitXor: [<<"$v">>] | $bsonSize: "$$ROOT"
	$cmp: ["$r", "$q"] | $concat: [<<"a#i">>] | $concat: [<<"$$ROOT.a">>] | $concatArrays: [<<["$v"]>>] | $concatArrays: ["$r", "$q"]
	$convert: {input: "$s", to: "bool"} | $dateFromString: {dateString: "$s", onError: 1} | $eq: ["$r", "$q"] | $eq: ["$r", "$r"]
	$filter: {input: "$r", cond: {$gt: ["$$this", 3]}} | $filter: {input: "$g", as: "g", cond: {$eq: ["$$g.a", 3]}} | $firstN: {n: #h, input: "$r"}
	$getField: {field: "f#h", input: "$o"} | $gt: ["$q", "$r"] | $gte: ["$r", "$r"] | $ifNull: [<<"$missing#i">>]
	$in: [-1, "$r"] | $in: ["$v", [<<#i>>]] | $in: ["$missing", [<<"$f#i">>]] | $indexOfArray: ["$r", -1] | $indexOfArray: [[<<#i>>], -1]
	$indexOfBytes: ["$s", "zz"] | $indexOfBytes: ["$s", {$concat: [{$substrBytes: ["$s", 0, #n]}, "z"]}] | $indexOfCP: ["$s", "zz"] | $indexOfCP: ["$s", {$concat: [{$substrCP: ["$s", 0, #n]}, "z"]}]
	$lastN: {n: #h, input: "$r"} | $let: {vars: {<<y#i: "$v">>}, in: "$$y0"} | $literal: [<<#i>>] | $lt: ["$r", "$q"] | $lte: ["$r", "$r"] | $ne: ["$r", "$q"]
	$ltrim: {input: "$s"} | $ltrim: {input: "$s", chars: "ab "} | $rtrim: {input: "$s", chars: "ab "} | $trim: {input: "$s", chars: "ab "} | $trim: {input: "abc", chars: "$s"} | $map: {input: "$r", in: {$add: ["$$this", 1]}}
	$map: {input: "$g", as: "g", in: "$$g.k"} | $max: "$r" | $max: [<<"$x">>] | $maxN: {n: #h, input: "$r"} | $maxN: {n: #h, input: "$q"} | $maxN: {n: 3, input: "$r"}
	$minN: {n: #h, input: "$r"} | $minN: {n: #h, input: "$q"} | $median: {input: "$r", method: "approximate"} | $median: {input: "$q", method: "approximate"}
	$percentile: {input: "$r", p: [0.5], method: "approximate"} | $percentile: {input: "$r", p: [<<0.5>>], method: "approximate"}
	$mergeObjects: ["$o", "$o"] | $mergeObjects: [<<{f#i: 1}>>] | $mergeObjects: "$g" | $mergeObjects: {$map: {input: "$g", in: {$arrayToObject: [[{k: {$toString: "$$this.a"}, v: 1}]]}}} | $min: "$r" | $min: [<<"$x">>]
	$multiply: [<<"$x">>] | $not: [["$r"]] | $objectToArray: "$o" | $or: [<<"$missing">>]
	$range: [0, #n] | $range: [#n, 0, -1] | $size: {$reduce: {input: "$r", initialValue: [], in: ["$$this"]}}
	$reduce: {input: "$r", initialValue: 0, in: {$add: ["$$value", "$$this"]}} | $reduce: {input: "$w", initialValue: "", in: {$concat: ["$$value", "$$this"]}}
	$reduce: {input: "$r", initialValue: [], in: {$concatArrays: ["$$value", ["$$this"]]}} | $reduce: {input: "$r", initialValue: [], in: {$setUnion: ["$$value", ["$$this"]]}}
	$reduce: {input: "$g", initialValue: {}, in: {$mergeObjects: ["$$value", "$$this"]}} | $regexFind: {input: "$s", regex: "zz$"} | $regexFindAll: {input: "$s", regex: "ab"}
	$regexFindAll: {input: "$s", regex: ""} | $regexMatch: {input: "$s", regex: "zz$"} | $replaceAll: {input: "$s", find: "ab", replacement: "xyz"} | $replaceOne: {input: "$s", find: "zz", replacement: "a"}
	$replaceAll: {input: "$s", find: "zz", replacement: "a"} | $reverseArray: "$r" | $round: [1.5, 0]
	$setDifference: ["$r", "$q"] | $setDifference: ["$r", "$w"] | $setDifference: ["$g", "$r"] | $setEquals: ["$r", "$q"] | $setEquals: [<<"$t2">>] | $setIntersection: ["$r", "$q"] | $setIntersection: [<<[1]>>]
	$setIsSubset: ["$r", "$q"] | $setIsSubset: ["$r", [<<#i>>]] | $setUnion: ["$r", "$q"] | $setUnion: [<<[#i]>>] | $setUnion: ["$w", "$r"] | $setUnion: ["$g", "$g"]
	$setField: {field: "y", input: "$o", value: 1} | $unsetField: {field: "f#h", input: "$o"} | $slice: ["$r", -#h] | $slice: ["$r", #h, 3] | $size: "$r"
	$sortArray: {input: "$q", sortBy: 1} | $sortArray: {input: "$r", sortBy: 1} | $sortArray: {input: "$g", sortBy: {a: -1}} | $sortArray: {input: "$t", sortBy: 1} | $split: ["$s", " "] | $split: ["$s", "zz"]
	$stdDevPop: "$r" | $stdDevSamp: "$r" | $stdDevPop: [<<"$x">>] | $stdDevSamp: [<<"$x">>] | $strLenBytes: "$s" | $strLenCP: "$s" | $strcasecmp: ["$s", "$s"]
	$substr: ["$s", #n, #n] | $substrBytes: ["$s", #n, #n] | $substrCP: ["$s", #n, #n] | $sum: "$r" | $sum: [<<"$x">>] | $sum: "$g.a"
	$switch: {branches: [<<{case: {$eq: ["$v", -#i]}, then: #i}>>], default: 0} | $toHashedIndexKey: "$s" | $toHashedIndexKey: "$r" | $toLower: "$s" | $toUpper: "$s" | $toString: "$s" | $toBool: "$s"
	$type: "$r" | $zip: {inputs: ["$r", "$q"]} | $zip: {inputs: [<<"$t2">>]} | $zip: {inputs: ["$r", "$t2"], useLongestLength: true} | $isArray: "$r"
	$function: {body: "function(a) { return a.length }", args: ["$r"], lang: "js"} | $function: {body: "function() { return arguments.length }", args: [<<"$v">>], lang: "js"} | $cond: [{$eq: ["$r", "$q"]}, "$r", "$q"]
	$first: "$r" | $last: "$r" | $concat: ["$s", "$s"] | $size: {$setUnion: {$map: {input: "$r", in: {$range: [0, 3]}}}} | $map: {input: "$g", in: {$mergeObjects: ["$$this", {y: 1}]}} | $map: {input: "$g", in: {$setField: {field: "y", input: "$$this", value: 1}}}
	$map: {input: "$g", in: {$unsetField: {field: "k", input: "$$this"}}} | $map: {input: "$g", in: {$objectToArray: "$$this"}} | $filter: {input: "$r", cond: true, limit: #h}`

func expressionCases() (list []growth) {
	for _, spec := range specs(scalarExpressions) {
		name, _, _ := strings.Cut(spec, ":")
		if name == "$function" {
			spec = `$function: {body: "function() { return 1 }", args: [], lang: "js"}`
		}
		list = append(list,
			growth{name: name + " documents", run: `{aggregate: "docs", pipeline: [{$project: {_id: 0, y: {` + spec + `}}}], cursor: {batchSize: 1000000}}`},
			growth{name: name + " fields", run: `{aggregate: "small", pipeline: [{$project: {_id: 0, <<y#i: {` + spec + `}>>}}], cursor: {}}`})
	}
	for _, spec := range specs(longExpressions) {
		name, _, _ := strings.Cut(spec, ":")
		list = append(list, growth{name: name + " " + spec[len(name)+2:], run: `{aggregate: "one", pipeline: [{$project: {_id: 0, y: {` + spec + `}}}], cursor: {}}`})
	}
	return list
}

// specs splits a list of specifications.
func specs(text string) (list []string) {
	for line := range strings.Lines(text) {
		for spec := range strings.SplitSeq(line, " | ") {
			if spec = strings.TrimSpace(spec); spec != "" {
				list = append(list, spec)
			}
		}
	}
	return list
}
