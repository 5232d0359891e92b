package expr

import "testing"

const numbersDoc = `{i: 3, l: long(5), d: 2.5, m: dec('1.25'), n: null, s: 'x', t: date('2020-01-01T00:00:00Z'), big: long(9223372036854775807), a: [1, 2]}`

func TestAdd(t *testing.T) {
	checkResults(t, numbersDoc, []result{
		{`{$add: []}`, `0`},
		{`{$add: ['$i']}`, `3`},
		{`{$add: ['$i', 4]}`, `7`},
		{`{$add: [2147483647, 1]}`, `long(2147483648)`},
		{`{$add: [2147483647, 1, -1]}`, `2147483647`},
		{`{$add: ['$i', '$l']}`, `long(8)`},
		{`{$add: ['$i', '$d']}`, `5.5`},
		{`{$add: ['$big', 1]}`, `9.223372036854775807e18`},
		{`{$add: ['$d', '$m']}`, `dec('3.75000000000000')`},
		{`{$add: ['$i', '$n', 'never seen']}`, `null`},
		{`{$add: ['$i', '$missing']}`, `null`},
		{`{$add: ['$t', 1000]}`, `date('2020-01-01T00:00:01Z')`},
		{`{$add: [0.5, '$t']}`, `date('2020-01-01T00:00:00.001Z')`},
		{`{$add: ['$t', dec('0.5'), dec('1.5')]}`, `date('2020-01-01T00:00:00.002Z')`},
	})
	checkFailures(t, numbersDoc, []failure{
		{`{$add: ['$i', '$s']}`, 14, "$add only supports numeric or date types, not string"},
		{`{$add: ['$t', '$t']}`, 16612, "only one date allowed in an $add expression"},
		{`{$add: ['$t', '$big', 1]}`, 15, "date overflow"},
		{`{$add: ['$t', dbl('Infinity')]}`, 15, "date overflow"},
	})
}

func TestSubtract(t *testing.T) {
	checkResults(t, numbersDoc, []result{
		{`{$subtract: [5, '$i']}`, `2`},
		{`{$subtract: [-2147483648, 1]}`, `long(-2147483649)`},
		{`{$subtract: ['$l', '$i']}`, `long(2)`},
		{`{$subtract: [long(-2), '$big']}`, `-9.223372036854775807e18`},
		{`{$subtract: ['$d', 1]}`, `1.5`},
		{`{$subtract: ['$m', 1]}`, `dec('0.25')`},
		{`{$subtract: ['$t', '$t']}`, `long(0)`},
		{`{$subtract: ['$t', 1]}`, `date('2019-12-31T23:59:59.999Z')`},
		{`{$subtract: ['$t', 1.4]}`, `date('2019-12-31T23:59:59.999Z')`},
		{`{$subtract: ['$missing', 1]}`, `null`},
		{`{$subtract: ['$t', '$n']}`, `null`},
	})
	checkFailures(t, numbersDoc, []failure{
		{`{$subtract: [1, '$t']}`, 14, "can't $subtract date from int"},
		{`{$subtract: ['$s', 1]}`, 14, "can't $subtract int from string"},
		{`{$subtract: ['$t', '$s']}`, 14, "can't $subtract string from Date"},
		{`{$subtract: [1]}`, 16020, "Expression $subtract takes exactly 2 arguments. 1 were passed in."},
	})
}

func TestMultiplyDivideMod(t *testing.T) {
	checkResults(t, numbersDoc, []result{
		{`{$multiply: []}`, `1`},
		{`{$multiply: ['$i', 4]}`, `12`},
		{`{$multiply: [65536, 65536]}`, `long(4294967296)`},
		{`{$multiply: [65536, 65536, 0]}`, `0`},
		{`{$multiply: ['$l', 2]}`, `long(10)`},
		{`{$multiply: ['$big', 2]}`, `1.8446744073709552e19`},
		{`{$multiply: ['$d', '$i']}`, `7.5`},
		{`{$multiply: ['$m', 2]}`, `dec('2.50')`},
		{`{$multiply: ['$n', 2]}`, `null`},
		{`{$divide: [10, 4]}`, `2.5`},
		{`{$divide: [10, 2]}`, `5.0`},
		{`{$divide: [long(9), 3]}`, `3.0`},
		{`{$divide: ['$m', 5]}`, `dec('0.25')`},
		{`{$divide: [dec('10'), 2]}`, `dec('5')`},
		{`{$divide: [dec('1'), 3]}`, `dec('0.3333333333333333333333333333333333')`},
		{`{$divide: [dec('2'), 3]}`, `dec('0.6666666666666666666666666666666667')`},
		{`{$divide: ['$missing', 3]}`, `null`},
		{`{$mod: [10, 3]}`, `1`},
		{`{$mod: [-10, 3]}`, `-1`},
		{`{$mod: [long(10), 3]}`, `long(1)`},
		{`{$mod: [10, 3.5]}`, `3.0`},
		{`{$mod: [-2147483648, -1]}`, `0`},
		{`{$mod: [dec('10.5'), 3]}`, `dec('1.5')`},
		{`{$mod: [dec('1E+40'), 7]}`, `dec('4')`},
		{`{$mod: ['$n', 3]}`, `null`},
	})
	checkFailures(t, numbersDoc, []failure{
		{`{$multiply: ['$s', 2]}`, 14, "$multiply only supports numeric types, not string"},
		{`{$divide: ['$i', 0]}`, 2, "can't $divide by zero"},
		{`{$divide: ['$i', dec('0')]}`, 2, "can't $divide by zero"},
		{`{$divide: ['$s', 2]}`, 14, "$divide only supports numeric types, not string and int"},
		{`{$mod: [1, 0]}`, 16610, "can't $mod by zero"},
		{`{$mod: [dec('1'), 0]}`, 5733415, "can't $mod by zero"},
		{`{$mod: ['$s', 2]}`, 16611, "$mod only supports numeric types, not string and int"},
	})
}

func TestRounding(t *testing.T) {
	checkResults(t, numbersDoc, []result{
		{`{$abs: -5}`, `5`},
		{`{$abs: -2147483648}`, `long(2147483648)`},
		{`{$abs: long(-5)}`, `long(5)`},
		{`{$abs: -2.5}`, `2.5`},
		{`{$abs: dec('-2.5')}`, `dec('2.5')`},
		{`{$abs: '$n'}`, `null`},
		{`{$ceil: 7.8}`, `8.0`}, {`{$ceil: -2.8}`, `-2.0`}, {`{$ceil: 5}`, `5`}, {`{$ceil: dec('2.1')}`, `dec('3')`},
		{`{$floor: 7.8}`, `7.0`}, {`{$floor: -2.8}`, `-3.0`}, {`{$floor: long(5)}`, `long(5)`}, {`{$floor: dec('-2.1')}`, `dec('-3')`},
		{`{$round: [19.25, 1]}`, `19.2`}, {`{$round: [28.73, 1]}`, `28.7`}, {`{$round: [34.32, 1]}`, `34.3`},
		{`{$round: [19.25, -1]}`, `20.0`}, {`{$round: [45.39, -1]}`, `50.0`}, {`{$round: [10.5]}`, `10.0`},
		{`{$round: 11.5}`, `12.0`}, {`{$round: 12.5}`, `12.0`}, {`{$round: -1.5}`, `-2.0`},
		{`{$round: [1234, -2]}`, `1200`}, {`{$round: [2147483647, -1]}`, `long(2147483650)`}, {`{$round: [15, -1]}`, `20`}, {`{$round: [25, -1]}`, `20`},
		{`{$round: [dec('1.2345'), 2]}`, `dec('1.23')`}, {`{$round: [1.5, 100]}`, `1.5`}, {`{$round: 1e40}`, `1e40`}, {`{$trunc: 1e308}`, `1e308`},
		{`{$round: dec('1E+34')}`, `dec('1.000000000000000000000000000000000E+34')`}, {`{$trunc: dec('9.999999999999999999999999999999999E+6144')}`, `dec('9.999999999999999999999999999999999E+6144')`},
		{`{$round: [dec('1.123456789012345678901234567890123'), 34]}`, `dec('1.123456789012345678901234567890123')`}, {`{$round: [dec('1.5'), 33]}`, `dec('1.500000000000000000000000000000000')`},
		{`{$ceil: dec('1E-40')}`, `dec('1')`}, {`{$ceil: dec('-1E-40')}`, `dec('-0')`}, {`{$floor: dec('-1E-40')}`, `dec('-1')`}, {`{$floor: dec('1E-40')}`, `dec('0')`}, {`{$round: [dec('7E-40'), 2]}`, `dec('0.00')`},
		{`{$round: ['$n', 1]}`, `null`}, {`{$round: [1.5, '$n']}`, `null`},
		{`{$trunc: [19.25, 1]}`, `19.2`}, {`{$trunc: [45.39, -1]}`, `40.0`}, {`{$trunc: 7.9}`, `7.0`}, {`{$trunc: -2.3}`, `-2.0`},
		{`{$trunc: [1299, -2]}`, `1200`}, {`{$trunc: dec('-2.9')}`, `dec('-2')`}, {`{$trunc: dbl('-Infinity')}`, `dbl('-Infinity')`},
	})
	checkFailures(t, numbersDoc, []failure{
		{`{$abs: '$s'}`, 28765, "$abs only supports numeric types, not string"},
		{`{$abs: long(-9223372036854775808)}`, 28680, "can't take $abs of long long min"},
		{`{$round: ['$s', 1]}`, 51081, "$round only supports numeric types, not string"},
		{`{$round: [1.5, 1.5]}`, 51082, "precision argument to  $round must be a integral value"},
		{`{$round: [1.5, 101]}`, 51083, "cannot apply $round with precision value 101 value must be in [-20, 100]"},
		{`{$trunc: [1, 2, 3]}`, 28667, "Expression $trunc takes at least 1 arguments, and at most 2, but 3 were passed in."},
	})
}

func TestPowersAndLogarithms(t *testing.T) {
	checkResults(t, numbersDoc, []result{
		{`{$pow: [5, 2]}`, `25`}, {`{$pow: [2, 31]}`, `long(2147483648)`}, {`{$pow: [long(2), 3]}`, `long(8)`},
		{`{$pow: [2, 63]}`, `9.223372036854775808e18`}, {`{$pow: [-2, 63]}`, `long(-9223372036854775808)`},
		{`{$pow: [5, -2]}`, `0.04`}, {`{$pow: [-5, 0.5]}`, `dbl('NaN')`}, {`{$pow: [0, 0]}`, `1`}, {`{$pow: [-1, -3]}`, `-1`},
		{`{$pow: [dec('2'), 3]}`, `dec('8.000000000000000000000000000000000')`}, {`{$pow: [dec('-0'), 3]}`, `dec('0E-6176')`}, {`{$pow: [dec('-Infinity'), -3]}`, `dec('0E-6176')`}, {`{$pow: ['$n', 2]}`, `null`},
		{`{$sqrt: 25}`, `5.0`}, {`{$sqrt: dec('2')}`, `dec('1.414213562373095048801688724209698')`}, {`{$sqrt: dec('4')}`, `dec('2')`}, {`{$sqrt: dec('0.25')}`, `dec('0.5')`}, {`{$sqrt: dec('1.0')}`, `dec('1.0')`},
		{`{$sqrt: dec('1E-6176')}`, `dec('1E-3088')`}, {`{$sqrt: dec('1.000000000000000000000000000000000E+6144')}`, `dec('1.00000000000000000E+3072')`}, {`{$sqrt: dec('-NaN')}`, `dec('-NaN')`},
		{`{$log10: dec('100')}`, `dec('2')`}, {`{$log10: dec('1E-6176')}`, `dec('-6176')`}, {`{$log10: dec('1E+100')}`, `dec('100')`}, {`{$log: [dec('100'), 10]}`, `dec('2')`}, {`{$log: [dec('64'), 2]}`, `dec('5.999999999999999999999999999999999')`},
		{`{$ln: 5e-324}`, `-744.4400719213812`}, {`{$log10: 5e-324}`, `-323.3062153431158`}, {`{$log: [5e-324, 2]}`, `-1074.0`}, {`{$sqrt: '$missing'}`, `null`},
		{`{$exp: 0}`, `1.0`}, {`{$exp: 2}`, `7.38905609893065`}, {`{$exp: -2}`, `0.1353352832366127`},
		{`{$exp: dec('1')}`, `dec('2.718281828459045235360287471352662')`},
		{`{$ln: 1}`, `0.0`}, {`{$ln: 10}`, `2.302585092994046`}, {`{$ln: dec('10')}`, `dec('2.302585092994045684017991454684364')`},
		{`{$log10: 100}`, `2.0`}, {`{$eq: [2, {$log10: dec('100')}]}`, `true`},
		{`{$log: [100, 10]}`, `2.0`}, {`{$log: [8, 2]}`, `3.0`}, {`{$log: ['$n', 2]}`, `null`},
	})
	checkFailures(t, numbersDoc, []failure{
		{`{$pow: [0, -1]}`, 28764, "$pow cannot take a base of 0 and a negative exponent"},
		{`{$pow: ['$s', 1]}`, 28762, "$pow's base must be numeric, not string"},
		{`{$pow: [1, '$s']}`, 28763, "$pow's exponent must be numeric, not string"},
		{`{$sqrt: -1}`, 28714, "$sqrt's argument must be greater than or equal to 0"},
		{`{$ln: 0}`, 28766, "$ln's argument must be a positive number, but is 0"},
		{`{$ln: -1.5}`, 28766, "$ln's argument must be a positive number, but is -1.5"},
		{`{$log10: dec('-1')}`, 28761, "$log10's argument must be a positive number, but is -1"},
		{`{$log: [-1, 2]}`, 28758, "$log's argument must be a positive number, but is -1"},
		{`{$log: [1, 1]}`, 28759, "$log's base must be a positive number not equal to 1, but is 1"},
		{`{$log: ['$s', 2]}`, 28756, "$log's argument must be numeric, not string"},
		{`{$exp: '$s'}`, 28765, "$exp only supports numeric types, not string"},
	})
}

func TestTrigonometry(t *testing.T) {
	checkResults(t, numbersDoc, []result{
		{`{$sin: 0}`, `0.0`}, {`{$cos: 0}`, `1.0`}, {`{$tan: 0}`, `0.0`}, {`{$atan: 1}`, `0.7853981633974483`},
		{`{$acos: 1}`, `0.0`}, {`{$asin: 1}`, `1.5707963267948966`}, {`{$acosh: 1}`, `0.0`}, {`{$atanh: 0}`, `0.0`},
		{`{$atan2: [1, 1]}`, `0.7853981633974483`}, {`{$atan2: [0, -1]}`, `3.141592653589793`},
		{`{$degreesToRadians: 180}`, `3.141592653589793`}, {`{$radiansToDegrees: 3.141592653589793}`, `180.0`},
		{`{$degreesToRadians: dec('180')}`, `dec('3.141592653589793238462643383279503')`},
		{`{$sin: dec('1')}`, `dec('0.8414709848078965066525023216302990')`},
		{`{$cos: dec('1')}`, `dec('0.5403023058681397174009366074429766')`},
		{`{$tan: dec('1')}`, `dec('1.557407724654902230506974807458360')`},
		{`{$asin: dec('1')}`, `dec('1.570796326794896619231321691639751')`},
		{`{$acos: dec('0')}`, `dec('1.570796326794896619231321691639751')`},
		{`{$acos: dec('-1')}`, `dec('3.141592653589793238462643383279503')`},
		{`{$atan: dec('1')}`, `dec('0.7853981633974483096156608458198757')`},
		{`{$atan2: [dec('1'), -1]}`, `dec('2.356194490192344928846982537459627')`},
		{`{$sinh: dec('1')}`, `dec('1.175201193643801456882381850595601')`},
		{`{$cosh: dec('1')}`, `dec('1.543080634815243778477905620757062')`},
		{`{$tanh: dec('1')}`, `dec('0.7615941559557648881194582826047936')`},
		{`{$asinh: dec('1')}`, `dec('0.8813735870195430252326093249797923')`},
		{`{$acosh: dec('2')}`, `dec('1.316957896924816708625046347307968')`},
		{`{$atanh: dec('0.5')}`, `dec('0.5493061443340548456976226184612629')`},
		{`{$sin: '$n'}`, `null`}, {`{$acos: dbl('NaN')}`, `dbl('NaN')`},
	})
	checkFailures(t, numbersDoc, []failure{
		{`{$acos: 1.1}`, 50989, "cannot apply $acos to 1.1, value must be in [-1,1]"},
		{`{$sin: dbl('Infinity')}`, 50989, "cannot apply $sin to inf, value must be in (-inf,inf)"},
		{`{$acosh: 0}`, 50989, "cannot apply $acosh to 0, value must be in [1,inf]"},
		{`{$atan2: ['$s', 1]}`, 51044, "$atan2 only supports numeric types, not string"},
		{`{$tan: '$s'}`, 28765, "$tan only supports numeric types, not string"},
	})
}

func TestBitwise(t *testing.T) {
	checkResults(t, numbersDoc, []result{
		{`{$bitAnd: [5, 3]}`, `1`}, {`{$bitAnd: []}`, `-1`}, {`{$bitAnd: [long(63), 7]}`, `long(7)`},
		{`{$bitOr: [5, 3]}`, `7`}, {`{$bitOr: []}`, `0`}, {`{$bitXor: [5, 3]}`, `6`}, {`{$bitXor: ['$n', 3]}`, `null`},
		{`{$bitNot: 0}`, `-1`}, {`{$bitNot: long(5)}`, `long(-6)`}, {`{$bitNot: '$missing'}`, `null`},
	})
	checkFailures(t, numbersDoc, []failure{
		{`{$bitAnd: [1, 2.5]}`, 14, "$bitAnd only supports int and long operands."},
		{`{$bitNot: 1.5}`, 14, "$bitNot only supports int and long, not: double."},
		{`{$bitNot: '$s'}`, 28765, "$bitNot only supports numeric types, not string"},
	})
}
