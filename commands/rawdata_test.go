package commands_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/value"
)

// seriesHarness has a time series with two buckets of three measurements.
func seriesHarness(t *testing.T, d dialect.Dialect) *harness.Harness {
	h := harness.NewOf(t, d)
	h.OK(`{create: "ts", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{insert: "ts", documents: [
		{t: {$date: "2002-05-29T00:00:00Z"}, m: "1", v: "foo"}, {t: {$date: "2002-05-29T00:00:00Z"}, m: "1", v: "bar"},
		{t: {$date: "2002-05-29T00:00:00Z"}, m: "2", v: "baz"}]}`)
	return h
}

// With rawData the commands on a time series see and change its buckets.
func TestRawData(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`{find: "ts", filter: {"control.count": 2}, projection: {_id: 0, meta: 1}, rawData: true}`:                                               `{ meta: "1" }`,
		`{find: "ts", filter: {"control.count": 2}, rawData: false}`:                                                                             ``,
		`{aggregate: "ts", pipeline: [{$match: {"control.count": 2}}, {$project: {_id: 0, meta: 1}}], cursor: {}, rawData: true}`:                `{ meta: "1" }`,
		`{aggregate: "ts", pipeline: [{$indexStats: {}}, {$match: {name: "m_1_t_1"}}, {$project: {_id: 0, key: 1}}], cursor: {}, rawData: true}`: `{ key: { meta: 1, control.min.t: 1, control.max.t: 1 } }`,
		`{count: "ts", query: {"control.count": 2}, rawData: true}`:                                                                              `1`,
		`{distinct: "ts", key: "control.count", rawData: true}`:                                                                                  `[ 1, 2 ]`,
		`{delete: "ts", deletes: [{q: {"control.count": 2}, limit: 1}], rawData: true}`:                                                          `1`,
		`{update: "ts", updates: [{q: {"control.count": 2}, u: {$set: {meta: "3"}}}], rawData: true}`:                                            `1`,
		`{findAndModify: "ts", query: {"control.count": 2}, update: {$set: {meta: "3"}}, new: true, fields: {_id: 0, meta: 1}, rawData: true}`:   `{ meta: "3" }`,
	} {
		h := seriesHarness(t, dialect.Mongo82)
		reply := h.OK(command)
		got := reply.Lookup("n").String()
		switch {
		case reply.Has("cursor"):
			got = strings.Trim(fmt.Sprint(harness.Docs(reply)), "[]")
		case reply.Has("values"):
			got = reply.Lookup("values").String()
		case reply.Has("value"):
			got = reply.Lookup("value").String()
		}
		if got != want {
			t.Errorf("%s gives %s, want %s", command, got, want)
		}
	}
}

// Indexes, insertions, explain and bulkWrite likewise; other collections are as ever.
func TestRawDataOfOthers(t *testing.T) {
	t.Parallel()
	h := seriesHarness(t, dialect.Mongo82)
	bucket := harness.Docs(h.OK(`{find: "ts", filter: {meta: "2"}, rawData: true}`))[0]
	if key := harness.Docs(h.OK(`{listIndexes: "ts", rawData: true}`))[0].Lookup("key"); key.String() != `{ meta: 1, control.min.t: 1, control.max.t: 1 }` {
		t.Errorf("listed %s", key)
	}
	h.OK(`{createIndexes: "ts", indexes: [{key: {"control.min.v": 1}, name: "v"}], rawData: true}`)
	h.OK(`{dropIndexes: "ts", index: "v", rawData: true}`)
	for _, command := range []string{`{explain: {find: "ts", rawData: true}}`, `{explain: {find: "ts"}, rawData: true}`} {
		if plan := h.OK(command); !plan.Has("queryPlanner") { // else there are stages
			t.Errorf("%s: %s", command, plan)
		}
	}
	insert := value.NewDoc("insert", value.String("ts"), "documents", value.NewArray(value.Document(bucket)), "rawData", value.Bool(true))
	h.OK(`{delete: "ts", deletes: [{q: {}, limit: 0}], rawData: true}`)
	if reply := h.RunOn("test", insert); reply.Lookup("n").Int32() != 1 {
		t.Errorf("insert answered %s", reply)
	}
	reply := h.Admin(`{bulkWrite: 1, ops: [{update: 0, filter: {meta: "2"}, updateMods: {$set: {meta: "4"}}}], nsInfo: [{ns: "test.ts"}], rawData: true}`)
	if reply.Lookup("nModified").Int32() != 1 {
		t.Errorf("bulkWrite answered %s", reply)
	}
	if got := harness.Docs(h.OK(`{find: "ts", projection: {_id: 0, m: 1, v: 1}}`))[0].String(); got != `{ m: "4", v: "baz" }` {
		t.Errorf("the measurement is %s", got)
	}
	h.OK(`{insert: "c", documents: [{_id: 1}], rawData: true}`)
	if n := h.OK(`{count: "c", rawData: true}`).Lookup("n").Int32(); n != 1 {
		t.Errorf("another collection has %d documents", n)
	}
}

// Who may read a time series may read its buckets, and nothing else.
func TestRawDataPrivileges(t *testing.T) {
	t.Parallel()
	h := harness.NewAuth(t)
	h.User("ann", "read@test")
	h.MustOn("test", `{"create": "ts", "timeseries": {"timeField": "t"}}`)
	h.MustOn("test", `{"insert": "ts", "documents": [{"t": {"$date": "2002-05-29T00:00:00Z"}}]}`)
	for command, code := range map[string]int32{
		`{find: "ts", rawData: true}`: 0, `{find: "system.buckets.ts"}`: 13, `{delete: "ts", deletes: [{q: {}, limit: 0}], rawData: true}`: 13,
	} {
		if reply := h.As("ann", "test", command); reply.Lookup("code").Int32() != code {
			t.Errorf("%s answered %s", command, reply)
		}
	}
}

// The namespaces of a bulkWrite may come in a sequence behind its body.
func TestRawDataInSequences(t *testing.T) {
	t.Parallel()
	h := seriesHarness(t, dialect.Mongo82)
	info := value.NewDoc("ns", value.String("test.ts"))
	req := &kernel.Request{Body: harness.Relaxed(`{bulkWrite: 1, ops: [{delete: 0, filter: {"control.count": 2}}], $db: "admin", rawData: true}`),
		Sequences: []kernel.Sequence{{ID: "nsInfo", Docs: info, Len: 1}}}
	reply, _ := harness.Answer(h.Svc, t.Context(), h.Conn, req, nil)
	if d := value.Doc(reply); d.Lookup("nDeleted").Int32() != 1 {
		t.Errorf("answered %s", d)
	}
}
