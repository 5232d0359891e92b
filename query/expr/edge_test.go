package expr

import "testing"

// Edges of the number line, decimals above all.
func TestDecimalEdges(t *testing.T) {
	checkResults(t, `{}`, []result{
		{`{$pow: [dec('2'), dec('0.5')]}`, `dec('1.414213562373095048801688724209698')`}, {`{$pow: [dec('NaN'), 0]}`, `dec('1.000000000000000000000000000000000')`}, {`{$pow: [dec('0'), 5]}`, `dec('0E-6176')`}, {`{$pow: [dec('1'), dec('NaN')]}`, `dec('1.000000000000000000000000000000000')`},
		{`{$pow: [dec('2'), dec('Infinity')]}`, `dec('Infinity')`}, {`{$pow: [dec('0.5'), dec('Infinity')]}`, `dec('0E-6176')`}, {`{$pow: [dec('2'), dec('-Infinity')]}`, `dec('0E-6176')`}, {`{$pow: [dec('2'), dec('1E+20')]}`, `dec('Infinity')`}, {`{$pow: [dec('-1'), dec('Infinity')]}`, `dec('1.000000000000000000000000000000000')`},
		{`{$exp: dec('100000')}`, `dec('Infinity')`}, {`{$eq: [0, {$exp: dec('-100000')}]}`, `true`}, {`{$exp: dec('Infinity')}`, `dec('Infinity')`}, {`{$exp: dec('NaN')}`, `dec('NaN')`},
		{`{$log: [dec('8'), 2]}`, `dec('3.000000000000000000000000000000000')`}, {`{$log: [dec('1000'), 10]}`, `dec('3.000000000000000000000000000000000')`}, {`{$log: [dec('32'), 2]}`, `dec('5')`}, {`{$sqrt: dec('NaN')}`, `dec('NaN')`}, {`{$sqrt: dec('Infinity')}`, `dec('Infinity')`}, {`{$ln: dec('Infinity')}`, `dec('Infinity')`},
		{`{$sin: dec('0')}`, `dec('0')`}, {`{$sin: dec('1E-100')}`, `dec('1E-100')`}, {`{$cos: dec('1E-100')}`, `dec('1')`}, {`{$tan: dec('1E-100')}`, `dec('1E-100')`},
		{`{$atan: dec('Infinity')}`, `dec('1.570796326794896619231321691639751')`}, {`{$atan: dec('-5')}`, `dec('-1.373400766945015860861271926444961')`}, {`{$atan2: [dec('0'), dec('1')]}`, `dec('0')`}, {`{$atan2: [dec('0'), dec('-1')]}`, `dec('3.141592653589793238462643383279503')`}, {`{$atan2: [dec('-1'), dec('0')]}`, `dec('-1.570796326794896619231321691639751')`},
		{`{$sinh: dec('Infinity')}`, `dec('Infinity')`}, {`{$cosh: dec('-Infinity')}`, `dec('Infinity')`}, {`{$tanh: dec('-Infinity')}`, `dec('-1')`}, {`{$asinh: dec('-Infinity')}`, `dec('-Infinity')`}, {`{$acosh: dec('Infinity')}`, `dec('Infinity')`}, {`{$atanh: dec('1')}`, `dec('Infinity')`}, {`{$atanh: dec('-1')}`, `dec('-Infinity')`},
		{`{$mod: [dec('5'), dec('Infinity')]}`, `dec('5')`}, {`{$mod: [dec('Infinity'), 2]}`, `dec('NaN')`}, {`{$add: [dec('Infinity'), 1]}`, `dec('Infinity')`}, {`{$divide: [dec('1'), dec('Infinity')]}`, `dec('0E-6176')`}, {`{$divide: [dec('0'), 5]}`, `dec('0')`},
		{`{$sum: [dec('Infinity'), dbl('-Infinity')]}`, `dec('NaN')`}, {`{$sum: [dbl('Infinity'), 1]}`, `dbl('Infinity')`}, {`{$sum: [dec('0.1'), 0.1]}`, `dec('0.2000000000000000055511151231257827')`}, {`{$avg: [dbl('Infinity'), dbl('-Infinity')]}`, `dbl('NaN')`},
	})
}

func TestConversionEdges(t *testing.T) {
	checkResults(t, `{}`, []result{
		{`{$toString: dbl('Infinity')}`, `'Infinity'`}, {`{$toString: dbl('-Infinity')}`, `'-Infinity'`}, {`{$toString: dbl('NaN')}`, `'NaN'`}, {`{$toString: dbl('-0.0')}`, `'-0'`}, {`{$toString: 1e-7}`, `'1e-07'`}, {`{$toString: 123456789.125}`, `'123456789.125'`},
		{`{$toDouble: 5}`, `5.0`}, {`{$toDouble: long(5)}`, `5.0`}, {`{$toDouble: 'inf'}`, `dbl('Infinity')`}, {`{$toDouble: 2.5}`, `2.5`}, {`{$toDecimal: 'nan'}`, `dec('NaN')`}, {`{$toDecimal: dec('1')}`, `dec('1')`},
		{`{$convert: {input: '_-8', to: 'binData', format: 'base64url'}}`, `bin(00,'/+8=')`}, {`{$toLower: ts(1,31)}`, `'jan  1 00:00:01:31'`}, {`{$toLower: dec('1.5')}`, `'1.5'`}, {`{$toLower: 1.0}`, `'1'`},
	})
	checkFailures(t, `{}`, []failure{
		{`{$toDouble: '1e400'}`, 241, "Failed to parse number '1e400' in $convert with no onError value: Out of range"}, {`{$toDouble: ' 1'}`, 241, ""}, {`{$toDouble: '1_0'}`, 241, ""}, {`{$toDouble: ''}`, 241, ""}, {`{$toDecimal: 'x'}`, 241, "Failed to parse number 'x' in $convert with no onError value: Failed to parse string to decimal"}, {`{$toDecimal: '1E+9999'}`, 241, ""}, {`{$toDecimal: ''}`, 241, ""},
		{`{$toLong: '9223372036854775808'}`, 241, "Failed to parse number '9223372036854775808' in $convert with no onError value: Overflow"}, {`{$toInt: '-'}`, 241, ""}, {`{$toInt: '+-1'}`, 241, ""}, {`{$toObjectId: 'zzb9cbfa31c2ab715d42129e'}`, 241, ""}, {`{$toUUID: 'x'}`, 241, ""}, {`{$toUUID: '12345678-1234-1234-1234-12345678901z'}`, 241, ""},
		{`{$convert: {input: 'é', to: 'binData', format: 'base64'}}`, 241, ""}, {`{$convert: {input: bin(00,'/w=='), to: 'string', format: 'utf8'}}`, 241, ""}, {`{$convert: {input: bin(00,'/w=='), to: 'string', format: 'uuid'}}`, 241, ""}, {`{$convert: {input: bin(00,'/w=='), to: {type: 'binData', subtype: 5}}}`, 241, "Conversions between different BinData subtypes are not supported"}, {`{$convert: {input: bin(00,'AAA='), to: 'double'}}`, 241, ""},
	})
}

func TestOrderEdges(t *testing.T) {
	checkResults(t, `{n: null, docs: [{a: [5, 1]}, {a: 3}, {a: []}, 7, {a: {b: 1}}]}`, []result{
		{`{$eq: ['$x', '$y']}`, `true`}, {`{$cmp: ['$x', '$n']}`, `-1`}, {`{$gt: ['$n', '$x']}`, `true`}, {`{$eq: [dbl('NaN'), dbl('NaN')]}`, `true`}, {`{$lt: [dbl('NaN'), 0]}`, `true`}, {`{$eq: [dec('1.0'), 1]}`, `true`},
		{`{$sortArray: {input: '$docs', sortBy: {a: 1}}}`, `[7, {a: 3}, {a: {b: 1}}, {a: []}, {a: [5, 1]}]`}, {`{$sortArray: {input: '$docs', sortBy: {a: -1}}}`, `[{a: [5, 1]}, {a: []}, {a: {b: 1}}, {a: 3}, 7]`},
		{`{$cond: [true, '$n', 1]}`, `null`}, {`{$cond: [0, 1, 'no']}`, `'no'`},
	})
	checkFailures(t, `{}`, []failure{
		{`{$sortArray: {input: [], sortBy: 2}}`, 2942506, ""}, {`{$sortArray: {input: [], sortBy: 'x'}}`, 2942507, ""}, {`{$sortArray: {input: [], sortBy: {}}}`, 2942505, ""}, {`{$sortArray: {input: [], sortBy: {'a.': 1}}}`, 2942505, ""}, {`{$sortArray: {input: [], sortBy: {'': 1}}}`, 2942505, ""}, {`{$sortArray: {input: [], sortBy: {a: 'x'}}}`, 2942505, ""}, {`{$sortArray: {input: []}}`, 2942503, ""}, {`{$sortArray: 1}`, 2942500, ""}, {`{$sortArray: {z: 1}}`, 2942501, ""},
	})
}
