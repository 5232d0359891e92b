package args

import (
	"fmt"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

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
