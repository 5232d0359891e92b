package expr

import "testing"

const convertDoc = `{n: null, s: '12', d: 2.5, m: dec('3.9'), t: date('2018-03-26T04:38:28.044Z'), id: oid('5ab9c3da31c2ab715d421285'), b: bin(04,'EjRWeBI0EjQSNBI0VniQEg=='), raw: bin(00,'aGVsbG8=')}`

func TestConvert(t *testing.T) {
	checkResults(t, convertDoc, []result{
		{`{$toInt: 5.99}`, `5`}, {`{$toInt: '-2'}`, `-2`}, {`{$toInt: true}`, `1`}, {`{$toInt: '$m'}`, `3`}, {`{$toInt: long(7)}`, `7`}, {`{$toInt: '$n'}`, `null`}, {`{$toInt: ['$s']}`, `12`},
		{`{$toLong: 1.9e9}`, `long(1900000000)`}, {`{$toLong: '$t'}`, `long(1522039108044)`}, {`{$toLong: false}`, `long(0)`}, {`{$toLong: '-9223372036854775808'}`, `long(-9223372036854775808)`},
		{`{$toDouble: '-5.5'}`, `-5.5`}, {`{$toDouble: true}`, `1.0`}, {`{$toDouble: dec('10')}`, `10.0`}, {`{$toDouble: '$t'}`, `1.522039108044e12`}, {`{$toDouble: '1e3'}`, `1000.0`},
		{`{$toDecimal: 2.5}`, `dec('2.50000000000000')`}, {`{$toDecimal: '-5.5'}`, `dec('-5.5')`}, {`{$toDecimal: 10}`, `dec('10')`}, {`{$toDecimal: true}`, `dec('1')`}, {`{$toDecimal: '$t'}`, `dec('1522039108044')`},
		{`{$toBool: 0}`, `false`}, {`{$toBool: 'false'}`, `true`}, {`{$toBool: ''}`, `true`}, {`{$toBool: '$t'}`, `true`}, {`{$toBool: [[]]}`, `true`}, {`{$toBool: dec('0')}`, `false`}, {`{$toBool: '$n'}`, `null`},
		{`{$toString: 2.5}`, `'2.5'`}, {`{$toString: 3.0}`, `'3'`}, {`{$toString: 1e20}`, `'1e+20'`}, {`{$toString: true}`, `'true'`}, {`{$toString: '$t'}`, `'2018-03-26T04:38:28.044Z'`}, {`{$toString: '$id'}`, `'5ab9c3da31c2ab715d421285'`}, {`{$toString: '$m'}`, `'3.9'`}, {`{$toString: long(-7)}`, `'-7'`},
		{`{$toString: '$b'}`, `'12345678-1234-1234-1234-123456789012'`}, {`{$toString: '$raw'}`, `'aGVsbG8='`}, {`{$toUUID: '12345678-1234-1234-1234-123456789012'}`, `bin(04,'EjRWeBI0EjQSNBI0VniQEg==')`},
		{`{$toDate: 120000000000.5}`, `date('1973-10-20T21:20:00Z')`}, {`{$toDate: '2018-03-20'}`, `date('2018-03-20T00:00:00Z')`}, {`{$toDate: '$id'}`, `date('2018-03-27T04:08:58Z')`}, {`{$toDate: long(-1)}`, `ms(-1)`}, {`{$toDate: '2018-03-20 11:00:06 +0500'}`, `date('2018-03-20T06:00:06Z')`}, {`{$toDate: ts(10,1)}`, `date('1970-01-01T00:00:10Z')`},
		{`{$toObjectId: '5ab9cbfa31c2ab715d42129e'}`, `oid('5ab9cbfa31c2ab715d42129e')`},
		{`{$convert: {input: '$s', to: 'int'}}`, `12`}, {`{$convert: {input: '$s', to: 16}}`, `12`}, {`{$convert: {input: 'x', to: 'int', onError: 'bad'}}`, `'bad'`}, {`{$convert: {input: '$n', to: 'int', onNull: 0}}`, `0`}, {`{$convert: {input: 1, to: '$n'}}`, `null`},
		{`{$convert: {input: 'hello', to: 'binData', format: 'utf8'}}`, `bin(00,'aGVsbG8=')`}, {`{$convert: {input: 'aGVsbG8=', to: {type: 'binData', subtype: 128}, format: 'base64'}}`, `bin(80,'aGVsbG8=')`}, {`{$convert: {input: '68656C6C6F', to: 'binData', format: 'hex'}}`, `bin(00,'aGVsbG8=')`},
		{`{$convert: {input: '$raw', to: 'string', format: 'hex'}}`, `'68656C6C6F'`}, {`{$convert: {input: '$raw', to: 'string', format: 'utf8'}}`, `'hello'`}, {`{$convert: {input: '$raw', to: 'binData'}}`, `bin(00,'aGVsbG8=')`}, {`{$convert: {input: bin(00,'/+8='), to: 'string', format: 'base64url'}}`, `'_-8'`},
	})
	checkFailures(t, convertDoc, []failure{
		{`{$toInt: '1.5'}`, 241, `Failed to parse number '1.5' in $convert with no onError value: Did not consume whole string.`}, {`{$toInt: ''}`, 241, ""}, {`{$toInt: 'abc'}`, 241, ""}, {`{$toInt: '0x1F'}`, 241, "Illegal hexadecimal input in $convert with no onError value: 0x1F"},
		{`{$toInt: 2147483648.0}`, 241, "Conversion would overflow target type in $convert with no onError value: 2.14748e+09"}, {`{$toInt: long(2147483648)}`, 241, ""}, {`{$toInt: dbl('NaN')}`, 241, "Attempt to convert NaN value to integer type in $convert with no onError value"}, {`{$toLong: dbl('Infinity')}`, 241, "Attempt to convert infinity value to integer type in $convert with no onError value"},
		{`{$toLong: 9.3e18}`, 241, ""}, {`{$toLong: dec('1E+20')}`, 241, ""}, {`{$toDouble: dec('1E+400')}`, 241, ""}, {`{$toDate: 5}`, 241, "Unsupported conversion from int to date in $convert with no onError value"}, {`{$toInt: '$t'}`, 241, "Unsupported conversion from date to int in $convert with no onError value"},
		{`{$toObjectId: 'abc'}`, 241, "Failed to parse objectId 'abc' in $convert with no onError value: Invalid string length for parsing to OID, expected 24 but found 3"}, {`{$toString: [[1]]}`, 241, "Unsupported conversion from array to string in $convert with no onError value"}, {`{$toInt: [1, 2]}`, 50723, "$toInt requires a single argument, got 2"},
		{`{$convert: 1}`, 9, "$convert expects an object of named arguments but found: int"}, {`{$convert: {to: 'int'}}`, 9, "Missing 'input' parameter to $convert"}, {`{$convert: {input: 1}}`, 9, ""}, {`{$convert: {input: 1, to: 'int', z: 1}}`, 9, "$convert found an unknown argument: z"},
		{`{$convert: {input: 1, to: 'what'}}`, 2, "Unknown type name: what"}, {`{$convert: {input: 1, to: 50}}`, 9, "In $convert, numeric value for 'to' does not correspond to a BSON type: 50"}, {`{$convert: {input: 1, to: 1.5}}`, 9, ""}, {`{$convert: {input: 1, to: true}}`, 9, ""},
		{`{$convert: {input: 'a', to: 'binData'}}`, 4341115, "Format must be speficied when converting from 'string' to 'binData'"}, {`{$convert: {input: 'a', to: 'binData', format: 'what'}}`, 4341125, "Invalid 'format' argument for $convert: what"}, {`{$convert: {input: 'a', to: 'binData', format: 5}}`, 4341114, ""}, {`{$convert: {input: 'zz', to: 'binData', format: 'hex'}}`, 241, ""},
		{`{$convert: {input: 'a', to: {type: 'binData', subtype: 300}, format: 'utf8'}}`, 4341107, ""}, {`{$convert: {input: 'a', to: {type: 'binData', subtype: 'x'}, format: 'utf8'}}`, 4341108, ""}, {`{$convert: {input: 'a', to: {type: 'binData', subtype: 4}, format: 'utf8'}}`, 241, ""}, {`{$convert: {input: '$raw', to: 'int', byteOrder: 'big'}}`, 9, "$convert found an unknown argument: byteOrder"}, {`{$convert: {input: '7', to: 'int', base: 16}}`, 9, "$convert found an unknown argument: base"},
		{`{$convert: {input: '$raw', to: 'int'}}`, 241, "Unsupported conversion from binData to int in $convert with no onError value"}, {`{$convert: {input: 258, to: 'binData'}}`, 241, "Unsupported conversion from int to binData in $convert with no onError value"},
	})
}

func TestTypes(t *testing.T) {
	checkResults(t, convertDoc, []result{
		{`{$type: '$s'}`, `'string'`}, {`{$type: '$missing'}`, `'missing'`}, {`{$type: '$n'}`, `'null'`}, {`{$type: '$d'}`, `'double'`}, {`{$type: '$m'}`, `'decimal'`}, {`{$type: '$b'}`, `'binData'`}, {`{$type: [[1]]}`, `'array'`}, {`{$type: {$literal: {}}}`, `'object'`}, {`{$type: 1}`, `'int'`},
		{`{$isNumber: '$d'}`, `true`}, {`{$isNumber: '$s'}`, `false`}, {`{$isNumber: '$missing'}`, `false`},
		{`{$tsSecond: ts(1622731060,1)}`, `long(1622731060)`}, {`{$tsIncrement: ts(1622731060,7)}`, `long(7)`}, {`{$tsSecond: '$n'}`, `null`},
		{`{$toHashedIndexKey: 'hashThisStringLiteral'}`, `long(-5776344739422278694)`}, {`{$eq: [{$toHashedIndexKey: '$missing'}, {$toHashedIndexKey: null}]}`, `true`}, {`{$eq: [{$toHashedIndexKey: 1}, {$toHashedIndexKey: 1.7}]}`, `true`},
	})
	checkFailures(t, convertDoc, []failure{
		{`{$type: [1, 2]}`, 16020, "Expression $type takes exactly 1 arguments. 2 were passed in."}, {`{$tsSecond: '$s'}`, 5687301, " Argument to $tsSecond must be a timestamp, but is string"}, {`{$tsIncrement: 1}`, 5687302, ""},
		{`{$rand: 1}`, 10065, "invalid parameter: expected an object ($rand)"}, {`{$rand: [1]}`, 3040501, "$rand does not currently accept arguments"}, {`{$meta: 1}`, 17307, ""}, {`{$meta: 'what'}`, 17308, "Unsupported argument to $meta: what"},
		{`{$function: {body: 'x', args: [], lang: 'js'}}`, 31264, "Cannot run server-side javascript without the javascript engine enabled"},
	})
}
