package update

import "testing"

func TestSet(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$set":{"a":2}}`, doc: `{"_id":1,"a":1}`, want: `{"_id":1,"a":2}`},
		{update: `{"$set":{"b":2}}`, doc: `{"_id":1,"a":1}`, want: `{"_id":1,"a":1,"b":2}`},
		{update: `{"$set":{"a":1}}`, doc: `{"_id":1,"a":1}`},
		{update: `{"$set":{}}`, doc: `{"_id":1,"a":1}`},
		{update: `{"$set":{"a":{"$numberLong":"1"}}}`, doc: `{"_id":1,"a":1}`, want: `{"_id":1,"a":{"$numberLong":"1"}}`},
		{update: `{"$set":{"a.b.c":1}}`, doc: `{}`, want: `{"a":{"b":{"c":1}}}`},
		{update: `{"$set":{"a.b":1}}`, doc: `{"a":{"b":0,"c":2}}`, want: `{"a":{"b":1,"c":2}}`},
		{update: `{"$set":{"a.b":1}}`, doc: `{"a":{"c":2}}`, want: `{"a":{"c":2,"b":1}}`},
		{update: `{"$set":{"a":{"x":1}}}`, doc: `{"a":{"b":0},"z":1}`, want: `{"a":{"x":1},"z":1}`},
		{name: "new fields come in order of their names, numbers by value",
			update: `{"$set":{"b":1,"a":1,"10":1,"9":1,"B":1}}`, doc: `{"z":0}`, want: `{"z":0,"9":1,"10":1,"B":1,"a":1,"b":1}`},
		{update: `{"$set":{"x.b":1,"x.a":2}}`, doc: `{}`, want: `{"x":{"a":2,"b":1}}`},
		{name: "old fields keep their places", update: `{"$set":{"a":9,"c":9}}`,
			doc: `{"c":1,"b":1,"a":1}`, want: `{"c":9,"b":1,"a":9}`},
		{name: "only the first of two fields of one name", update: `{"$set":{"a":9}}`, doc: `{"a":1}`, want: `{"a":9}`},
		{update: `{"$set":{"a.1":9}}`, doc: `{"a":[1,2,3]}`, want: `{"a":[1,9,3]}`},
		{update: `{"$set":{"a.1":2}}`, doc: `{"a":[1,2,3]}`},
		{update: `{"$set":{"a.5":9}}`, doc: `{"a":[1,2]}`, want: `{"a":[1,2,null,null,null,9]}`},
		{update: `{"$set":{"a.3.b":9}}`, doc: `{"a":[1]}`, want: `{"a":[1,null,null,{"b":9}]}`},
		{update: `{"$set":{"a.0.b":9}}`, doc: `{"a":[{"b":1,"c":1},{"b":2}]}`, want: `{"a":[{"b":9,"c":1},{"b":2}]}`},
		{update: `{"$set":{"a.10":"t","a.9":"n"}}`, doc: `{"a":[0,0,0,0,0,0,0,0]}`, want: `{"a":[0,0,0,0,0,0,0,0,null,"n","t"]}`},
		{name: "leading zeros", update: `{"$set":{"a.01":9}}`, doc: `{"a":[1,2]}`, want: `{"a":[1,9]}`},
		{name: "two names of one position", update: `{"$set":{"a.1.x":8,"a.01.y":9}}`,
			doc: `{"a":[1,{}]}`, want: `{"a":[1,{"y":9,"x":8}]}`},
		{update: `{"$set":{"a.0.b":1}}`, doc: `{}`, want: `{"a":{"0":{"b":1}}}`},
		{update: `{"$set":{"a.$b":1}}`, doc: `{}`, want: `{"a":{"$b":1}}`},
		{update: `{"$set":{"a":{"$b":1}}}`, doc: `{}`, want: `{"a":{"$b":1}}`},
		{update: `{"$set":{"a.b":1}}`, doc: `{"a":1}`, code: 28, message: "Cannot create field 'b' in element {a: 1}"},
		{update: `{"$set":{"a.b.c":1}}`, doc: `{"a":{"b":"x"}}`, code: 28, message: `Cannot create field 'c' in element {b: "x"}`},
		{update: `{"$set":{"a.b":1}}`, doc: `{"a":null}`, code: 28, message: "Cannot create field 'b' in element {a: null}"},
		{update: `{"$set":{"a.b.c":1}}`, doc: `{"a":[1,2]}`, code: 28, message: "Cannot create field 'b' in element {a: [ 1, 2 ]}"},
		{update: `{"$set":{"a.1500003":1}}`, doc: `{"a":[1,2]}`, code: 34, message: "can't backfill more than 1500000 elements"},
		{update: `{"$set":{"_id":2}}`, doc: `{"_id":1}`, code: 66,
			message: "Performing an update on the path '_id' would modify the immutable field '_id'"},
		{update: `{"$set":{"_id":1}}`, doc: `{"_id":1}`},
		{update: `{"$set":{"_id.a":2}}`, doc: `{"_id":{"a":1}}`, code: 66,
			message: "Performing an update on the path '_id.a' would modify the immutable field '_id'"},
		{update: `{"$set":{"_id.b":2}}`, doc: `{"_id":{"a":1}}`, code: 66,
			message: "Updating the path '_id' to _id: { a: 1, b: 2 } would modify the immutable field '_id'"},
		// Values that compare as equal are not enough: the bytes must be the same.
		{update: `{"$set":{"_id":1.0}}`, doc: `{"_id":1}`, code: 66,
			message: "Performing an update on the path '_id' would modify the immutable field '_id'"},
		{update: `{"$set":{"_id":{"a":2}}}`, doc: `{"_id":{"a":1}}`, code: 66,
			message: "Updating the path '_id' to _id: { a: 2 } would modify the immutable field '_id'"},
		{update: `{"$set":{"_id":{"a":1}}}`, doc: `{"_id":{"a":1}}`},
		{update: `{"$set":{"_id.b":2}}`, doc: `{"_id":1}`, code: 28, message: "Cannot create field 'b' in element {_id: 1}"},
		{update: `{"$set":{"$a":1}}`, doc: `{"_id":1}`, code: 52, message: "The dollar ($) prefixed field '$a' in '$a' is not" +
			" allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith."},
		{update: `{"$set":{"$a.b":1}}`, doc: `{"_id":1}`, code: 52},
		{update: `{"$set":{"$id":1}}`, doc: `{"_id":1}`, code: 55, message: "Found $id field without a $ref before it, which is invalid."},
		{update: `{"$set":{"$ref":1}}`, doc: `{"_id":1}`, code: 55, message: "The DBRef $ref field must be a String, not a int"},
		{update: `{"$set":{"$ref":"c"}}`, doc: `{"_id":1,"$ref":"x","$id":2}`, want: `{"_id":1,"$ref":"c","$id":2}`},
		{update: `{"$set":{"":1}}`, doc: `{}`, code: 56, message: "An empty update path is not valid."},
		{update: `{"$set":{"a.":1}}`, doc: `{}`, code: 56, message: "The update path 'a.' contains an empty field name, which is not allowed."},
		{update: `{"$set":{"a..b":1}}`, doc: `{}`, code: 56},
		{update: `{"$set":{".a":1}}`, doc: `{}`, code: 56},
	})
}

func TestSetOnInsertAndUnset(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$setOnInsert":{"a":2}}`, doc: `{"a":1}`},
		{update: `{"$setOnInsert":{"a":2}}`, doc: `{"a":1}`, insert: true, want: `{"a":2}`},
		{update: `{"$setOnInsert":{"a.b":2}}`, doc: `{"a":1}`},
		{update: `{"$unset":{"a":1}}`, doc: `{"_id":1,"a":1,"b":2}`, want: `{"_id":1,"b":2}`},
		{update: `{"$unset":{"a":""}}`, doc: `{"_id":1,"b":2}`},
		{update: `{"$unset":{"a.b":1}}`, doc: `{"a":{"b":1,"c":2}}`, want: `{"a":{"c":2}}`},
		{update: `{"$unset":{"a.b":1}}`, doc: `{"a":{"b":1}}`, want: `{"a":{}}`},
		{update: `{"$unset":{"a.b":1}}`, doc: `{"a":5}`},
		{update: `{"$unset":{"a.b":1}}`, doc: `{"a":[5]}`},
		{update: `{"$unset":{"a.1":1}}`, doc: `{"a":[1,2,3]}`, want: `{"a":[1,null,3]}`},
		{update: `{"$unset":{"a.7":1}}`, doc: `{"a":[1,2,3]}`},
		{update: `{"$unset":{"a.9999999.b":1}}`, doc: `{"a":[1,2,3]}`},
		{update: `{"$unset":{"_id":1}}`, doc: `{"_id":1}`, code: 66,
			message: "Performing an update on the path '_id' would modify the immutable field '_id'"},
	})
}

func TestRename(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$rename":{"a":"b"}}`, doc: `{"_id":1,"a":2,"c":3}`, want: `{"_id":1,"c":3,"b":2}`},
		{update: `{"$rename":{"a":"b"}}`, doc: `{"_id":1,"a":2,"b":3}`, want: `{"_id":1,"b":2}`},
		{update: `{"$rename":{"a":"b"}}`, doc: `{"_id":1,"b":3}`},
		{update: `{"$rename":{"a.x":"b.y"}}`, doc: `{"a":{"x":1,"z":2}}`, want: `{"a":{"z":2},"b":{"y":1}}`},
		{update: `{"$rename":{"a.x":"a.y"}}`, doc: `{"a":{"x":1,"z":2}}`, want: `{"a":{"z":2,"y":1}}`},
		{update: `{"$rename":{"a":"b.c"}}`, doc: `{"b":1}`},
		{update: `{"$rename":{"a":"b.c"}}`, doc: `{"a":2,"b":1}`, code: 28, message: "Cannot create field 'c' in element {b: 1}"},
		{update: `{"$rename":{"a":"b","c":"d"}}`, doc: `{"a":1,"c":2}`, want: `{"b":1,"d":2}`},
		{update: `{"$rename":{"a.b":"c"}}`, doc: `{"a":1}`, code: 28,
			message: "cannot use the part (a of a.b) to traverse the element ({a: 1})"},
		{update: `{"$rename":{"a.0":"b"}}`, doc: `{"_id":7,"a":[1]}`, code: 2, message: "The source field cannot be an array" +
			" element, 'a.0' in doc with _id: 7 has an array field called 'a'"},
		{update: `{"$rename":{"b":"a.0"}}`, doc: `{"_id":7,"a":[1],"b":2}`, code: 2, message: "The destination field cannot be an" +
			" array element, 'a.0' in doc with _id: 7 has an array field called 'a'"},
		{update: `{"$rename":{"_id":"b"}}`, doc: `{"_id":7}`, code: 66},
		{update: `{"$rename":{"b":"_id"}}`, doc: `{"_id":7,"b":1}`, code: 66},
		{update: `{"$rename":{"a":"a"}}`, doc: `{}`, code: 2, message: `The source and target field for $rename must differ: a: "a"`},
		{update: `{"$rename":{"a":"a.b"}}`, doc: `{}`, code: 2,
			message: `The source and target field for $rename must not be on the same path: a: "a.b"`},
		{update: `{"$rename":{"a":5}}`, doc: `{}`, code: 2, message: "The 'to' field for $rename must be a string: a: 5"},
		{update: `{"$rename":{"a":""}}`, doc: `{}`, code: 56, message: "An empty update path is not valid."},
		{update: `{"$rename":{"":"a"}}`, doc: `{}`, code: 56},
		{update: `{"$rename":{"a.$.b":"c"}}`, doc: `{}`, code: 2, message: "The source field for $rename may not be dynamic: a.$.b"},
		{update: `{"$rename":{"c":"a.$[].b"}}`, doc: `{}`, code: 2, message: "The destination field for $rename may not be dynamic: a.$[].b"},
		{update: `{"$rename":{"a":"b"},"$set":{"a":1}}`, doc: `{}`, code: 40, message: "Updating the path 'a' would create a conflict at 'a'"},
		{update: `{"$rename":{"a":"b"},"$set":{"b.c":1}}`, doc: `{}`, code: 40, message: "Updating the path 'b.c' would create a conflict at 'b'"},
		{update: `{"$rename":{"a":"b","c":"b"}}`, doc: `{}`, code: 40},
	})
}

func TestCurrentDate(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$currentDate":{"a":true}}`, doc: `{}`, want: `{"a":{"$date":{"$numberLong":"1714979289000"}}}`},
		{update: `{"$currentDate":{"a":false}}`, doc: `{"a":1}`, want: `{"a":{"$date":{"$numberLong":"1714979289000"}}}`},
		{update: `{"$currentDate":{"a":{"$type":"date"}}}`, doc: `{}`, want: `{"a":{"$date":{"$numberLong":"1714979289000"}}}`},
		{update: `{"$currentDate":{"a":{"$type":"timestamp"}}}`, doc: `{}`, want: `{"a":{"$timestamp":{"t":1714979289,"i":1}}}`},
		{update: `{"$currentDate":{"a":{"$type":"x"}}}`, doc: `{}`, code: 2, message: "The '$type' string field is required to be" +
			" 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}"},
		{update: `{"$currentDate":{"a":{"x":"date"}}}`, doc: `{}`, code: 2, message: "Unrecognized $currentDate option: x"},
		{update: `{"$currentDate":{"a":"date"}}`, doc: `{}`, code: 2, message: "string is not valid type for $currentDate. Please use a" +
			" boolean ('true') or a $type expression ({$type: 'timestamp/date'})."},
	})
}

func TestShape(t *testing.T) {
	runUpdateTests(t, []updateTest{
		{update: `{"$foo":{"a":1}}`, doc: `{}`, code: 9, message: "Unknown modifier: $foo. Expected a valid update modifier or" +
			" pipeline-style update specified as an array"},
		{update: `{"$set":{"a":1},"b":1}`, doc: `{}`, code: 9},
		{update: `{"$set":5}`, doc: `{}`, code: 9, message: "Modifiers operate on fields but we found type int instead." +
			" For example: {$mod: {<field>: ...}} not {$set: 5}"},
		{update: `{"$set":{"a":1},"$inc":{"a":1}}`, doc: `{}`, code: 40, message: "Updating the path 'a' would create a conflict at 'a'"},
		{update: `{"$set":{"a.b":1},"$inc":{"a":1}}`, doc: `{}`, code: 40, message: "Updating the path 'a' would create a conflict at 'a'"},
		{update: `{"$set":{"a":1},"$inc":{"a.b.c":1}}`, doc: `{}`, code: 40, message: "Updating the path 'a.b.c' would create a conflict at 'a'"},
		{update: `{"$set":{"a":1,"b":2},"$unset":{"c":1},"$inc":{"d":1}}`, doc: `{"c":1,"d":1}`, want: `{"d":2,"a":1,"b":2}`},
	})
}
