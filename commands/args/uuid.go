package args

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// uuidType is how messages name the subtype that a UUID must have.
const uuidType = "UUID"

// UUID is an argument that must be a UUID, like collectionUUID, with which a client
// makes sure that a name still means the collection it knows.
type UUID value.Value

// Given reports whether the client sent the argument.
func (u UUID) Given() bool { return !value.Value(u).IsMissing() }

// IsUUID reports whether v is binary of subtype 4, of any length.
func IsUUID(v value.Value) bool {
	subtype, _ := v.Binary()
	return v.Kind() == value.KindBinary && subtype == 4
}

// binaryTypes names the subtypes of binary data in messages, as mongod does.
var binaryTypes = map[byte]string{
	0: "general", 1: "function", 2: "byte(deprecated)", 3: "UUID(deprecated)", 4: uuidType,
	5: "MD5", 6: "encrypt", 7: "column", 8: "sensitive", 128: "Custom",
}

// WrongUUID is the error (TypeMismatch, 14) for the field of that full name, whose value
// v is no UUID: it is not binary, or binary of another subtype.
func WrongUUID(field string, v value.Value) error {
	return WrongSubtype(field, v, uuidType)
}

// WrongSubtype returns the error of a field that is no binary data of the subtype of the
// given name.
func WrongSubtype(field string, v value.Value, want string) error {
	if v.Kind() != value.KindBinary {
		return TypeError(field, v, "binData")
	}
	subtype, _ := v.Binary()
	name, known := binaryTypes[subtype]
	if !known {
		name = "invalid"
	}
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong binData type '%s', expected type '%s'", field, name, want)
}
