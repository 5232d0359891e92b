package commands

import "testing"

// With one member no other can acknowledge: the write is done, and the reply
// says what is missing. A standalone refuses beforehand.
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
		"majority": {`{insert: "c", documents: [{}], writeConcern: {w: "majority"}}`, 0, ""},
		"w: 1":     {`{create: "d", writeConcern: {w: 1}}`, 0, ""},
		"too many": {`{create: "d", writeConcern: {w: 51}}`, 9, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.fails(tt.standalone, tt.command)
			if tt.standalone == 9 {
				return
			}
			reply := newHarness(t).asMember().ok(tt.command)
			want := ""
			if tt.member != "" {
				want = relaxed(tt.member).String()
			}
			if got := reply.Lookup("writeConcernError"); got.IsMissing() != (want == "") || want != "" && got.Doc().String() != want {
				t.Errorf("answered %s\nwant writeConcernError %s", reply, want)
			}
		})
	}
}

// The commit of a transaction is as any write; its statements carry none.
func TestUnmetWriteConcernOfCommit(t *testing.T) {
	h := newHarness(t).asMember()
	h.ok(`{create: "c"}`)
	h.ok(inTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 1, true))
	reply := h.admin(inTxnArgs(`{"commitTransaction": 1, "writeConcern": {"w": 2}}`, 1, false))
	if reply.Lookup("writeConcernError").Doc().Lookup("code").Int32() != 100 || h.count("c") != 1 {
		t.Errorf("answered %s", reply)
	}
}

func TestOutIsNotLinearizable(t *testing.T) {
	h := newHarness(t).asMember()
	for _, stage := range []string{`{$out: "d"}`, `{$merge: {into: "d"}}`} {
		h.fails(72, `{aggregate: "c", pipeline: [`+stage+`], cursor: {}, readConcern: {level: "linearizable"}}`)
	}
	h.ok(`{aggregate: "c", pipeline: [], cursor: {}, readConcern: {level: "linearizable"}}`)
}
