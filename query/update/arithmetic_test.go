package update

import "testing"

func TestArithmetic(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$inc":{"a":1}}`, doc: `{"a":1}`, want: `{"a":2}`},
		{update: `{"$inc":{"a":-2}}`, doc: `{"a":1}`, want: `{"a":-1}`},
		{update: `{"$inc":{"a":0}}`, doc: `{"a":1}`},
		{update: `{"$inc":{"a":{"$numberLong":"0"}}}`, doc: `{"a":1}`, want: `{"a":{"$numberLong":"1"}}`},
		{update: `{"$inc":{"a":5}}`, doc: `{}`, want: `{"a":5}`},
		{update: `{"$inc":{"a.b.c":5}}`, doc: `{}`, want: `{"a":{"b":{"c":5}}}`},
		{update: `{"$inc":{"a":1}}`, doc: `{"a":2147483647}`, want: `{"a":{"$numberLong":"2147483648"}}`},
		{update: `{"$inc":{"a":0.5}}`, doc: `{"a":1}`, want: `{"a":1.5}`},
		{update: `{"$inc":{"a":1}}`, doc: `{"a":1.5}`, want: `{"a":2.5}`},
		{update: `{"$inc":{"a":{"$numberDecimal":"0.10"}}}`, doc: `{"a":1}`, want: `{"a":{"$numberDecimal":"1.10"}}`},
		{update: `{"$inc":{"a":1}}`, doc: `{"_id":7,"a":{"$numberLong":"9223372036854775807"}}`, code: 2, message: "Failed to apply" +
			" $inc operations to current value ((NumberLong)9223372036854775807) for document {_id: 7}"},
		{update: `{"$inc":{"a":{"$numberLong":"-9223372036854775808"}}}`, doc: `{"a":-1}`, code: 2},
		{update: `{"$inc":{"a":1}}`, doc: `{"_id":7,"a":"x"}`, code: 14, message: "Cannot apply $inc to a value of non-numeric type." +
			" {_id: 7} has the field 'a' of non-numeric type string"},
		{update: `{"$inc":{"a":1}}`, doc: `{"_id":7,"a":null}`, code: 14},
		{update: `{"$inc":{"x.a":1}}`, doc: `{"_id":7,"x":{"a":[]}}`, code: 14, message: "Cannot apply $inc to a value of non-numeric" +
			" type. {_id: 7} has the field 'a' of non-numeric type array"},
		{update: `{"$inc":{"a":"1"}}`, doc: `{}`, code: 14, message: `Cannot increment with non-numeric argument: {a: "1"}`},
		{update: `{"$mul":{"a":3}}`, doc: `{"a":5}`, want: `{"a":15}`},
		{update: `{"$mul":{"a":1}}`, doc: `{"a":5}`},
		{update: `{"$mul":{"a":3}}`, doc: `{}`, want: `{"a":0}`},
		{update: `{"$mul":{"a":{"$numberLong":"3"}}}`, doc: `{}`, want: `{"a":{"$numberLong":"0"}}`},
		{update: `{"$mul":{"a":1.5}}`, doc: `{}`, want: `{"a":0.0}`},
		{update: `{"$mul":{"a":2}}`, doc: `{"a":2147483647}`, want: `{"a":{"$numberLong":"4294967294"}}`},
		{update: `{"$mul":{"a":2}}`, doc: `{"_id":1,"a":{"$numberLong":"9223372036854775807"}}`, code: 2, message: "Failed to apply" +
			" $mul operations to current value ((NumberLong)9223372036854775807) for document {_id: 1}"},
		{update: `{"$mul":{"a":"2"}}`, doc: `{}`, code: 14, message: `Cannot multiply with non-numeric argument: {a: "2"}`},
		{update: `{"$inc":{"a":1}}`, doc: `{"a":{"$numberDouble":"Infinity"}}`},
		{update: `{"$inc":{"a":1}}`, doc: `{"a":{"$numberDouble":"NaN"}}`, want: `{"a":{"$numberDouble":"NaN"}}`},
		{update: `{"$mul":{"a":{"$numberDecimal":"1.00"}}}`, doc: `{"a":{"$numberDecimal":"2"}}`},
		{update: `{"$inc":{"_id":1}}`, doc: `{"_id":1}`, code: 66},
	})
}

func TestExtremum(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$min":{"low":150}}`, doc: `{"low":200}`, want: `{"low":150}`},
		{update: `{"$min":{"low":250}}`, doc: `{"low":200}`},
		{update: `{"$min":{"low":250}}`, doc: `{}`, want: `{"low":250}`},
		{update: `{"$max":{"high":950}}`, doc: `{"high":800}`, want: `{"high":950}`},
		{update: `{"$max":{"high":800.0}}`, doc: `{"high":800}`},
		{update: `{"$max":{"a":"x"}}`, doc: `{"a":5}`, want: `{"a":"x"}`},
		{update: `{"$min":{"a":"x"}}`, doc: `{"a":5}`},
		{update: `{"$min":{"a":null}}`, doc: `{"a":5}`, want: `{"a":null}`},
		{update: `{"$max":{"a.b":3}}`, doc: `{"a":1}`, code: 28},
	})
}

func TestBit(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$bit":{"a":{"and":10}}}`, doc: `{"a":13}`, want: `{"a":8}`},
		{update: `{"$bit":{"a":{"or":5}}}`, doc: `{"a":3}`, want: `{"a":7}`},
		{update: `{"$bit":{"a":{"xor":5}}}`, doc: `{"a":1}`, want: `{"a":4}`},
		{update: `{"$bit":{"a":{"and":14,"or":1}}}`, doc: `{"a":7}`},
		{update: `{"$bit":{"a":{"or":5}}}`, doc: `{}`, want: `{"a":5}`},
		{update: `{"$bit":{"a":{"and":{"$numberLong":"1"}}}}`, doc: `{"a":1}`, want: `{"a":{"$numberLong":"1"}}`},
		{update: `{"$bit":{"a":{"and":{"$numberLong":"1"}}}}`, doc: `{}`, want: `{"a":{"$numberLong":"0"}}`},
		{update: `{"$bit":{"a":{"and":1}}}`, doc: `{"_id":3,"a":1.5}`, code: 2, message: "Cannot apply $bit to a value of non-integral" +
			" type._id: 3 has the field a of non-integer type double"},
		{update: `{"$bit":{"a":1}}`, doc: `{}`, code: 2, message: "The $bit modifier is not compatible with a int. You must pass in an" +
			" embedded document: {$bit: {field: {and/or/xor: #}}"},
		{update: `{"$bit":{"a":{}}}`, doc: `{}`, code: 2, message: "You must pass in at least one bitwise operation." +
			" The format is: {$bit: {field: {and/or/xor: #}}"},
		{update: `{"$bit":{"a":{"not":1}}}`, doc: `{}`, code: 2, message: "The $bit modifier only supports 'and', 'or', and 'xor'," +
			" not 'not' which is an unknown operator: {not: 1}"},
		{update: `{"$bit":{"a":{"or":1.0}}}`, doc: `{}`, code: 2, message: "The $bit modifier field must be an Integer(32/64 bit);" +
			" a 'double' is not supported here: {or: 1.0}"},
	})
}
