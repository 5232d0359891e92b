package commands

import (
	"strings"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// generic are the arguments every command takes.
type generic struct {
	lsid         value.Doc
	txnNumber    *int64
	autocommit   *bool
	startTxn     *bool
	readConcern  value.Doc
	writeConcern value.Doc
	maxTime      time.Duration
	comment      value.Value
	clusterTime  value.Doc
	readPref     value.Doc
	durable      bool   // writeConcern asks for the journal
	majority     bool   // w: "majority"
	unacked      bool   // w: 0
	members      int64  // w, where more members are wanted than there are
	mode         string // w, where it names a mode other than "majority"
	tags         bool   // w names tags
	level        string
	apiVersion   string
	apiStrict    bool
	apiDeprecate bool // apiDeprecationErrors
	apiOptions   bool // one of the two was given, whatever it says
}

// read picks the generic arguments out of a command and returns the
// database it is for, which aliases the message.
func (g *generic) read(body value.Doc) (db string, err error) {
	it := body.Iter()
	it.Next() // the command itself
	for it.Next() {
		if err = g.field(it.Key(), it.Value(), &db); err != nil {
			return db, err
		}
	}
	return db, nil
}

func (g *generic) field(key string, v value.Value, db *string) error {
	switch key {
	case "$db":
		if v.Kind() != value.KindString {
			return typeError("$db", v, "string")
		}
		*db = v.Str()
	case "lsid":
		if v.Kind() != value.KindDocument {
			return typeError("OperationSessionInfo.lsid", v, "object")
		}
		g.lsid = v.Doc()
	case "txnNumber":
		if v.Kind() != value.KindInt64 {
			return typeError("OperationSessionInfo.txnNumber", v, "long")
		}
		n := v.Int64()
		g.txnNumber = &n
	case "autocommit":
		if v.Kind() != value.KindBool {
			return typeError("OperationSessionInfo.autocommit", v, "bool")
		}
		b := v.Bool()
		g.autocommit = &b
	case "startTransaction":
		if v.Kind() != value.KindBool {
			return typeError("OperationSessionInfo.startTransaction", v, "bool")
		}
		b := v.Bool()
		g.startTxn = &b
	case "readConcern":
		return g.readReadConcern(v)
	case "writeConcern":
		return g.readWriteConcern(v)
	case "maxTimeMS":
		return g.readMaxTime(v)
	case "comment":
		g.comment = v
	case "$clusterTime":
		g.clusterTime = v.Doc()
	case "$readPreference":
		return g.readReadPreference(v)
	case "apiVersion":
		if v.Kind() != value.KindString {
			return typeError("APIParametersFromClient.apiVersion", v, "string")
		}
		g.apiVersion = strings.Clone(v.Str())
	case "apiStrict":
		g.apiStrict, g.apiOptions = v.Truthy(), true
	case "apiDeprecationErrors":
		g.apiDeprecate, g.apiOptions = v.Truthy(), true
	}
	return nil
}

func typeError(field string, v value.Value, want string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected type '%s'", field, v.Kind(), want)
}

func (g *generic) readMaxTime(v value.Value) error {
	if !v.IsNumber() {
		return mongoerr.Newf(mongoerr.BadValue, "maxTimeMS must be a number")
	}
	n, ok := v.AsInt64()
	if !ok {
		return mongoerr.New(mongoerr.BadValue, "maxTimeMS has non-integral value")
	}
	if n < 0 || n > 1<<31-1 {
		return mongoerr.Newf(mongoerr.BadValue, "%d value for maxTimeMS is out of range [0, 2147483647]", n)
	}
	g.maxTime = time.Duration(n) * time.Millisecond
	return nil
}

var readConcernLevels = map[string]bool{
	"local": true, "available": true, "majority": true, "linearizable": true, "snapshot": true,
}

func (g *generic) readReadConcern(v value.Value) error {
	if v.Kind() != value.KindDocument {
		return typeError("readConcern", v, "object")
	}
	g.readConcern = v.Doc()
	for key, e := range g.readConcern.All() {
		switch key {
		case "level":
			if e.Kind() != value.KindString {
				return typeError("readConcern.level", e, "string")
			}
			if !readConcernLevels[e.Str()] {
				return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'readConcern.level' is not a valid value.", e.Str())
			}
			g.level = strings.Clone(e.Str())
		case "afterClusterTime", "atClusterTime":
			if e.Kind() != value.KindTimestamp {
				return typeError("readConcern."+key, e, "timestamp")
			}
		case "provenance", "allowTransactionTableSnapshot", "waitLastStableRecoveryTimestamp", "$disableOpTimeCheck", "afterOpTime":
		default:
			return mongoerr.Newf(40415, "BSON field 'readConcern.%s' is an unknown field.", key)
		}
	}
	return nil
}

func (g *generic) readWriteConcern(v value.Value) error {
	if v.Kind() != value.KindDocument {
		return typeError("writeConcern", v, "object")
	}
	g.writeConcern = v.Doc()
	for key, e := range g.writeConcern.All() {
		switch key {
		case "w":
			if err := g.readW(e); err != nil {
				return err
			}
		case "j":
			if !e.IsNumber() && e.Kind() != value.KindBool {
				return mongoerr.Newf(mongoerr.FailedToParse, "BSON field 'writeConcern.j' is the wrong type '%s', expected types '[bool, long, int, decimal, double]'", e.Kind())
			}
			g.durable = g.durable || e.Truthy()
		case "fsync":
			g.durable = g.durable || e.Truthy()
		case "wtimeout":
			if !e.IsNumber() {
				return typeError("writeConcern.wtimeout", e, "safeInt64")
			}
		case "provenance", "wElectionId", "wOpTime", "getLastError":
		default:
			return mongoerr.Newf(40415, "BSON field 'writeConcern.%s' is an unknown field.", key)
		}
	}
	return nil
}

// readW reads the number of members that must acknowledge a write. There is
// one member: what cannot be had is noted for checkWriteConcern.
func (g *generic) readW(v value.Value) error {
	switch {
	case v.Kind() == value.KindString:
		if v.Str() == "majority" {
			g.majority = true
			return nil
		}
		g.mode = strings.Clone(v.Str())
		return nil
	case v.IsNumber():
		n := v.TruncInt64()
		switch {
		case n < 0 || n > 50:
			return mongoerr.New(mongoerr.FailedToParse, "w has to be a non-negative number and not greater than 50")
		case n == 0:
			g.unacked = true
		case n > 1:
			g.members = n
		}
		return nil
	case v.Kind() == value.KindDocument:
		g.tags = true
		return nil
	}
	return mongoerr.New(mongoerr.FailedToParse, "w has to be a number, string, or object")
}

var readPreferenceModes = map[string]bool{
	"primary": true, "primaryPreferred": true, "secondary": true, "secondaryPreferred": true, "nearest": true,
}

func (g *generic) readReadPreference(v value.Value) error {
	if v.Kind() != value.KindDocument {
		return typeError("$readPreference", v, "object")
	}
	g.readPref = v.Doc()
	if mode := g.readPref.Lookup("mode"); mode.Kind() == value.KindString && !readPreferenceModes[mode.Str()] {
		return mongoerr.Newf(mongoerr.FailedToParse, "Enumeration value '%s' for field '$readPreference.mode' is not a valid value.", mode.Str())
	}
	return nil
}
