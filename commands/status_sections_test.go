package commands

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

// The sections of serverStatus that monitoring reads, as the manual has them.
func TestStatusSections(t *testing.T) {
	h := newHarness(t).asMember()
	h.ok(`{create: "capped", capped: true, size: 4096}`)
	h.ok(`{create: "ts", timeseries: {timeField: "t"}}`)
	h.ok(`{create: "v", viewOn: "capped", pipeline: []}`)
	h.ok(`{insert: "capped", documents: [{_id: 1}]}`)
	h.ok(`{find: "capped", readConcern: {level: "majority"}}`)
	h.ok(`{find: "capped"}`)
	s := h.admin(`{serverStatus: 1, opLatencies: {histograms: true}}`)
	for path, want := range map[string]int64{
		"catalogStats.collections": 1, "catalogStats.capped": 1, "catalogStats.timeseries": 1, "catalogStats.views": 1,
		"opcountersRepl.insert": 0, "readConcernCounters.nonTransactionOps.majority": 1, "opLatencies.writes.ops": 1,
	} {
		if got := at(s, path); got.IsMissing() || got.SafeInt64() != want {
			t.Errorf("%s is %s, want %d", path, got, want)
		}
	}
	for _, path := range []string{"locks.Global.acquireCount.r", "electionMetrics.electionTimeout.called", "opLatencies.reads.histogram", "opLatencies.transactions.ops"} {
		if at(s, path).IsMissing() {
			t.Errorf("no %s in %s", path, s)
		}
	}
	if s.Has("mirroredReads") || !h.admin(`{serverStatus: 1, mirroredReads: 1}`).Has("mirroredReads") {
		t.Error("mirroredReads are for who asks for them")
	}
	stats := h.ok(`{aggregate: "capped", pipeline: [{$collStats: {latencyStats: {histograms: true}}}], cursor: {}}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc()
	if at(stats, "latencyStats.transactions.ops").IsMissing() || at(stats, "latencyStats.reads.histogram").Doc().IsEmpty() {
		t.Errorf("latencies %s", stats)
	}
	info := h.admin(`{hostInfo: 1}`)
	if at(info, "system.numPhysicalCores").SafeInt64() < 1 || at(info, "extra.pageSize").SafeInt64() < 1 {
		t.Errorf("host %s", info)
	}
	h.ok(`{collMod: "ts", timeseriesBucketsMayHaveMixedSchemaData: true}`)
	h.fails(72, `{collMod: "capped", timeseriesBucketsMayHaveMixedSchemaData: true}`)
}

// at is the value at a path of documents.
func at(d value.Doc, path string) value.Value { return value.ParsePath(path).Get(d) }
