package commands

import (
	"math"
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
	named        bool   // w names a mode, which may be the empty one
	tags         bool   // w names tags
	level        string
	apiVersion   string
	apiGiven     bool // apiVersion was given, whatever it says
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
	if k := v.Kind(); (k == value.KindNull || k == value.KindUndefined) && key != "$db" && key != "comment" {
		return nil // as if it had not been given
	}
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
		if v.Kind() != value.KindDocument {
			return typeError("$clusterTime", v, "object")
		}
		g.clusterTime = v.Doc()
	case "$readPreference":
		return g.readReadPreference(v)
	case "apiVersion":
		if v.Kind() != value.KindString {
			return typeError("APIParametersFromClient.apiVersion", v, "string")
		}
		g.apiVersion, g.apiGiven = strings.Clone(v.Str()), true
	case "apiStrict", "apiDeprecationErrors":
		return g.readAPIOption(key, v)
	}
	return nil
}

func (g *generic) readAPIOption(key string, v value.Value) error {
	if v.Kind() != value.KindBool {
		return typeError("APIParametersFromClient."+key, v, "bool")
	}
	g.apiOptions = true
	if key == "apiStrict" {
		g.apiStrict = v.Bool()
	} else {
		g.apiDeprecate = v.Bool()
	}
	return nil
}

func typeError(field string, v value.Value, want string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected type '%s'", field, v.Kind(), want)
}

func (g *generic) readMaxTime(v value.Value) error {
	if !v.IsNumber() {
		return wrongType("", "maxTimeMS", v, numberTypes)
	}
	n, err := exactInt64("maxTimeMS", v)
	if err != nil {
		return err
	}
	if n < 0 || n > math.MaxInt32 {
		return mongoerr.Newf(mongoerr.BadValue, "%d value for maxTimeMS is out of range [0, 2147483647]", n)
	}
	g.maxTime = time.Duration(n) * time.Millisecond
	return nil
}

// exactInt64 is a number that is a whole one and fits a long; name is that of
// the field, for the message.
func exactInt64(name string, v value.Value) (int64, error) {
	n, ok := v.AsInt64()
	switch {
	case ok:
		return n, nil
	case v.IsNaN():
		return 0, mongoerr.Newf(mongoerr.FailedToParse, "Expected an integer, but found NaN in: %s: %s", name, v)
	case v.AsDouble() == math.Trunc(v.AsDouble()):
		return 0, mongoerr.Newf(mongoerr.FailedToParse, "Cannot represent as a 64-bit integer: %s: %s", name, v)
	}
	return 0, mongoerr.Newf(mongoerr.FailedToParse, "Expected an integer: %s: %s", name, v)
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
