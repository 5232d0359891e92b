package diagnostics_test

import (
	"runtime"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// The sections of serverStatus that monitoring reads, as the manual has them.
func TestStatusSections(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{create: "capped", capped: true, size: 4096}`)
	h.OK(`{create: "ts", timeseries: {timeField: "t"}}`)
	h.OK(`{create: "v", viewOn: "capped", pipeline: []}`)
	h.OK(`{insert: "capped", documents: [{_id: 1}]}`)
	h.OK(`{find: "capped", readConcern: {level: "majority"}}`)
	h.OK(`{find: "capped"}`)
	s := h.Admin(`{serverStatus: 1, opLatencies: {histograms: true}}`)
	for path, want := range map[string]int64{
		"catalogStats.collections": 1, "catalogStats.capped": 1, "catalogStats.timeseries": 1, "catalogStats.views": 1,
		"opcountersRepl.insert": 0, "readConcernCounters.nonTransactionOps.majority": 1, "opLatencies.writes.ops": 1,
	} {
		if got := at(s, path); got.IsMissing() || got.SafeInt64() != want {
			t.Errorf("%s is %s, want %d", path, got, want)
		}
	}
	if at(s, "electionMetrics.electionTimeout.called").IsMissing() != h.Svc.InCluster() {
		t.Errorf("electionMetrics in %s", s)
	}
	for _, path := range []string{"locks.Global.acquireCount.r", "opLatencies.reads.histogram", "opLatencies.transactions.ops"} {
		if at(s, path).IsMissing() {
			t.Errorf("no %s in %s", path, s)
		}
	}
	if s.Has("mirroredReads") || !h.Admin(`{serverStatus: 1, mirroredReads: 1}`).Has("mirroredReads") {
		t.Error("serverStatus shows mirroredReads exactly if the command asks for them")
	}
	stats := h.OK(`{aggregate: "capped", pipeline: [{$collStats: {latencyStats: {histograms: true}}}], cursor: {}}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc()
	if at(stats, "latencyStats.transactions.ops").IsMissing() || at(stats, "latencyStats.reads.histogram").Doc().IsEmpty() {
		t.Errorf("latencies %s", stats)
	}
	info := h.Admin(`{hostInfo: 1}`)
	if at(info, "system.numPhysicalCores").SafeInt64() < 1 || at(info, "extra.pageSize").SafeInt64() < 1 {
		t.Errorf("host %s", info)
	}
	if linux := runtime.GOOS == "linux"; linux && at(info, "extra.maxOpenFiles").SafeInt64() < 1 || linux != (at(info, "extra.libcVersion").Kind() == value.KindString) {
		t.Errorf("host %s", info)
	}
	h.OK(`{collMod: "ts", timeseriesBucketsMayHaveMixedSchemaData: true}`)
	h.Fails(72, `{collMod: "capped", timeseriesBucketsMayHaveMixedSchemaData: true}`)
}

// at is the value at a path of documents.
func at(d value.Doc, path string) value.Value { return value.ParsePath(path).Get(d) }
