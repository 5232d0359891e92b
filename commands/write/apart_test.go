package write_test

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage/bunt"
)

// prompter runs a function each time a script prints, before the script continues.
type prompter struct {
	times int
	then  func(times int)
}

func (p *prompter) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "JavaScript output") {
		p.times++
		p.then(p.times)
	}
	return len(line), nil
}

// newPrompted returns a harness over data on disk whose scripts call p.
func newPrompted(t *testing.T, p *prompter) *harness.Harness {
	t.Helper()
	manual := clock.NewManual(harness.TestStart)
	engine, err := bunt.Open(bunt.Options{Path: t.TempDir(), Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	return harness.NewOver(t, engine, manual, kernel.Options{Log: zerolog.New(p)})
}

// other returns the harness on another connection.
func other(h *harness.Harness) *harness.Harness {
	o := *h
	o.Conn = h.Svc.NewConn("127.0.0.1:2", "127.0.0.1:27017")
	return &o
}

const (
	whereOne = `"$where": "function() { print('judging'); return this.a == 1 }"`
	tenfold  = `{"$function": {"body": "function(a) { print('judging'); return a * 10 }", "args": ["$a"], "lang": "js"}}`
)

// The result of a script is used only for the version of the document that it has
// evaluated: if the document changes before it is written, the script evaluates it again.
func TestJudgedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		setup, command string
		at             int // number of the print with which something happens, 0: with each
		meanwhile      string
		code           int32
		want           string // expected part of the reply
		left           string // find's filter, of documents that must be there, and no others
		prints         int
	}{
		"update: it does not match any more": {
			command: `{"update": "c", "updates": [{"q": {` + whereOne + `}, "u": {"$set": {"x": 1}}}]}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`,
			at:      2, meanwhile: `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 2}}}]}`,
			want: `{"n": 0, "nModified": 0, "ok": 1.0}`, left: `[{"_id": 1, "a": 2}]`, prints: 3,
		},
		"update: another field has changed, which stays so": {
			command: `{"update": "c", "updates": [{"q": {` + whereOne + `}, "u": {"$set": {"x": 1}}}]}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`,
			at:      2, meanwhile: `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"y": 1}}}]}`,
			want: `{"n": 1, "nModified": 1, "ok": 1.0}`, left: `[{"_id": 1, "a": 1, "y": 1, "x": 1}]`, prints: 3,
		},
		"update, positional": {
			command: `{"update": "c", "updates": [{"q": {"l": 5, ` + whereOne + `}, "u": {"$set": {"l.$": 6}}}]}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1, "l": [4, 5]}]}`,
			at:      2, meanwhile: `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"l": [5, 7]}}}]}`,
			want: `{"n": 1, "nModified": 1, "ok": 1.0}`, left: `[{"_id": 1, "a": 1, "l": [6, 7]}]`, prints: 3,
		},
		"update: it is gone": {
			command: `{"update": "c", "updates": [{"q": {` + whereOne + `}, "u": {"$set": {"x": 1}}}]}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`,
			at:      2, meanwhile: `{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`,
			want: `{"n": 0, "nModified": 0, "ok": 1.0}`, left: `[]`, prints: 2,
		},
		"update: the collection is gone": {
			command: `{"update": "c", "updates": [{"q": {` + whereOne + `}, "u": {"$set": {"x": 1}}}]}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`,
			at:      2, meanwhile: `{"drop": "c"}`, code: 175, left: `[]`, prints: 2,
		},
		"update, multi": {
			command: `{"update": "c", "updates": [{"q": {` + whereOne + `}, "u": {"$set": {"x": 1}}, "multi": true}]}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 2, "a": 1}, {"_id": 3, "a": 1}]}`,
			at:      5, meanwhile: `{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"a": 2}}}]}`,
			want: `{"n": 2, "nModified": 2, "ok": 1.0}`, left: `[{"_id": 1, "a": 1, "x": 1}, {"_id": 2, "a": 2}, {"_id": 3, "a": 1, "x": 1}]`, prints: 7,
		},
		"update, upsert: what matched is gone": {
			command: `{"update": "c", "updates": [{"q": {"_id": 7, ` + whereOne + `}, "u": {"$set": {"x": 1}}, "upsert": true}]}`,
			setup:   `{"insert": "c", "documents": [{"_id": 7, "a": 1}]}`,
			at:      2, meanwhile: `{"delete": "c", "deletes": [{"q": {"_id": 7}, "limit": 1}]}`,
			want: `{"n": 1, "upserted": [{"index": 0, "_id": 7}], "nModified": 0, "ok": 1.0}`, left: `[{"_id": 7, "x": 1}]`, prints: 2,
		},
		"pipeline update by _id": {
			command: `{"update": "c", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"x": ` + tenfold + `}}]}]}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`,
			at:      1, meanwhile: `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"a": 1}}}]}`,
			want: `{"n": 1, "nModified": 1, "ok": 1.0}`, left: `[{"_id": 1, "a": 2, "x": 20.0}]`, prints: 2,
		},
		"delete: it does not match any more": {
			command: `{"delete": "c", "deletes": [{"q": {` + whereOne + `}, "limit": 0}]}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 2, "a": 1}]}`,
			at:      4, meanwhile: `{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"a": 2}}}]}`,
			want: `{"n": 1, "ok": 1.0}`, left: `[{"_id": 2, "a": 2}]`, prints: 5,
		},
		"findAndModify: the next in the order": {
			command: `{"findAndModify": "c", "query": {` + whereOne + `}, "sort": {"s": 1}, "update": {"$set": {"x": 1}}, "new": true}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1, "s": 2}, {"_id": 2, "a": 1, "s": 1}]}`,
			at:      3, meanwhile: `{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"a": 2}}}]}`,
			want: `{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "a": 1, "s": 2, "x": 1}, "ok": 1.0}`,
			left: `[{"_id": 1, "a": 1, "s": 2, "x": 1}, {"_id": 2, "a": 2, "s": 1}]`, prints: 7,
		},
		"findAndModify: the next in the order of an index": {
			command: `{"findAndModify": "c", "query": {` + whereOne + `}, "sort": {"_id": 1}, "update": {"$set": {"x": 1}}, "new": true}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1, "s": 1}, {"_id": 2, "a": 1, "s": 2}]}`,
			at:      2, meanwhile: `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 2}}}]}`,
			want: `{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 2, "a": 1, "s": 2, "x": 1}, "ok": 1.0}`,
			left: `[{"_id": 1, "a": 2, "s": 1}, {"_id": 2, "a": 1, "s": 2, "x": 1}]`, prints: 5,
		},
		"findAndModify: the version that was changed": {
			command: `{"findAndModify": "c", "query": {"_id": 1}, "update": [{"$set": {"x": ` + tenfold + `}}]}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`,
			at:      1, meanwhile: `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"a": 1}}}]}`,
			want: `{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "a": 2}, "ok": 1.0}`, left: `[{"_id": 1, "a": 2, "x": 20.0}]`, prints: 2,
		},
		"$merge": {
			command: `{"aggregate": 1, "pipeline": [{"$documents": [{"_id": 1}]}, {"$merge": {"into": "c", "whenMatched": [{"$set": {"x": ` + tenfold + `}}]}}], "cursor": {}}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`,
			at:      1, meanwhile: `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"a": 1}}}]}`,
			left: `[{"_id": 1, "a": 2, "x": 20.0}]`, prints: 2,
		},
		"$merge: what matched is gone": {
			command: `{"aggregate": 1, "pipeline": [{"$documents": [{"_id": 1}]}, {"$merge": {"into": "c", "whenMatched": [{"$set": {"x": ` + tenfold + `}}], "whenNotMatched": "fail"}}], "cursor": {}}`,
			setup:   `{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`,
			at:      1, meanwhile: `{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`,
			code: 13113, left: `[]`, prints: 1,
		},
		"delete of measurements: the bucket has got another": {
			command: `{"delete": "m", "deletes": [{"q": {` + whereOne + `}, "limit": 0}]}`,
			setup:   `{"insert": "m", "documents": [{"t": {"$date": "2026-01-01T00:00:01Z"}, "_id": 1, "a": 1}, {"t": {"$date": "2026-01-01T00:00:02Z"}, "_id": 2, "a": 2}]}`,
			at:      2, meanwhile: `{"insert": "m", "documents": [{"t": {"$date": "2026-01-01T00:00:03Z"}, "_id": 3, "a": 1}]}`,
			want: `{"n": 2, "ok": 1.0}`, left: `[{"t": {"$date": "2026-01-01T00:00:02Z"}, "_id": 2, "a": 2}]`, prints: 5,
		},
		"a document that never rests": {
			command:   `{"update": "c", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"x": ` + tenfold + `}}]}]}`,
			setup:     `{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`,
			meanwhile: `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"a": 1}}}]}`,
			code:      112, left: `[{"_id": 1, "a": 101}]`, prints: write.MaxScriptRuns,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &prompter{}
			h := newPrompted(t, p)
			h.OK(`{"create": "m", "timeseries": {"timeField": "t"}}`)
			h.OK(test.setup)
			other := other(h)
			p.then = func(times int) {
				if test.at == 0 || times == test.at {
					other.OK(test.meanwhile)
				}
			}
			if test.code != 0 {
				h.Fails(test.code, test.command)
			} else if reply := h.OK(test.command); test.want != "" && reply.String() != harness.Relaxed(test.want).String() {
				t.Errorf("answered %s, want %s", reply, test.want)
			}
			if p.times != test.prints {
				t.Errorf("judged %d times, want %d", p.times, test.prints)
			}
			coll := "c"
			if strings.Contains(test.command, `"m"`) {
				coll = "m"
			}
			got := h.OK(`{"find": "` + coll + `", "sort": {"_id": 1}}`).Lookup("cursor").Doc().Lookup("firstBatch")
			if want := harness.Relaxed(`{"l": ` + test.left + `}`).Lookup("l"); got.String() != want.String() {
				t.Errorf("left %s, want %s", got, want)
			}
		})
	}
}

// Scripts never see expired documents.
func TestScriptsMeetNothingExpired(t *testing.T) {
	p := &prompter{then: func(int) {}}
	h := newPrompted(t, p)
	h.Admin(`{"setParameter": 1, "ttlMonitorEnabled": false}`)
	h.OK(`{"create": "c", "documentTtl": {"default": 10}}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`)
	h.Admin(`{"testClock": 1, "advanceSeconds": 5, "runDuePasses": false}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 2, "a": 1}]}`)
	h.Admin(`{"testClock": 1, "advanceSeconds": 6, "runDuePasses": false}`)
	if n := h.OK(`{"update": "c", "updates": [{"q": {` + whereOne + `}, "u": {"$set": {"x": 1}}, "multi": true}]}`).Lookup("n").Int32(); n != 1 || p.times != 2 {
		t.Errorf("%d documents updated, the script run %d times", n, p.times)
	}
	if n := h.OK(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"x": ` + tenfold + `}}]}]}`).Lookup("n").Int32(); n != 0 || p.times != 2 {
		t.Errorf("%d expired documents updated, the script run %d times", n, p.times)
	}
	if n := h.OK(`{"delete": "c", "deletes": [{"q": {` + whereOne + `}, "limit": 0}]}`).Lookup("n").Int32(); n != 1 || p.times != 4 {
		t.Errorf("%d documents deleted, the script run %d times", n, p.times)
	}
}

// The retry of a write that has already been applied runs no script.
func TestRetriedScripts(t *testing.T) {
	for name, test := range map[string]struct {
		command, want, retry string
		prints               int
	}{
		"update": {
			`{"update": "c", "updates": [{"q": {` + whereOne + `}, "u": {"$inc": {"n": 1}}}]`,
			`{"n": 1, "nModified": 1, "ok": 1.0}`, `{"n": 1, "nModified": 1, "retriedStmtIds": [0], "ok": 1.0}`, 2,
		},
		"pipeline update": {
			`{"update": "c", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"a": ` + tenfold + `}}]}]`,
			`{"n": 1, "nModified": 1, "ok": 1.0}`, `{"n": 1, "nModified": 1, "retriedStmtIds": [0], "ok": 1.0}`, 1,
		},
		"findAndModify": {
			`{"findAndModify": "c", "query": {` + whereOne + `}, "remove": true`,
			`{"lastErrorObject": {"n": 1}, "value": {"_id": 1, "a": 1}, "ok": 1.0}`,
			`{"lastErrorObject": {"n": 1}, "value": {"_id": 1, "a": 1}, "retriedStmtId": 0, "ok": 1.0}`, 2,
		},
	} {
		p := &prompter{then: func(int) {}}
		h := newPrompted(t, p)
		h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`)
		command := test.command + `, "lsid": {"id": {"$uuid": "00000000-0000-4000-8000-000000000001"}}, "txnNumber": {"$numberLong": "1"}}`
		for _, want := range []string{test.want, test.retry} {
			if reply := h.OK(command); reply.String() != harness.Relaxed(want).String() {
				t.Errorf("%s: answered %s, want %s", name, reply, want)
			}
		}
		if p.times != test.prints {
			t.Errorf("%s: the script run %d times, want %d", name, p.times, test.prints)
		}
	}
}

// Within a transaction scripts see what the transaction sees.
func TestScriptsInTransaction(t *testing.T) {
	p := &prompter{then: func(int) {}}
	h := newPrompted(t, p)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": 1}]}`)
	in := `, "lsid": {"id": {"$uuid": "00000000-0000-4000-8000-000000000001"}}, "txnNumber": {"$numberLong": "1"}, "autocommit": false`
	h.OK(`{"insert": "c", "documents": [{"_id": 2, "a": 1}]` + in + `, "startTransaction": true}`)
	other := other(h)
	p.then = func(int) { other.OK(`{"insert": "d", "documents": [{}]}`) } // the writer is free
	if n := h.OK(`{"update": "c", "updates": [{"q": {` + whereOne + `}, "u": [{"$set": {"x": ` + tenfold + `}}], "multi": true}]` + in + `}`).Lookup("n").Int32(); n != 2 {
		t.Errorf("%d updated, want 2", n)
	}
	h.Admin(`{"commitTransaction": 1` + in + `}`)
	if n := h.OK(`{"count": "c", "query": {"x": 10}}`).Lookup("n").Int32(); n != 2 {
		t.Errorf("%d committed, want 2", n)
	}
}
