package args

import "github.com/duskdb/duskdb/value"

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
