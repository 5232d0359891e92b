package kernel_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
)

// The errors of mongod's parsers for the generic arguments (ReadConcernArgs,
// WriteConcernOptions, OperationSessionInfo, APIParametersFromClient), with messages.
func TestGenericArgumentErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ field, err string }{
		{`readConcern: 1`, "TypeMismatch: BSON field 'readConcern' is the wrong type 'int', expected type 'object'"},
		{`readConcern: {level: 1}`, "TypeMismatch: BSON field 'readConcern.level' is the wrong type 'int', expected type 'string'"},
		{`readConcern: {level: "most"}`, "BadValue: Enumeration value 'most' for field 'readConcern.level' is not a valid value."},
		{`readConcern: {afterClusterTime: 1}`, "TypeMismatch: BSON field 'readConcern.afterClusterTime' is the wrong type 'int', expected type 'timestamp'"},
		{`readConcern: {atClusterTime: "x"}`, "TypeMismatch: BSON field 'readConcern.atClusterTime' is the wrong type 'string', expected type 'timestamp'"},
		{`readConcern: {allowTransactionTableSnapshot: 1}`, "TypeMismatch: BSON field 'readConcern.allowTransactionTableSnapshot' is the wrong type 'int', expected type 'bool'"},
		{`readConcern: {provenance: 1}`, "TypeMismatch: BSON field 'readConcern.provenance' is the wrong type 'int', expected type 'string'"},
		{`readConcern: {provenance: "x"}`, "BadValue: Enumeration value 'x' for field 'readConcern.provenance' is not a valid value."},
		{`readConcern: {odd: 1}`, "IDLUnknownField: BSON field 'readConcern.odd' is an unknown field."},
		{`writeConcern: "x"`, "TypeMismatch: BSON field 'writeConcern' is the wrong type 'string', expected type 'object'"},
		{`writeConcern: {w: true}`, "FailedToParse: w has to be a number, string, or object; found: bool"},
		{`writeConcern: {w: -1}`, "FailedToParse: w has to be a non-negative number and not greater than 50; found: -1"},
		{`writeConcern: {w: 51}`, "FailedToParse: w has to be a non-negative number and not greater than 50; found: 51"},
		{`writeConcern: {w: {$numberDouble: "NaN"}}`, "FailedToParse: w cannot be NaN"},
		{`writeConcern: {w: {}}`, "FailedToParse: tagged write concern requires tags"},
		{`writeConcern: {w: {dc: "x"}}`, `FailedToParse: tags must be a single level document with only number values; found: dc: "x"`},
		{`writeConcern: {w: "a\u0000b"}`, "FailedToParse: w has illegal embedded NUL byte, w: a\x00b"},
		{`writeConcern: {j: "x"}`, "TypeMismatch: BSON field 'writeConcern.j' is the wrong type 'string', expected types '[bool, long, int, decimal, double]'"},
		{`writeConcern: {j: true, fsync: true}`, "FailedToParse: fsync and j options cannot be used together"},
		{`writeConcern: {wtimeout: 2147483648}`, "FailedToParse: wtimeout must be a 32-bit integer"},
		{`writeConcern: {provenance: "x"}`, "BadValue: Enumeration value 'x' for field 'writeConcern.provenance' is not a valid value."},
		{`writeConcern: {odd: 1}`, "IDLUnknownField: BSON field 'writeConcern.odd' is an unknown field."},
		{`lsid: 1`, "TypeMismatch: BSON field 'OperationSessionInfo.lsid' is the wrong type 'int', expected type 'object'"},
		{`txnNumber: 1`, "TypeMismatch: BSON field 'OperationSessionInfo.txnNumber' is the wrong type 'int', expected type 'long'"},
		{`autocommit: 0`, "TypeMismatch: BSON field 'OperationSessionInfo.autocommit' is the wrong type 'int', expected type 'bool'"},
		{`startTransaction: 1`, "TypeMismatch: BSON field 'OperationSessionInfo.startTransaction' is the wrong type 'int', expected type 'bool'"},
		{`apiVersion: 1`, "TypeMismatch: BSON field 'APIParametersFromClient.apiVersion' is the wrong type 'int', expected type 'string'"},
		{`apiStrict: 1`, "TypeMismatch: BSON field 'APIParametersFromClient.apiStrict' is the wrong type 'int', expected type 'bool'"},
		{`apiDeprecationErrors: "x"`, "TypeMismatch: BSON field 'APIParametersFromClient.apiDeprecationErrors' is the wrong type 'string', expected type 'bool'"},
		{`$clusterTime: 1`, "TypeMismatch: BSON field '$clusterTime' is the wrong type 'int', expected type 'object'"},
		{`$readPreference: "x"`, "TypeMismatch: BSON field '$readPreference' is the wrong type 'string', expected type 'object'"},
		{`$readPreference: {mode: "x"}`, "BadValue: Could not parse $readPreference mode 'x'. Only the modes 'primary', 'primaryPreferred', 'secondary', 'secondaryPreferred', and 'nearest' are supported. :: caused by :: Enumeration value 'x' for field 'mode' is not a valid value."},
		{`$db: 1`, "TypeMismatch: BSON field '$db' is the wrong type 'int', expected type 'string'"},
		{`maxTimeMS: -1`, "BadValue: BSON field 'maxTimeMS' value must be >= 0, actual value '-1'"},
		{`maxTimeMS: {$numberLong: "2147483648"}`, "BadValue: BSON field 'maxTimeMS' value must be <= 2147483647, actual value '2147483648'"},
		{`maxTimeMS: "x"`, "TypeMismatch: BSON field 'ping.maxTimeMS' is the wrong type 'string', expected types '[long, int, decimal, double]'"},
		{`maxTimeMS: {$numberDecimal: "1.5"}`, "FailedToParse: Cannot represent as a 64-bit integer: maxTimeMS: 1.5"},
		{`maxTimeMS: {$numberDecimal: "NaN"}`, "FailedToParse: Cannot represent as a 64-bit integer: maxTimeMS: NaN"},
		{`maxTimeMS: -1.5`, "FailedToParse: Expected an integer: maxTimeMS: -1.5"},
		{`maxTimeMS: 1.5`, "FailedToParse: Expected an integer: maxTimeMS: 1.5"},
		{`maxTimeMS: {$numberDouble: "NaN"}`, "FailedToParse: Expected an integer, but found NaN in: maxTimeMS: *"},
		{`maxTimeMS: 1e300`, "FailedToParse: Cannot represent as a 64-bit integer: maxTimeMS: *"},
	} {
		var g kernel.Generic
		_, err := g.Read("ping", harness.Relaxed(`{ping: 1, `+tt.field+`}`))
		if err == nil || !harness.Fits(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %s", tt.field, err, tt.err)
		}
	}
}

// The decoded values of the arguments.
func TestGenericArgumentsRead(t *testing.T) {
	t.Parallel()
	for field, holds := range map[string]func(g *kernel.Generic) bool{
		`writeConcern: {w: 0}`:                                   func(g *kernel.Generic) bool { return g.Unacked && !g.Named && g.Members == 0 },
		`writeConcern: {w: 1, wtimeout: "any"}`:                  func(g *kernel.Generic) bool { return !g.Unacked && !g.Named && g.Members == 0 && !g.Majority },
		`writeConcern: {w: 3}`:                                   func(g *kernel.Generic) bool { return g.Members == 3 },
		`writeConcern: {w: "majority"}`:                          func(g *kernel.Generic) bool { return g.Majority && !g.Named },
		`writeConcern: {w: "mine"}`:                              func(g *kernel.Generic) bool { return g.Named && g.Mode == "mine" },
		`writeConcern: {w: null}`:                                func(g *kernel.Generic) bool { return g.Named && g.Mode == "" },
		`writeConcern: {w: {dc: 2}}`:                             func(g *kernel.Generic) bool { return g.Tags },
		`writeConcern: {j: 1}`:                                   func(g *kernel.Generic) bool { return g.Durable },
		`writeConcern: {fsync: true}`:                            func(g *kernel.Generic) bool { return g.Durable },
		`writeConcern: {j: false, fsync: null, getLastError: 1}`: func(g *kernel.Generic) bool { return !g.Durable },
		`readConcern: {level: "majority", afterOpTime: 1, provenance: "implicitDefault"}`: func(g *kernel.Generic) bool { return g.Level == "majority" },
		`readConcern: {level: null, provenance: null}`:                                    func(g *kernel.Generic) bool { return g.Level == "" && g.ReadConcern != nil },
		`maxTimeMS: 5`:                        func(g *kernel.Generic) bool { return g.MaxTime.Milliseconds() == 5 },
		`apiVersion: "1", apiStrict: true`:    func(g *kernel.Generic) bool { return g.APIVersion == "1" && g.APIGiven && g.APIStrict && g.APIOptions },
		`apiDeprecationErrors: false`:         func(g *kernel.Generic) bool { return g.APIOptions && !g.APIDeprecationErrors && !g.APIGiven },
		`$readPreference: {mode: "nearest"}`:  func(g *kernel.Generic) bool { return g.ReadPref.Lookup("mode").Str() == "nearest" },
		`$clusterTime: {x: 1}, lsid: {id: 1}`: func(g *kernel.Generic) bool { return g.ClusterTime != nil && g.LSID != nil },
		`autocommit: false, startTransaction: true, txnNumber: {$numberLong: "7"}`: func(g *kernel.Generic) bool {
			return !*g.Autocommit && *g.StartTxn && *g.TxnNumber == 7
		},
		`autocommit: null, txnNumber: null, writeConcern: null, apiStrict: null`: func(g *kernel.Generic) bool {
			return g.Autocommit == nil && g.TxnNumber == nil && g.WriteConcern == nil && !g.APIOptions
		},
	} {
		var g kernel.Generic
		db, err := g.Read("ping", harness.Relaxed(`{ping: 1, `+field+`, comment: "c", $db: "test"}`))
		if err != nil || db != "test" || !holds(&g) {
			t.Errorf("%s on %s: %v, %+v", field, db, err, g)
		}
	}
}
