package expr

import "testing"

// The operators of one argument, each with a value, null or a missing field,
// and a wrong type.
func TestOperatorsOfOneArgument(t *testing.T) {
	checkResults(t, `{d: date('2017-01-01T12:34:56.789Z'), e: date('2016-12-31T00:00:00Z'), n: null}`, []result{
		{`{$dayOfMonth: '$d'}`, `1`}, {`{$dayOfMonth: {date: '$e'}}`, `31`}, {`{$dayOfMonth: '$n'}`, `null`}, {`{$dayOfMonth: '$missing'}`, `null`},
		{`{$dayOfWeek: '$d'}`, `1`}, {`{$dayOfWeek: '$e'}`, `7`}, {`{$dayOfWeek: '$n'}`, `null`},
		{`{$dayOfYear: '$d'}`, `1`}, {`{$dayOfYear: '$e'}`, `366`}, {`{$dayOfYear: '$missing'}`, `null`},
		{`{$isoDayOfWeek: '$d'}`, `7`}, {`{$isoDayOfWeek: '$e'}`, `6`}, {`{$isoDayOfWeek: '$n'}`, `null`},
		{`{$isoWeek: '$d'}`, `52`}, {`{$isoWeek: {date: '$e', timezone: '+12:00'}}`, `52`}, {`{$isoWeek: '$n'}`, `null`},
		{`{$isoWeekYear: '$d'}`, `long(2016)`}, {`{$isoWeekYear: '$e'}`, `long(2016)`}, {`{$isoWeekYear: '$n'}`, `null`},
		{`{$week: '$d'}`, `1`}, {`{$week: '$e'}`, `52`}, {`{$week: '$n'}`, `null`},
		{`{$month: '$d'}`, `1`}, {`{$month: '$e'}`, `12`}, {`{$month: {date: '$e', timezone: '$n'}}`, `null`},
		{`{$minute: '$d'}`, `34`}, {`{$minute: {date: '$d', timezone: '+05:30'}}`, `4`}, {`{$minute: '$n'}`, `null`},
		{`{$second: '$d'}`, `56`}, {`{$second: '$e'}`, `0`}, {`{$second: '$missing'}`, `null`},
		{`{$millisecond: '$d'}`, `789`}, {`{$millisecond: '$e'}`, `0`}, {`{$millisecond: '$n'}`, `null`},
		{`{$asin: 0}`, `0.0`}, {`{$asin: '$n'}`, `null`}, {`{$asinh: 0}`, `0.0`}, {`{$asinh: '$n'}`, `null`}, {`{$cosh: 0}`, `1.0`}, {`{$cosh: '$n'}`, `null`},
		{`{$sinh: 0}`, `0.0`}, {`{$sinh: '$missing'}`, `null`}, {`{$tanh: 0}`, `0.0`}, {`{$tanh: '$n'}`, `null`},
		{`{$degreesToRadians: 0}`, `0.0`}, {`{$degreesToRadians: '$n'}`, `null`}, {`{$radiansToDegrees: 0}`, `0.0`}, {`{$radiansToDegrees: '$n'}`, `null`},
		{`{$anyElementTrue: [[true, false]]}`, `true`}, {`{$anyElementTrue: [[null, 0]]}`, `false`}, {`{$anyElementTrue: [[]]}`, `false`},
		{`{$last: [[1, 2, 3]]}`, `3`}, {`{$last: '$n'}`, `null`}, {`{$last: '$missing'}`, `null`},
		{`{$ltrim: {input: '  a '}}`, `'a '`}, {`{$ltrim: {input: '$n'}}`, `null`}, {`{$rtrim: {input: ' a  '}}`, `' a'`}, {`{$rtrim: {input: 'axx', chars: 'x'}}`, `'a'`}, {`{$rtrim: {input: '$n'}}`, `null`},
		{`{$toUpper: 'ab'}`, `'AB'`}, {`{$toUpper: '$n'}`, `''`}, {`{$toUpper: '$missing'}`, `''`}, {`{$strLenCP: 'éa'}`, `2`}, {`{$strLenCP: ''}`, `0`},
		{`{$stdDevSamp: [[1, 2, 3]]}`, `1.0`}, {`{$stdDevSamp: [[1]]}`, `null`}, {`{$const: 5}`, `5`}, {`{$const: '$n'}`, `'$n'`}, {`{$const: {a: 1}}`, `{a: 1}`},
		{`{$gte: [{$rand: {}}, 0]}`, `true`}, {`{$lt: [{$rand: {}}, 1]}`, `true`},
	})
	checkFailures(t, `{}`, []failure{
		{`{$dayOfMonth: 'x'}`, 16006, "can't convert from BSON type string to Date"}, {`{$dayOfWeek: 5}`, 16006, ""}, {`{$dayOfYear: 'x'}`, 16006, ""}, {`{$isoDayOfWeek: true}`, 16006, ""},
		{`{$isoWeek: 'x'}`, 16006, ""}, {`{$isoWeekYear: 'x'}`, 16006, ""}, {`{$week: 1.5}`, 16006, ""}, {`{$month: {$literal: {a: 1}}}`, 16006, ""}, {`{$minute: 'x'}`, 16006, ""}, {`{$second: 'x'}`, 16006, ""}, {`{$millisecond: 'x'}`, 16006, ""},
		{`{$asin: 1.5}`, 50989, "cannot apply $asin to 1.5, value must be in [-1,1]"}, {`{$asin: 'x'}`, 28765, "$asin only supports numeric types, not string"}, {`{$asinh: 'x'}`, 28765, ""}, {`{$atan: 'x'}`, 28765, ""}, {`{$atanh: 2}`, 50989, ""}, {`{$cos: 'x'}`, 28765, ""},
		{`{$cosh: 'x'}`, 28765, ""}, {`{$sinh: true}`, 28765, ""}, {`{$tanh: 'x'}`, 28765, ""}, {`{$ceil: 'x'}`, 28765, "$ceil only supports numeric types, not string"}, {`{$floor: 'x'}`, 28765, ""}, {`{$degreesToRadians: 'x'}`, 28765, ""}, {`{$radiansToDegrees: 'x'}`, 28765, ""},
		{`{$anyElementTrue: [1]}`, 17041, "$anyElementTrue's argument must be an array, but is int"}, {`{$last: 'x'}`, 28689, ""}, {`{$ltrim: {input: 1}}`, 50699, ""}, {`{$rtrim: {input: 'a', chars: 1}}`, 50700, ""}, {`{$ltrim: {inputs: 'a'}}`, 50694, ""},
		{`{$toUpper: {$literal: {a: 1}}}`, 16007, "can't convert from BSON type object to String"}, {`{$strcasecmp: ['a', [1]]}`, 16007, ""}, {`{$strLenCP: 5}`, 34471, ""}, {`{$toBool: [1, 2]}`, 50723, "$toBool requires a single argument, got 2"},
	})
}

// Operators of several arguments of which the other tables have few cases.
func TestOperatorsOfSeveralArguments(t *testing.T) {
	checkResults(t, `{n: null, a: [3, null, 1, 2]}`, []result{
		{`{$bitOr: [3, 5]}`, `7`}, {`{$bitOr: [3, long(8)]}`, `long(11)`}, {`{$bitOr: []}`, `0`}, {`{$bitOr: [1, '$n']}`, `null`},
		{`{$bitXor: [3, 5]}`, `6`}, {`{$bitXor: [3, '$missing']}`, `null`}, {`{$bitXor: []}`, `0`},
		{`{$gt: [2, 1]}`, `true`}, {`{$gt: ['$n', 1]}`, `false`}, {`{$gt: ['a', 1]}`, `true`}, {`{$gte: [1, 1]}`, `true`}, {`{$gte: ['$missing', '$n']}`, `false`},
		{`{$lt: [1, 2]}`, `true`}, {`{$lt: ['$missing', '$n']}`, `true`}, {`{$lte: [1, 1]}`, `true`}, {`{$lte: ['b', 'a']}`, `false`}, {`{$ne: [1, 2]}`, `true`}, {`{$ne: ['$n', '$missing']}`, `true`},
		{`{$lastN: {n: 2, input: [1, 2, 3]}}`, `[2, 3]`}, {`{$lastN: {n: 5, input: [1]}}`, `[1]`}, {`{$maxN: {n: 2, input: '$a'}}`, `[3, 2]`}, {`{$maxN: {n: 1, input: []}}`, `[]`}, {`{$minN: {n: 2, input: '$a'}}`, `[1, 2]`}, {`{$minN: {n: 9, input: '$a'}}`, `[1, 2, 3]`},
		{`{$tsIncrement: ts(5,7)}`, `long(7)`}, {`{$tsIncrement: '$n'}`, `null`}, {`{$ifNull: [{$meta: 'textScore'}, 'none']}`, `'none'`},
	})
	checkFailures(t, `{}`, []failure{
		{`{$bitOr: [1.5, 1]}`, 14, "$bitOr only supports int and long operands."}, {`{$bitXor: ['x']}`, 14, ""}, {`{$gt: [1]}`, 16020, "Expression $gt takes exactly 2 arguments. 1 were passed in."}, {`{$gte: 1}`, 16020, ""}, {`{$lt: [1, 2, 3]}`, 16020, ""}, {`{$lte: []}`, 16020, ""}, {`{$ne: [1]}`, 16020, ""},
		{`{$lastN: {n: 1, input: 5}}`, 5788200, ""}, {`{$lastN: {n: 0, input: []}}`, 5787908, ""}, {`{$maxN: {n: 'x', input: []}}`, 5787902, ""}, {`{$minN: {n: 1, input: null}}`, 5788200, ""}, {`{$minN: {n: 1.5, input: []}}`, 5787903, ""},
		{`{$regexFindAll: {input: 5, regex: 'a'}}`, 51104, ""}, {`{$regexFindAll: {input: 'a', regex: 5}}`, 51105, ""}, {`{$tsIncrement: 5}`, 5687302, ""}, {`{$meta: 'nothing'}`, 17308, ""},
		{`{$function: {body: 'f', args: [], lang: 'js'}}`, 31264, ""}, {`{$function: {body: 'f', args: ['$a'], lang: 'js'}}`, 31264, ""}, {`{$function: 1}`, 31260, ""},
	})
}
