package kernel

import (
	"math"
	"strings"
	"time"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Generic has the arguments that every command accepts.
type Generic struct {
	LSID                 value.Doc     // id of the session; nil: none
	TxnNumber            *int64        // the number of the transaction or retryable write; nil: neither
	Autocommit           *bool         // given in transactions alone, always false
	StartTxn             *bool         // startTransaction
	ReadConcern          value.Doc     // the argument readConcern
	WriteConcern         value.Doc     // the argument writeConcern
	MaxTime              time.Duration // maxTimeMS; 0: no limit
	MaxTimeGiven         bool          // maxTimeMS was given, if only as 0
	ClusterTime          value.Doc     // $clusterTime
	ReadPref             value.Doc     // $readPreference
	Durable              bool          // writeConcern asks for the journal
	Majority             bool          // w: "majority"
	Unacked              bool          // w: 0
	Members              int64         // w, if it is more than the number of members
	Mode                 string        // w, if it names a mode other than "majority"
	Named                bool          // w names a mode, which may be the empty one
	Tags                 bool          // w names tags
	Level                string        // the level of the read concern; "": none was given
	RawGiven, RawData    bool          // rawData was given; its value
	APIVersion           string        // "": none was given
	APIGiven             bool          // apiVersion was given, whatever it says
	APIStrict            bool          // whether anything outside the API version is refused
	APIDeprecationErrors bool          // apiDeprecationErrors
	APIOptions           bool          // one of the two was given, whatever it says
}

// Read reads the generic arguments of the command of that name and returns its database, which
// aliases the message.
func (g *Generic) Read(command string, body value.Doc) (db string, err error) {
	it := body.Iter()
	it.Next() // the command itself
	for it.Next() {
		if err = g.field(command, it.Key(), it.Value(), &db); err != nil {
			return db, err
		}
	}
	return db, nil
}

func (g *Generic) field(command, key string, v value.Value, db *string) error {
	if k := v.Kind(); (k == value.KindNull || k == value.KindUndefined) && key != "$db" {
		return nil // counts as absent
	}
	switch key {
	case "$db":
		if v.Kind() != value.KindString {
			return args.TypeError("$db", v, "string")
		}
		*db = v.Str()
	case "lsid":
		if v.Kind() != value.KindDocument {
			return args.TypeError("OperationSessionInfo.lsid", v, "object")
		}
		g.LSID = v.Doc()
	case "txnNumber":
		if v.Kind() != value.KindInt64 {
			return args.TypeError("OperationSessionInfo.txnNumber", v, "long")
		}
		n := v.Int64()
		g.TxnNumber = &n
	case "autocommit":
		if v.Kind() != value.KindBool {
			return args.TypeError("OperationSessionInfo.autocommit", v, "bool")
		}
		g.Autocommit = given(v.Bool())
	case "startTransaction":
		if v.Kind() != value.KindBool {
			return args.TypeError("OperationSessionInfo.startTransaction", v, "bool")
		}
		g.StartTxn = given(v.Bool())
	case "readConcern":
		return g.ParseReadConcern(v)
	case "writeConcern":
		return g.ParseWriteConcern(v)
	case "maxTimeMS":
		return g.readMaxTime(command, v)
	case "$clusterTime":
		if v.Kind() != value.KindDocument {
			return args.TypeError("$clusterTime", v, "object")
		}
		g.ClusterTime = v.Doc()
	case "$readPreference":
		return g.readReadPreference(v)
	case "rawData":
		if v.Kind() != value.KindBool {
			return args.TypeError("rawData", v, "bool")
		}
		g.RawGiven, g.RawData = true, v.Bool()
	case "apiVersion":
		if v.Kind() != value.KindString {
			return args.TypeError("APIParametersFromClient.apiVersion", v, "string")
		}
		g.APIVersion, g.APIGiven = strings.Clone(v.Str()), true
	case "apiStrict", "apiDeprecationErrors":
		return g.readAPIOption(key, v)
	}
	return nil
}

// given returns a pointer to an argument, which nobody writes to.
func given(b bool) *bool {
	if b {
		return &yes
	}
	return &no
}

var yes, no = true, false

func (g *Generic) readAPIOption(key string, v value.Value) error {
	if v.Kind() != value.KindBool {
		return args.TypeError("APIParametersFromClient."+key, v, "bool")
	}
	g.APIOptions = true
	if key == "apiStrict" {
		g.APIStrict = v.Bool()
	} else {
		g.APIDeprecationErrors = v.Bool()
	}
	return nil
}

func (g *Generic) readMaxTime(command string, v value.Value) error {
	if !v.IsNumber() {
		if command == "find" { // the one command whose arguments have another name
			command = "FindCommandRequest"
		}
		return args.WrongType(command, "maxTimeMS", v, args.NumberTypes)
	}
	n, complaint := v.ExactInt64()
	if complaint != "" {
		return mongoerr.Newf(mongoerr.FailedToParse, "%s: maxTimeMS: %s", complaint, v)
	}
	switch {
	case n < 0:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field 'maxTimeMS' value must be >= 0, actual value '%d'", n)
	case n > math.MaxInt32:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field 'maxTimeMS' value must be <= 2147483647, actual value '%d'", n)
	}
	g.MaxTimeGiven = true
	g.MaxTime = time.Duration(n) * time.Millisecond
	return nil
}

var readPreferenceModes = map[string]bool{
	"primary": true, "primaryPreferred": true, "secondary": true, "secondaryPreferred": true, "nearest": true,
}

func (g *Generic) readReadPreference(v value.Value) error {
	if v.Kind() != value.KindDocument {
		return args.TypeError("$readPreference", v, "object")
	}
	g.ReadPref = v.Doc()
	if mode := g.ReadPref.Lookup("mode"); mode.Kind() == value.KindString && !readPreferenceModes[mode.Str()] {
		return mongoerr.Newf(mongoerr.BadValue, "Could not parse $readPreference mode '%s'. Only the modes 'primary', 'primaryPreferred', 'secondary', 'secondaryPreferred', and 'nearest' are supported. :: caused by :: Enumeration value '%s' for field 'mode' is not a valid value.", mode.Str(), mode.Str())
	}
	return nil
}
