package value

import (
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Extended JSON, for tests, logs and error messages; never on a hot path.

// ParseJSON reads a document from (canonical or relaxed) extended JSON.
func ParseJSON(s string) (Doc, error) {
	var raw bson.D
	if err := bson.UnmarshalExtJSON([]byte(s), false, &raw); err != nil {
		return nil, err
	}
	return bson.Marshal(raw)
}

// MustJSON is ParseJSON for literals in tests and tables: it panics on bad
// input.
func MustJSON(s string) Doc {
	d, err := ParseJSON(s)
	if err != nil {
		panic("value.MustJSON: " + err.Error() + " in " + s)
	}
	return d
}

// JSON returns d as relaxed extended JSON.
func (d Doc) JSON() string {
	b, err := bson.MarshalExtJSON(bson.Raw(d), false, false)
	if err != nil {
		return "<invalid: " + err.Error() + ">"
	}
	return string(b)
}

// CanonicalJSON returns d as canonical extended JSON, which preserves all
// types.
func (d Doc) CanonicalJSON() string {
	b, err := bson.MarshalExtJSON(bson.Raw(d), true, false)
	if err != nil {
		return "<invalid: " + err.Error() + ">"
	}
	return string(b)
}

// JSON returns v as relaxed extended JSON.
func (v Value) JSON() string {
	if v.kind == Missing {
		return "missing"
	}
	s := NewDoc("v", v).JSON()
	return s[len(`{"v":`) : len(s)-1]
}
