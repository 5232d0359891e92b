package args

import (
	"github.com/duskdb/duskdb/value"
)

// UUIDArg is an argument that must be a UUID: collectionUUID, by which a client
// says which collection it takes the one of that name for.
type UUIDArg value.Value

func (u UUIDArg) Given() bool { return !value.Value(u).IsMissing() }

func IsUUID(v value.Value) bool {
	subtype, _ := v.Binary()
	return v.Kind() == value.KindBinary && subtype == 4
}
