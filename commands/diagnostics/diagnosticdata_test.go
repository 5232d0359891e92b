package diagnostics_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// getDiagnosticData answers with the figures of serverStatus, without its section about
// sharding and with that about mirrored reads, of replSetGetStatus, of the change log and of
// the machine, each between two times (mongod's full-time diagnostic data capture).
func TestGetDiagnosticData(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	reply := h.Admin(`{getDiagnosticData: 1}`)
	data := reply.Lookup("data").Doc()
	for path, kind := range map[string]value.Kind{
		"start": value.KindDateTime, "end": value.KindDateTime,
		"serverStatus/start": value.KindDateTime, "serverStatus/end": value.KindDateTime, "serverStatus/ok": value.KindDouble,
		"serverStatus/opcounters/insert": value.KindInt64, "serverStatus/mirroredReads/seen": value.KindInt64,
		"replSetGetStatus/myState": value.KindInt32, "replSetGetStatus/members": value.KindArray, "replSetGetStatus/ok": value.KindDouble,
		"local.oplog.rs.stats/storageStats/size": value.KindInt32, "local.oplog.rs.stats/localTime": value.KindDateTime,
		"systemMetrics/end": value.KindDateTime, "systemMetrics/cpu": value.KindDocument,
	} {
		if h.Svc.InCluster() && (strings.HasPrefix(path, "replSet") || strings.HasPrefix(path, "local")) {
			continue // a mongos is no member of a set
		}
		if v := figure(data, path); v.Kind() != kind {
			t.Errorf("%s is %s (%s), want a %s", path, v, v.Kind(), kind)
		}
	}
	if data.Lookup("serverStatus").Doc().Has("sharding") {
		t.Error("serverStatus has the section about sharding")
	}
	if runtime.GOOS == "linux" {
		for _, path := range []string{"systemMetrics/cpu/user_ms", "systemMetrics/cpu/ctxt", "systemMetrics/memory/MemTotal_kb"} {
			if v := figure(data, path); v.Kind() != value.KindInt64 || v.Int64() <= 0 {
				t.Errorf("%s is %s", path, v)
			}
		}
	}
	h.Refuses([]harness.Refusal{{DB: "test", Command: `{getDiagnosticData: 1}`, Code: 13}})
}

// A server of its own has no parts of a replica set.
func TestGetDiagnosticDataWithoutSet(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	data := h.Admin(`{getDiagnosticData: 1}`).Lookup("data").Doc()
	if !data.Has("serverStatus") || !data.Has("systemMetrics") || data.Has("replSetGetStatus") || data.Has("local.oplog.rs.stats") {
		t.Errorf("data of a stand-alone server: %s", data)
	}
}

// figure is the value at the path, whose names are separated by "/".
func figure(d value.Doc, path string) value.Value {
	name, rest, deeper := strings.Cut(path, "/")
	if deeper && d.Lookup(name).Kind() == value.KindDocument {
		return figure(d.Lookup(name).Doc(), rest)
	}
	return d.Lookup(name)
}
