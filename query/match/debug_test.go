package match

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

// The forms are those of debugString in mongod's matcher: expression_leaf.cpp,
// expression_tree.cpp, expression_array.cpp and expression_geo.cpp.
func TestDebugString(t *testing.T) {
	tests := []struct{ filter, want string }{
		{`{}`, "$and\n"},
		{`{"a": 1}`, "a $eq 1\n"},
		{`{"b": "x", "a": {"$gt": 1, "$lte": 2.5}}`, "$and\n    b $eq \"x\"\n    a $lte 2.5\n    a $gt 1\n"},
		{`{"$or": [{"a": 1}, {"b": {"$in": [2, 1]}}]}`, "$or\n    a $eq 1\n    b $in [ 1 2 ]\n"},
		{`{"a": {"$ne": 1}}`, "$not\n    a $eq 1\n"},
		{`{"$nor": [{"a": 1}, {"$and": [{"b": 1}, {"c": 1}]}]}`, "$nor\n    $and\n        b $eq 1\n        c $eq 1\n    a $eq 1\n"},
		{`{"a": {"$exists": true}}`, "a exists\n"},
		{`{"a": {"$size": 3}}`, "a $size : 3\n"},
		{`{"a": {"$mod": [4, 1]}}`, "a mod 4 % x == 1\n"},
		{`{"a": {"$regex": "^x", "$options": "i"}}`, "a regex /^x/i\n"},
		{`{"a": {"$elemMatch": {"b": 1, "c": 2}}}`, "a $elemMatch (obj)\n    $and\n        b $eq 1\n        c $eq 2\n"},
		{`{"a": {"$elemMatch": {"$gt": 1, "$lt": 3}}}`, "a $elemMatch (value)\n     $gt 1\n     $lt 3\n"},
		{`{"a": {"$bitsAllSet": [0, 3]}}`, "a $bitsAllSet: [0, 3]\n"},
		{`{"loc": {"$nearSphere": [0, 0], "$maxDistance": 1}}`, "GEONEAR  field=loc maxdist=1 isNearSphere=1\n"},
		{`{"loc": {"$near": [0, 0]}}`, "GEONEAR  field=loc maxdist=1.79769e+308 isNearSphere=0\n"},
		{`{"loc": {"$near": {"$geometry": {"type": "Point", "coordinates": [0, 0]}, "$maxDistance": 1000.5}}}`, "GEONEAR  field=loc maxdist=1000.5 isNearSphere=0\n"},
		{`{"loc": {"$near": {"$geometry": {"type": "Point", "coordinates": [0, 0]}}}, "a": 1}`, "$and\n    a $eq 1\n    GEONEAR  field=loc maxdist=1.79769e+308 isNearSphere=0\n"},
		{`{"loc": {"$geoWithin": {"$box": [[0, 0], [1, 1]]}}}`, "GEO raw = { loc: { $geoWithin: { $box: [ [ 0, 0 ], [ 1, 1 ] ] } } }\n"},
		{`{"$alwaysFalse": 1}`, "$alwaysFalse: 1\n"},
	}
	for _, tt := range tests {
		m, err := Compile(value.MustJSON(tt.filter), Options{AllowNear: true})
		if err != nil {
			t.Errorf("%s: %v", tt.filter, err)
			continue
		}
		if got := m.DebugString(); got != tt.want {
			t.Errorf("%s:\n%s, not\n%s", tt.filter, got, tt.want)
		}
	}
}
