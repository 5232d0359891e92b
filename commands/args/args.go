package args

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Arguments are declared as structs:
//
//	type countArgs struct {
//		Coll  string    `arg:"count"`
//		Query value.Doc `arg:"query"`
//		Limit *int64    `arg:"limit"`
//		Hint  value.Value `arg:"hint,any"`
//	}
//
//	var countSpec = args.New[countArgs]("count")
//
// The tag is the field's name, optionally followed by ",required",
// ",nonneg" (a number that must not be negative), ",own" for a field that mongod
// reads by code of its own, with other messages, or ",any" for a field of any type
// that the command checks later: there null does not count as absent.
// The Go type decides which BSON types are accepted, as mongod's IDL does.
// The tags are read once, at start-up.

// Spec decodes the arguments of one command into T. Its methods only add the type to what
// [decoder] does: each of them is compiled once for every T.
type Spec[T any] struct{ *decoder }

// New makes the decoder of a command from the tags of T. It panics when a field has a
// type that no argument can have, or when there are too many of them: mistakes in the
// program, found at start-up.
func New[T any](command string) *Spec[T] {
	return &Spec[T]{newDecoder(command, reflect.TypeFor[T]())}
}

// Lenient makes the decoder ignore unknown fields, as mongod does for commands like
// hello, and returns s.
func (s *Spec[T]) Lenient() *Spec[T] {
	s.lenient = true
	return s
}

// Decode reads the command document into dst. It refuses unknown fields (40415),
// repeated ones (40413), wrong types (14) and missing required fields (40414).
func (s *Spec[T]) Decode(body value.Doc, dst *T) error {
	return s.decode(s.Command, body, dst, true)
}

// DecodeNested reads an embedded document, which has no generic arguments; prefix is
// how messages name it ("update.updates").
func (s *Spec[T]) DecodeNested(prefix string, d value.Doc, dst *T) error {
	return s.decode(prefix, d, dst, false)
}

// DecodeAs is Decode for a document that messages name prefix; generic reports
// whether generic arguments are accepted.
func (s *Spec[T]) DecodeAs(prefix string, body value.Doc, dst *T, generic bool) error {
	return s.decode(prefix, body, dst, generic)
}

// Borrow returns zeroed arguments to decode into. Hot commands return them with GiveBack
// when nothing refers to them any more; others leave them to the garbage collector.
func (s *Spec[T]) Borrow() *T {
	if a, ok := s.pool.Get().(*T); ok {
		return a
	}
	return new(T)
}

// GiveBack returns borrowed arguments. The caller must not use them again.
func (s *Spec[T]) GiveBack(a *T) {
	var zero T
	*a = zero
	s.pool.Put(a)
}

// IsGeneric reports whether name is that of a generic argument, which every command accepts
// and the dispatcher reads.
func IsGeneric(name string) bool {
	switch name {
	case "$db", "lsid", "txnNumber", "autocommit", "startTransaction",
		"readConcern", "writeConcern", "$clusterTime", "$readPreference", "maxTimeMS",
		"comment", "apiVersion", "apiStrict", "apiDeprecationErrors", "$audit",
		"$client", "$configServerState", "$configTime", "$topologyTime", "allowImplicitCollectionCreation",
		"shardVersion", "databaseVersion", "clientOperationKey", "help", "$queryOptions",
		"$oplogQueryData", "$replData", "stmtId", "stmtIds", "coordinator",
		"mayBypassWriteBlocking", "expectPrefix", "operationSessionInfo", "maxTimeMSOpOnly", "requestResponse",
		"serialization_context", "rawData", "originalQueryShapeHash", "querySettings", "usesDefaultMaxTimeMS":
		return true
	}
	return false
}

// WrongType is the error (TypeMismatch, 14) for the field prefix.name, whose value v
// has none of the types that are accepted. types is one type or a list like
// [NumberTypes], as the message shows it.
func WrongType(prefix, name string, v value.Value, types string) error {
	if strings.Contains(types, ",") {
		return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected types '[%s]'", prefix, name, v.Kind(), types)
	}
	return TypeError(prefix+"."+name, v, types)
}

// TypeError is the error (TypeMismatch, 14) for the field of that full name, whose
// value v is not of the type want.
func TypeError(field string, v value.Value, want string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected type '%s'", field, v.Kind(), want)
}

// ArrayDocs returns the documents of an array argument, as "users" of
// killAllSessions. As in mongod's IDL parser, nulls are skipped.
func ArrayDocs(command, name string, a Array) ([]value.Doc, error) {
	var out []value.Doc
	i := 0
	for v := range value.Doc(a).Values() {
		if k := v.Kind(); k == value.KindNull || k == value.KindUndefined {
			i++
			continue
		}
		if v.Kind() != value.KindDocument {
			return nil, WrongType(command, fmt.Sprintf("%s.%d", name, i), v, "object")
		}
		out = append(out, v.Doc())
		i++
	}
	return out, nil
}
