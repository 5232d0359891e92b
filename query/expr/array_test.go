package expr

import "testing"

const arraysDoc = `{a: [1, 2, 3], e: [], n: null, s: 'x', o: {k: 1}, docs: [{q: 3, w: 'c'}, {q: 1, w: 'a'}, {w: 'b'}], nest: [[1, 2], [3]], mix: [3, 'a', null, {b: 1}, [0], true]}`

func TestArrayAccess(t *testing.T) {
	checkResults(t, arraysDoc, []result{
		{`{$arrayElemAt: ['$a', 0]}`, `1`}, {`{$arrayElemAt: ['$a', -1]}`, `3`}, {`{$arrayElemAt: ['$a', 15]}`, `missing`},
		{`{$arrayElemAt: ['$a', -4]}`, `missing`}, {`{$arrayElemAt: ['$n', 0]}`, `null`}, {`{$arrayElemAt: ['$a', 1.0]}`, `2`},
		{`{$first: '$a'}`, `1`}, {`{$last: '$a'}`, `3`}, {`{$first: '$e'}`, `missing`}, {`{$last: '$missing'}`, `null`}, {`{$first: '$nest'}`, `[1, 2]`},
		{`{$slice: ['$a', 2]}`, `[1, 2]`}, {`{$slice: ['$a', -2]}`, `[2, 3]`}, {`{$slice: ['$a', 1, 1]}`, `[2]`}, {`{$slice: ['$a', -2, 1]}`, `[2]`},
		{`{$slice: ['$a', 15, 2]}`, `[]`}, {`{$slice: ['$a', -15, 2]}`, `[1, 2]`}, {`{$slice: ['$n', 2]}`, `null`}, {`{$slice: ['$a', 0]}`, `[]`},
		{`{$size: '$a'}`, `3`}, {`{$isArray: ['$a']}`, `true`}, {`{$isArray: '$s'}`, `false`}, {`{$isArray: [[1]]}`, `true`},
		{`{$in: [2, '$a']}`, `true`}, {`{$in: [2.0, '$a']}`, `true`}, {`{$in: ['x', '$a']}`, `false`}, {`{$in: ['$n', '$mix']}`, `true`},
		{`{$indexOfArray: ['$a', 2]}`, `1`}, {`{$indexOfArray: ['$a', 9]}`, `-1`}, {`{$indexOfArray: ['$a', 1, 1]}`, `-1`},
		{`{$indexOfArray: ['$a', 3, 0, 2]}`, `-1`}, {`{$indexOfArray: ['$n', 1]}`, `null`}, {`{$indexOfArray: ['$a', 3, 2, 1]}`, `-1`},
	})
	checkFailures(t, arraysDoc, []failure{
		{`{$arrayElemAt: ['$s', 0]}`, 28689, "$arrayElemAt's first argument must be an array, but is string"},
		{`{$arrayElemAt: ['$a', '$s']}`, 28690, "$arrayElemAt's second argument must be a numeric value, but is string"},
		{`{$arrayElemAt: ['$a', 1.5]}`, 28691, "$arrayElemAt's second argument must be representable as a 32-bit integer: 1.5"},
		{`{$first: '$s'}`, 28689, "$first's argument must be an array, but is string"},
		{`{$slice: ['$s', 1]}`, 28724, "First argument to $slice must be an array, but is of type: string"},
		{`{$slice: ['$a', 'b']}`, 28725, "Second argument to $slice must be a numeric value, but is of type: string"},
		{`{$slice: ['$a', 1.5]}`, 28726, "Second argument to $slice can't be represented as a 32-bit integer: 1.5"},
		{`{$slice: ['$a', 1, 0]}`, 28729, "Third argument to $slice must be positive: 0"},
		{`{$size: '$s'}`, 17124, "The argument to $size must be an array, but was of type: string"},
		{`{$size: '$missing'}`, 17124, "The argument to $size must be an array, but was of type: missing"},
		{`{$in: [1, '$s']}`, 40081, "$in requires an array as a second argument, found: string"},
		{`{$indexOfArray: ['$s', 1]}`, 40090, "$indexOfArray requires an array as a first argument, found: string"},
		{`{$indexOfArray: ['$a', 1, -1]}`, 40097, "$indexOfArray requires a nonnegative starting index, found: -1"},
		{`{$indexOfArray: ['$a', 1, 'b']}`, 40096, ""},
	})
}

func TestArrayBuilding(t *testing.T) {
	checkResults(t, arraysDoc, []result{
		{`{$concatArrays: ['$a', [4], '$e']}`, `[1, 2, 3, 4]`}, {`{$concatArrays: []}`, `[]`}, {`{$concatArrays: ['$a', '$n']}`, `null`},
		{`{$reverseArray: '$a'}`, `[3, 2, 1]`}, {`{$reverseArray: '$n'}`, `null`}, {`{$reverseArray: '$nest'}`, `[[3], [1, 2]]`},
		{`{$range: [0, 10, 2]}`, `[0, 2, 4, 6, 8]`}, {`{$range: [10, 0, -2]}`, `[10, 8, 6, 4, 2]`}, {`{$range: [0, 10, -2]}`, `[]`}, {`{$range: [0, 5]}`, `[0, 1, 2, 3, 4]`},
		{`{$zip: {inputs: [[1, 2, 3], ['a', 'b']]}}`, `[[1, 'a'], [2, 'b']]`},
		{`{$zip: {inputs: [[1], [2, 3]], useLongestLength: true}}`, `[[1, 2], [null, 3]]`},
		{`{$zip: {inputs: [[1], [2, 3]], useLongestLength: true, defaults: ['d', 'e']}}`, `[[1, 2], ['d', 3]]`},
		{`{$zip: {inputs: ['$a', '$n']}}`, `null`},
		{`{$arrayToObject: [[['a', 1], ['b', 2], ['a', 3]]]}`, `{a: 3, b: 2}`}, {`{$arrayToObject: '$n'}`, `null`},
		{`{$arrayToObject: {$literal: [{k: 'x', v: 1}]}}`, `{x: 1}`}, {`{$arrayToObject: '$e'}`, `{}`},
		{`{$objectToArray: '$o'}`, `[{k: 'k', v: 1}]`}, {`{$objectToArray: '$missing'}`, `null`},
	})
	checkFailures(t, arraysDoc, []failure{
		{`{$concatArrays: ['$a', 1]}`, 28664, "$concatArrays only supports arrays, not int"},
		{`{$reverseArray: 1}`, 34435, "The argument to $reverseArray must be an array, but was of type: int"},
		{`{$range: ['a', 1]}`, 34443, "$range requires a numeric starting value, found value of type: string"},
		{`{$range: [1.5, 1]}`, 34444, "$range requires a starting value that can be represented as a 32-bit integer, found value: 1.5"},
		{`{$range: [1, 'a']}`, 34445, ""}, {`{$range: [1, 2, 'a']}`, 34447, "$range requires a numeric step value, found value of type:string"},
		{`{$range: [1, 2, 0]}`, 34449, "$range requires a non-zero step value"},
		{`{$range: [0, 2147483647]}`, 146, ""},
		{`{$zip: 1}`, 34460, "$zip only supports an object as an argument, found int"},
		{`{$zip: {inputs: []}}`, 34465, "$zip requires at least one input array"},
		{`{$zip: {inputs: [[1]], defaults: [1]}}`, 34466, "cannot specify defaults unless useLongestLength is true"},
		{`{$zip: {inputs: [1]}}`, 34468, "$zip found a non-array expression in input: 1"},
		{`{$arrayToObject: 1}`, 40386, "$arrayToObject requires an array input, found: int"},
		{`{$arrayToObject: [[1]]}`, 40398, "Unrecognised input type format for $arrayToObject: int"},
		{`{$arrayToObject: [[['a']]]}`, 40397, "$arrayToObject requires an array of size 2 arrays,found array of size: 1"},
		{`{$objectToArray: 1}`, 40390, "$objectToArray requires a document input, found: int"},
	})
}

func TestLambdas(t *testing.T) {
	checkResults(t, arraysDoc, []result{
		{`{$map: {input: '$a', as: 'x', in: {$add: ['$$x', 1]}}}`, `[2, 3, 4]`},
		{`{$map: {input: '$a', in: '$$this'}}`, `[1, 2, 3]`},
		{`{$map: {input: '$docs', in: '$$this.q'}}`, `[3, 1, null]`},
		{`{$map: {input: '$n', in: 1}}`, `null`},
		{`{$map: {input: '$nest', as: 'outer', in: {$map: {input: '$$outer', as: 'x', in: {$multiply: ['$$x', {$size: '$$outer'}]}}}}}`, `[[2, 4], [3]]`},
		{`{$filter: {input: '$a', as: 'x', cond: {$gte: ['$$x', 2]}}}`, `[2, 3]`},
		{`{$filter: {input: '$a', cond: true, limit: 2}}`, `[1, 2]`}, {`{$filter: {input: '$a', cond: true, limit: '$n'}}`, `[1, 2, 3]`},
		{`{$filter: {input: '$missing', cond: true}}`, `null`},
		{`{$reduce: {input: '$a', initialValue: 0, in: {$add: ['$$value', '$$this']}}}`, `6`},
		{`{$reduce: {input: '$nest', initialValue: [], in: {$concatArrays: ['$$value', '$$this']}}}`, `[1, 2, 3]`},
		{`{$reduce: {input: '$n', initialValue: 0, in: 1}}`, `null`}, {`{$reduce: {input: '$e', initialValue: 7, in: 1}}`, `7`},
		{`{$let: {vars: {x: 2, y: {$size: '$a'}}, in: {$multiply: ['$$x', '$$y']}}}`, `6`},
		{`{$let: {vars: {x: 1}, in: {$let: {vars: {x: 2, y: '$$x'}, in: ['$$x', '$$y']}}}}`, `[2, 1]`},
		{`{$let: {vars: {CURRENT: '$o'}, in: '$k'}}`, `1`},
		{`{$let: {vars: {CURRENT: '$o'}, in: '$$ROOT.s'}}`, `'x'`},
	})
	checkFailures(t, arraysDoc, []failure{
		{`{$map: 1}`, 16878, "$map only supports an object as its argument"},
		{`{$map: {input: '$s', in: 1}}`, 16883, "input to $map must be an array not string"},
		{`{$map: {in: 1}}`, 16880, "Missing 'input' parameter to $map"}, {`{$map: {input: []}}`, 16882, ""}, {`{$map: {input: [], z: 1}}`, 16879, "Unrecognized parameter to $map: z"},
		{`{$filter: {input: 1, cond: 1}}`, 28651, "input to $filter must be an array not int"},
		{`{$filter: {input: [], as: 'X', cond: 1}}`, 9, "'X' starts with an invalid character for a user variable name"},
		{`{$filter: {input: '$a', cond: 1, limit: 0}}`, 327392, "$filter: limit must be greater than 0: 0"},
		{`{$filter: {input: '$a', cond: 1, limit: 'b'}}`, 327391, ""},
		{`{$reduce: {input: 1, initialValue: 0, in: 1}}`, 40080, "$reduce requires that 'input' be an array, found: 1"},
		{`{$reduce: {input: [], in: 1}}`, 40078, "$reduce requires 'initialValue' to be specified"},
		{`{$let: {in: 1}}`, 16876, "Missing 'vars' parameter to $let"}, {`{$let: {vars: {}}}`, 16877, ""}, {`{$let: 1}`, 16874, ""},
		{`{$let: {vars: {x: 1}, in: '$$y'}}`, 17276, "Use of undefined variable: y"},
	})
}

func TestSortArrayAndN(t *testing.T) {
	checkResults(t, arraysDoc, []result{
		{`{$sortArray: {input: '$docs', sortBy: {q: 1}}}`, `[{w: 'b'}, {q: 1, w: 'a'}, {q: 3, w: 'c'}]`},
		{`{$sortArray: {input: '$docs', sortBy: {w: -1}}}`, `[{q: 3, w: 'c'}, {w: 'b'}, {q: 1, w: 'a'}]`},
		{`{$sortArray: {input: '$mix', sortBy: 1}}`, `[null, 3, 'a', {b: 1}, [0], true]`},
		{`{$sortArray: {input: [1, 4, 1, 6], sortBy: -1}}`, `[6, 4, 1, 1]`}, {`{$sortArray: {input: '$n', sortBy: 1}}`, `null`},
		{`{$firstN: {n: 2, input: '$a'}}`, `[1, 2]`}, {`{$lastN: {n: 2, input: '$a'}}`, `[2, 3]`}, {`{$lastN: {n: 9, input: '$a'}}`, `[1, 2, 3]`},
		{`{$minN: {n: 2, input: [3, null, 1, 2]}}`, `[1, 2]`}, {`{$maxN: {n: 2, input: [3, null, 1, 2]}}`, `[3, 2]`}, {`{$firstN: {n: 2, input: [null, 1]}}`, `[null, 1]`},
	})
	checkFailures(t, arraysDoc, []failure{
		{`{$sortArray: {input: 1, sortBy: 1}}`, 2942504, "The input argument to $sortArray must be an array, but was of type: int"},
		{`{$sortArray: {input: []}}`, 2942503, "$sortArray requires 'sortBy' to be specified"}, {`{$sortArray: {input: [], sortBy: 2}}`, 2942506, ""},
		{`{$firstN: {input: []}}`, 5787906, "Missing value for 'n'"}, {`{$firstN: {n: 1}}`, 5787907, "Missing value for 'input'"},
		{`{$firstN: {n: 0, input: []}}`, 5787908, "'n' must be greater than 0, found 0"},
		{`{$firstN: {n: 'a', input: []}}`, 5787902, `Value for 'n' must be of integral type, but found "a"`},
		{`{$firstN: {n: 1.5, input: []}}`, 5787903, ""}, {`{$firstN: {n: 1, input: '$s'}}`, 5788200, "Input must be an array"},
		{`{$firstN: {n: 1, input: [], z: 1}}`, 5787901, "Unknown argument for 'n' operator: z"},
	})
}

func TestSets(t *testing.T) {
	checkResults(t, arraysDoc, []result{
		{`{$setUnion: ['$a', [3, 4, 1]]}`, `[1, 2, 3, 4]`}, {`{$setUnion: [[2, 1], [2.0]]}`, `[1, 2]`}, {`{$setUnion: ['$a', '$n']}`, `null`},
		{`{$setIntersection: ['$a', [3, 2, 2]]}`, `[2, 3]`}, {`{$setIntersection: []}`, `[]`}, {`{$setIntersection: ['$nest', [[3]]]}`, `[[3]]`},
		{`{$setDifference: [[3, 1, 3, 2], [1]]}`, `[3, 2]`}, {`{$setDifference: ['$n', [1]]}`, `null`},
		{`{$setEquals: ['$a', [3, 2, 1, 1]]}`, `true`}, {`{$setEquals: ['$a', [3], [1]]}`, `false`},
		{`{$setIsSubset: [[1, 1], '$a']}`, `true`}, {`{$setIsSubset: [[9], '$a']}`, `false`},
		{`{$allElementsTrue: [[1, true]]}`, `true`}, {`{$allElementsTrue: [[1, null]]}`, `false`}, {`{$anyElementTrue: [[0, 'a']]}`, `true`}, {`{$anyElementTrue: ['$e']}`, `false`},
	})
	checkFailures(t, arraysDoc, []failure{
		{`{$setUnion: ['$a', 1]}`, 17043, "All operands of $setUnion must be arrays. One argument is of type: int"},
		{`{$setIntersection: ['$a', 1]}`, 17047, "All operands of $setIntersection must be arrays. One argument is of type: int"},
		{`{$setDifference: [1, '$a']}`, 17048, "both operands of $setDifference must be arrays. First argument is of type: int"},
		{`{$setEquals: ['$a']}`, 17045, ""}, {`{$setEquals: ['$a', '$n']}`, 17044, ""}, {`{$setEquals: ['$a', 1]}`, 5887502, "All operands of $setEquals must be arrays. 2-th argument is of type: int"},
		{`{$setIsSubset: ['$a', 1]}`, 17042, ""}, {`{$allElementsTrue: ['$s']}`, 17040, "$allElementsTrue's argument must be an array, but is string"},
	})
}
