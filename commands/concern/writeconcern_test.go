package concern_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// With one member no other can acknowledge: the write is applied, and the reply has a
// write concern error. A standalone server refuses the command.
func TestUnmetWriteConcern(t *testing.T) {
	for name, tt := range map[string]struct {
		command    string
		standalone int32 // code
		member     string
	}{
		"w: 3": {
			`{insert: "c", documents: [{}], writeConcern: {w: 3}}`, 2,
			`{code: 100, codeName: "UnsatisfiableWriteConcern", errmsg: "Not enough data-bearing nodes", errInfo: {writeConcern: {w: 3, wtimeout: 0, provenance: "clientSupplied"}}}`,
		},
		"wtimeout": {
			`{delete: "c", deletes: [{q: {}, limit: 0}], writeConcern: {w: 2, wtimeout: 10}}`, 2,
			`{code: 100, codeName: "UnsatisfiableWriteConcern", errmsg: "Not enough data-bearing nodes", errInfo: {writeConcern: {w: 2, wtimeout: 10, provenance: "clientSupplied"}}}`,
		},
		"mode": {
			`{findAndModify: "c", query: {}, update: {$set: {a: 1}}, upsert: true, writeConcern: {w: "dc"}}`, 2,
			`{code: 79, codeName: "UnknownReplWriteConcern", errmsg: "No write concern mode named 'dc' found in replica set configuration", errInfo: {writeConcern: {w: "dc", wtimeout: 0, provenance: "clientSupplied"}}}`,
		},
		"tags": {
			`{insert: "c", documents: [{}], writeConcern: {w: {dc: 1}}}`, 0,
			`{code: 100, codeName: "UnsatisfiableWriteConcern", errmsg: "Not enough data-bearing nodes", errInfo: {writeConcern: {w: {dc: 1}, wtimeout: 0, provenance: "clientSupplied"}}}`,
		},
		"majority": {`{insert: "c", documents: [{}], writeConcern: {w: "majority"}}`, 0, ""},
		"w: 1":     {`{create: "d", writeConcern: {w: 1}}`, 0, ""},
		"too many": {`{create: "d", writeConcern: {w: 51}}`, 9, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := harness.New(t)
			if tt.standalone == 9 || !h.Svc.InCluster() {
				h.Fails(tt.standalone, tt.command)
			}
			if tt.standalone == 9 {
				return
			}
			reply := harness.New(t).AsMember().OK(tt.command)
			want := ""
			if tt.member != "" {
				want = harness.Relaxed(tt.member).String()
			}
			if got := reply.Lookup("writeConcernError"); got.IsMissing() != (want == "") || want != "" && got.Doc().String() != want {
				t.Errorf("answered %s\nwant writeConcernError %s", reply, want)
			}
		})
	}
}

// A write that fails or changes nothing also waits for the write concern, after
// jstests/replsets/noop_writes_wait_for_write_concern.js; a refused command does not.
func TestUnmetWriteConcernOfFailure(t *testing.T) {
	for command, code := range map[string]int32{
		`{insert: "c", documents: [{_id: 1}]}`:                                             11000,
		`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]}`:                       0,
		`{update: "c", updates: [{q: {_id: 1}, u: {$set: {_id: 2}}}]}`:                     66,
		`{delete: "c", deletes: [{q: {_id: 5}, limit: 1}]}`:                                0,
		`{findAndModify: "c", query: {_id: 5}, update: {b: 2}}`:                            0,
		`{findAndModify: "c", query: {_id: 1}, update: {$inc: {s: 1}}}`:                    14,
		`{findAndModify: "c", query: {_id: 2}, update: {$set: {u: 1}}}`:                    11000,
		`{create: "c", capped: true, size: 1024}`:                                          48,
		`{createIndexes: "c", indexes: [{key: {u: 1}, name: "u_1", unique: true}]}`:        0,
		`{createIndexes: "c", indexes: [{key: {u: 1}, name: "u_1", unique: false}]}`:       86,
		`{createIndexes: "c", indexes: [{key: {s: 1}, name: "s_1", unique: true}]}`:        11000,
		`{dropIndexes: "c", index: "none"}`:                                                27,
		`{drop: "none"}`:                                                                   0,
		`{dropDatabase: 1}`:                                                                0,
		`{collMod: "none"}`:                                                                26,
		`{bulkWrite: 1, ops: [{insert: 0, document: {_id: 1}}], nsInfo: [{ns: "test.c"}]}`: 11000,
		`{renameCollection: "test.none", to: "test.other"}`:                                26,
		`{insert: "c", documents: [{_id: 7}], none: 1}`:                                    -40415,
		`{insert: "", documents: [{_id: 7}]}`:                                              -73,
		`{findAndModify: "c", query: {_id: 1}}`:                                            -9,
	} {
		h := harness.New(t).AsMember()
		h.OK(`{createIndexes: "c", indexes: [{key: {u: 1}, name: "u_1", unique: true}]}`)
		h.OK(`{insert: "c", documents: [{_id: 1, a: 1, u: 1, s: "x"}, {_id: 2, u: 2, s: "x"}]}`)
		run := h.Run
		if strings.HasPrefix(command, "{renameCollection") || strings.HasPrefix(command, "{bulkWrite") {
			run = h.Admin
		}
		r := run(strings.TrimSuffix(command, "}") + `, writeConcern: {w: 3}}`)
		got := r.Lookup("code").Int32()
		for _, list := range []value.Value{r.Lookup("writeErrors"), r.Lookup("cursor").Doc().Lookup("firstBatch")} {
			if first := list.Doc().Index(0); !first.IsMissing() {
				got = first.Doc().Lookup("code").Int32()
			}
		}
		if got != max(code, -code) {
			t.Errorf("%s answered %s, want code %d", command, r, code)
		}
		if concern := r.Lookup("writeConcernError").Doc().Lookup("code").Int32(); code < 0 && concern != 0 || code >= 0 && concern != 100 {
			t.Errorf("%s answered %s", command, r)
		}
	}
}

// A commit that comes too late, after jstests/replsets/transactions_wait_with_write_concern.js:
// as long as the write concern is not satisfied, the error does not have the label
// TransientTransactionError.
func TestUnmetWriteConcernOfLostCommit(t *testing.T) {
	h := harness.New(t).AsMember()
	r := h.Admin(harness.InTxnArgs(`{"commitTransaction": 1}`, 1, false))
	if r.Lookup("code").Int32() != 251 || r.Lookup("errorLabels").Doc().Index(0).Str() != "TransientTransactionError" || r.Has("writeConcernError") {
		t.Error(r)
	}
	r = h.Admin(harness.InTxnArgs(`{"commitTransaction": 1, "writeConcern": {"w": 3}}`, 1, false))
	if r.Lookup("code").Int32() != 251 || r.Has("errorLabels") || r.Lookup("writeConcernError").Doc().Lookup("code").Int32() != 100 {
		t.Error(r)
	}
}

// The commit of a transaction has a write concern like any write; its statements do not.
func TestUnmetWriteConcernOfCommit(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{create: "c"}`)
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 1, true))
	reply := h.Admin(harness.InTxnArgs(`{"commitTransaction": 1, "writeConcern": {"w": 2}}`, 1, false))
	if reply.Lookup("writeConcernError").Doc().Lookup("code").Int32() != 100 || h.Count("c") != 1 {
		t.Errorf("answered %s", reply)
	}
}

func TestOutIsNotLinearizable(t *testing.T) {
	h := harness.New(t).AsMember()
	for _, stage := range []string{`{$out: "d"}`, `{$merge: {into: "d"}}`} {
		h.Fails(72, `{aggregate: "c", pipeline: [`+stage+`], cursor: {}, readConcern: {level: "linearizable"}}`)
	}
	h.OK(`{aggregate: "c", pipeline: [], cursor: {}, readConcern: {level: "linearizable"}}`)
}

// The reply to a write with w: 0 in a message that expects a reply has no results, as in
// batch_write_command_w0.js of MongoDB's tests; only a command that cannot begin fails.
func TestUnacknowledgedWrite(t *testing.T) {
	for name, tt := range map[string]struct{ command, reply string }{
		"insert":      {`{insert: "c", documents: [{_id: 2}, {_id: 1}, {_id: 3}], writeConcern: {w: 0}}`, `{n: 0, ok: 1.0}`},
		"update":      {`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}}, {q: {_id: 2}, u: {$set: {_id: 1}}, upsert: true}], writeConcern: {w: 0}}`, `{n: 0, nModified: 0, ok: 1.0}`},
		"upsert":      {`{update: "c", updates: [{q: {_id: 2}, u: {$set: {a: 1}}, upsert: true}], writeConcern: {w: 0, wtimeout: 5}}`, `{n: 0, nModified: 0, ok: 1.0}`},
		"delete":      {`{delete: "c", deletes: [{q: {$set: {a: 1}}, limit: 0}, {q: {_id: 1}, limit: 0}], ordered: false, writeConcern: {w: 0}}`, `{n: 0, ok: 1.0}`},
		"journaled":   {`{insert: "c", documents: [{_id: 2}], writeConcern: {w: 0, j: true}}`, `{n: 1, ok: 1.0}`},
		"findModify":  {`{findAndModify: "c", query: {_id: 1}, remove: true, writeConcern: {w: 0}}`, `{lastErrorObject: {n: 1}, value: {_id: 1}, ok: 1.0}`},
		"acknowledge": {`{insert: "c", documents: [{_id: 2}], writeConcern: {w: 1}}`, `{n: 1, ok: 1.0}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := harness.New(t)
			h.OK(`{insert: "c", documents: [{_id: 1}]}`)
			if got, want := harness.Plain(h.Run(tt.command)).String(), harness.Relaxed(tt.reply).String(); got != want {
				t.Errorf("%s\nanswered %s\nwant     %s", tt.command, got, want)
			}
		})
	}
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 2}, {_id: 1}, {_id: 2}, {_id: 3}], writeConcern: {w: 0}}`)
	if h.Count("c") != 2 {
		t.Error("an ordered batch goes on behind its error")
	}
	h.Fails(16, `{insert: "c", documents: [], writeConcern: {w: 0}}`)
}

// A bulkWrite with w: 0 keeps no cursor for its results.
func TestUnacknowledgedBulkWrite(t *testing.T) {
	h := harness.New(t)
	reply := h.Admin(`{bulkWrite: 1, ops: [{insert: 0, document: {}}, {insert: 0, document: {}}, {insert: 0, document: {}}],
		nsInfo: [{ns: "test.c"}], cursor: {batchSize: 2}, writeConcern: {w: 0}}`)
	if id := reply.Lookup("cursor").Doc().Lookup("id"); id.SafeInt64() != 0 || !reply.Lookup("ok").Truthy() {
		t.Errorf("answered %s", reply)
	}
	if h.Count("c") != 3 {
		t.Error("the documents are not there")
	}
}
