package expr

import (
	"strings"
	"testing"
)

const stringsDoc = `{s: 'Hello', u: 'cafétéria', n: null, i: 5, d: date('2014-03-01T08:00:00Z'), pad: ' \n good  bye \t '}`

func TestStrings(t *testing.T) {
	checkResults(t, stringsDoc, []result{
		{`{$concat: ['$s', ' ', 'W']}`, `'Hello W'`}, {`{$concat: ['$s', '$n']}`, `null`}, {`{$concat: []}`, `''`},
		{`{$toLower: '$s'}`, `'hello'`}, {`{$toUpper: '$n'}`, `''`}, {`{$toLower: '$d'}`, `'2014-03-01t08:00:00.000z'`}, {`{$toLower: 5.5}`, `'5.5'`},
		{`{$strcasecmp: ['$s', 'HELLO']}`, `0`}, {`{$strcasecmp: ['a', 'B']}`, `-1`}, {`{$strcasecmp: ['b', '$n']}`, `1`},
		{`{$strLenBytes: '$u'}`, `11`}, {`{$strLenCP: '$u'}`, `9`}, {`{$strLenBytes: ''}`, `0`},
		{`{$substr: ['$s', 1, 2]}`, `'el'`}, {`{$substrBytes: ['$s', 1, -1]}`, `'ello'`}, {`{$substrBytes: ['$s', 9, 1]}`, `''`}, {`{$substrBytes: ['$i', 0, 1]}`, `'5'`}, {`{$substrBytes: ['$u', 3, 2]}`, `'é'`},
		{`{$substrCP: ['$u', 3, 3]}`, `'été'`}, {`{$substrCP: ['$u', 20, 3]}`, `''`}, {`{$substrCP: ['$n', 0, 3]}`, `''`},
		{`{$indexOfBytes: ['$u', 't']}`, `5`}, {`{$indexOfCP: ['$u', 't']}`, `4`}, {`{$indexOfBytes: ['$s', 'l', 3]}`, `3`}, {`{$indexOfBytes: ['$s', 'l', 4]}`, `-1`},
		{`{$indexOfCP: ['$s', 'o', 0, 4]}`, `-1`}, {`{$indexOfBytes: ['$n', 'x']}`, `null`}, {`{$indexOfCP: ['$s', '']}`, `0`}, {`{$indexOfBytes: ['$s', 'H', 5, 1]}`, `-1`},
		{`{$split: ['June-15-2013', '-']}`, `['June', '15', '2013']`}, {`{$split: ['$s', 'l']}`, `['He', '', 'o']`}, {`{$split: ['$n', '-']}`, `null`}, {`{$split: ['a', 'ab']}`, `['a']`},
		{`{$trim: {input: '$pad'}}`, `'good  bye'`}, {`{$ltrim: {input: '$pad'}}`, `'good  bye \t '`}, {`{$rtrim: {input: ' ggggoodbyeeeee', chars: 'e'}}`, `' ggggoodby'`},
		{`{$trim: {input: ' ggggoodbyeeeee', chars: ' ge'}}`, `'oodby'`}, {`{$trim: {input: '$n'}}`, `null`}, {`{$trim: {input: 'x', chars: '$n'}}`, `null`},
		{`{$replaceOne: {input: '$s', find: 'l', replacement: 'L'}}`, `'HeLlo'`}, {`{$replaceAll: {input: '$s', find: 'l', replacement: ''}}`, `'Heo'`}, {`{$replaceAll: {input: '$n', find: 'l', replacement: ''}}`, `null`},
		{`{$binarySize: '$u'}`, `11`}, {`{$binarySize: bin(00,'aGVsbG8=')}`, `5`}, {`{$binarySize: '$n'}`, `null`}, {`{$bsonSize: {a: 1}}`, `12`}, {`{$bsonSize: '$n'}`, `null`},
	})
	checkFailures(t, stringsDoc, []failure{
		{`{$concat: ['$s', 1]}`, 16702, "$concat only supports strings, not int"},
		{`{$toLower: [[1]]}`, 16007, "can't convert from BSON type array to String"},
		{`{$strLenCP: '$n'}`, 34471, "$strLenCP requires a string argument, found: null"}, {`{$strLenBytes: 1}`, 34473, "$strLenBytes requires a string argument, found: int"},
		{`{$substrBytes: ['$u', 4, 1]}`, 28656, "$substrBytes:  Invalid range, starting index is a UTF-8 continuation byte."},
		{`{$substrBytes: ['$u', 0, 4]}`, 28657, "$substrBytes:  Invalid range, ending index is in the middle of a UTF-8 character."},
		{`{$substr: ['$s']}`, 16020, "Expression $substrBytes takes exactly 3 arguments. 1 were passed in."},
		{`{$substr: ['$s', 'a', 1]}`, 16034, "$substrBytes:  starting index must be a numeric type (is BSON type string)"},
		{`{$substr: ['$s', -1, 1]}`, 50752, "$substrBytes:  starting index must be non-negative (got: -1)"},
		{`{$substrCP: ['$s', 0, -1]}`, 34454, "$substrCP: length must be a nonnegative integer."}, {`{$substrCP: ['$s', 1.5, 1]}`, 34451, ""},
		{`{$indexOfBytes: [1, 'a']}`, 40091, "$indexOfBytes requires a string as the first argument, found: int"}, {`{$indexOfCP: ['a', 1]}`, 40094, ""},
		{`{$split: ['$i', 'a']}`, 40085, ""}, {`{$split: ['$s', 1]}`, 40086, ""}, {`{$split: ['$s', '']}`, 40087, "$split requires a non-empty separator"},
		{`{$trim: {input: 1}}`, 50699, "$trim requires its input to be a string, got 1 (of type int) instead."}, {`{$trim: {chars: 'a'}}`, 50695, "$trim requires an 'input' field"},
		{`{$trim: 'a'}`, 50696, "$trim only supports an object as an argument, found string"}, {`{$trim: {input: 'a', z: 1}}`, 50694, "$trim found an unknown argument: z"},
		{`{$replaceOne: {input: 1, find: 'a', replacement: 'b'}}`, 51746, "$replaceOne requires that 'input' be a string, found: 1"}, {`{$replaceOne: {input: 'a', find: 1, replacement: 'b'}}`, 51745, ""},
		{`{$replaceAll: {input: 'a', find: 'a'}}`, 51747, "$replaceAll requires 'replacement' to be specified"}, {`{$replaceAll: 1}`, 51751, "$replaceAll requires an object as an argument, found: int"},
		{`{$binarySize: 1}`, 51276, "$binarySize requires a string or BinData argument, found: int"}, {`{$bsonSize: 1}`, 31393, "$bsonSize requires a document input, found: int"},
	})
}

func TestRegex(t *testing.T) {
	checkResults(t, stringsDoc, []result{
		{`{$regexMatch: {input: '$s', regex: 'ell'}}`, `true`}, {`{$regexMatch: {input: '$s', regex: 'ELL', options: 'i'}}`, `true`}, {`{$regexMatch: {input: '$n', regex: 'a'}}`, `false`},
		{`{$regexMatch: {input: '$s', regex: re('^hel','i')}}`, `true`}, {`{$regexMatch: {input: '$s', regex: '(?<=H)e'}}`, `true`}, {`{$regexMatch: {input: 'ab', regex: 'a b', options: 'x'}}`, `true`},
		{`{$regexFind: {input: '$u', regex: 't(.)'}}`, `{match: 'té', idx: 4, captures: ['é']}`}, {`{$regexFind: {input: '$s', regex: 'z'}}`, `null`}, {`{$regexFind: {input: '$s', regex: '$n'}}`, `null`},
		{`{$regexFind: {input: 'foobar', regex: '(o+)\\Kb(.)'}}`, `{match: 'ba', idx: 3, captures: ['oo', 'a']}`},
		{`{$regexFind: {input: 'ab', regex: '(x)?b'}}`, `{match: 'b', idx: 1, captures: [null]}`},
		{`{$regexFindAll: {input: '$s', regex: 'l'}}`, `[{match: 'l', idx: 2, captures: []}, {match: 'l', idx: 3, captures: []}]`},
		{`{$regexFindAll: {input: 'aaa', regex: 'b*'}}`, `[{match: '', idx: 0, captures: []}, {match: '', idx: 1, captures: []}, {match: '', idx: 2, captures: []}]`},
		{`{$regexFindAll: {input: '', regex: 'b*'}}`, `[{match: '', idx: 0, captures: []}]`}, {`{$regexFindAll: {input: '$n', regex: 'b'}}`, `[]`},
		{`{$regexFindAll: {input: 'éaé', regex: 'é'}}`, `[{match: 'é', idx: 0, captures: []}, {match: 'é', idx: 2, captures: []}]`},
		{`{$regexFindAll: {input: 'baac', regex: 'a*'}}`, `[{match: '', idx: 0, captures: []}, {match: 'aa', idx: 1, captures: []}, {match: '', idx: 3, captures: []}]`},
		{`{$regexMatch: {input: 'line\n', regex: 'e$'}}`, `true`}, {`{$regexMatch: {input: 'a\nb', regex: '^b$', options: 'm'}}`, `true`},
	})
	checkFailures(t, stringsDoc, []failure{
		{`{$regexMatch: 'a'}`, 51103, "$regexMatch expects an object of named arguments but found: string"},
		{`{$regexMatch: {regex: 'a'}}`, 31022, "$regexMatch requires 'input' parameter"}, {`{$regexMatch: {input: 'a'}}`, 31023, ""}, {`{$regexMatch: {input: 'a', regex: 'a', z: 1}}`, 31024, ""},
		{`{$regexMatch: {input: 1, regex: 'a'}}`, 51104, "$regexMatch needs 'input' to be of type string"}, {`{$regexFind: {input: 'a', regex: 1}}`, 51105, ""},
		{`{$regexFind: {input: 'a', regex: 'a', options: 1}}`, 51106, ""}, {`{$regexFind: {input: 'a', regex: re('a','i'), options: 'i'}}`, 51107, ""},
		{`{$regexFind: {input: 'a', regex: 'a', options: 'g'}}`, 51108, "$regexFind invalid flag in regex options: g"}, {`{$regexFind: {input: 'a', regex: '('}}`, 51111, ""},
		{`{$regexMatch: {input: 'a', regex: '` + strings.Repeat("y", 32765) + `'}}`, 51111, "Invalid Regex in $regexMatch: pattern string is longer than the limit set by the application"},
	})
}
