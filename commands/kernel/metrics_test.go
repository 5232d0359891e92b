package kernel_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// serverStatus has the counters of the network server.
func TestCountersOfConnections(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	status := func() value.Doc { return h.Admin(`{serverStatus: 1}`) }
	network := func(name string) int64 { return status().Lookup("network").Doc().Lookup(name).SafeInt64() }
	before := map[string]int64{}
	for _, name := range []string{"bytesIn", "bytesOut", "numRequests"} {
		before[name] = network(name)
	}
	h.Svc.ConnectionOpened()
	h.Svc.ConnectionOpened()
	h.Svc.ConnectionClosed()
	h.Svc.ConnectionRejected()
	h.Svc.CountNetwork(100, 2000)
	c := status().Lookup("connections").Doc()
	for name, want := range map[string]int64{"current": 1, "totalCreated": 2, "rejected": 1} {
		if got := c.Lookup(name).SafeInt64(); got != want {
			t.Errorf("%s is %d, want %d: %s", name, got, want, c)
		}
	}
	for name, more := range map[string]int64{"bytesIn": 100, "bytesOut": 2000, "numRequests": 1} {
		if got := network(name) - before[name]; got != more {
			t.Errorf("%s grew by %d, want %d", name, got, more)
		}
	}
}

// Commands are counted by name, also if the client used an alias; failed ones are counted
// separately.
func TestCountersOfCommands(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{buildInfo: 1}`)
	h.OK(`{buildinfo: 1}`)
	h.Fails(40415, `{buildInfo: 1, odd: 1}`)
	d := h.Admin(`{serverStatus: 1}`).Lookup("metrics").Doc().Lookup("commands").Doc()
	if got := d.Lookup("buildInfo").String(); got != `{ failed: 1, total: 3 }` {
		t.Errorf("counted %s", got)
	}
	if d.Has("buildinfo") || !d.Has("find") {
		t.Errorf("counted under %s", d)
	}
	for name, want := range map[string]any{"find": &h.Svc.Metrics.Latency.Reads, "getMore": &h.Svc.Metrics.Latency.Reads, "insert": &h.Svc.Metrics.Latency.Writes, "ping": &h.Svc.Metrics.Latency.Commands} {
		if got := kernel.LatencyClass(&h.Svc.Metrics.Latency, h.Svc.Table[name]); any(got) != want {
			t.Errorf("%s is in another class", name)
		}
	}
}

// The read concerns that serverStatus counts: outside transactions each command, inside
// the first of each transaction.
func TestCountersOfReadConcerns(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	count := func(where string) map[string]int64 {
		d := h.Admin(`{serverStatus: 1}`).Lookup("readConcernCounters").Doc().Lookup(where).Doc()
		m := map[string]int64{}
		for name, v := range d.All() {
			if v.Kind() == value.KindDocument {
				for inner, n := range v.Doc().All() {
					m[name+"."+inner] = n.SafeInt64()
				}
				continue
			}
			m[name] = v.SafeInt64()
		}
		return m
	}
	outside, inside := count("nonTransactionOps"), count("transactionOps")
	for _, level := range []string{"local", "available", "majority", "linearizable", "snapshot"} {
		h.OK(`{find: "c", readConcern: {level: "` + level + `"}}`)
	}
	h.OK(`{find: "c"}`)
	at := h.OK(`{find: "c", readConcern: {level: "snapshot"}}`).Lookup("cursor").Doc().Lookup("atClusterTime")
	h.OK(`{find: "c", readConcern: {level: "snapshot", atClusterTime: ` + harness.JSONOf(at) + `}}`)
	h.OK(harness.InTxnArgs(`{"find": "c", "readConcern": {"level": "majority"}}`, 1, true))
	h.OK(harness.InTxnArgs(`{"find": "c"}`, 1, false))
	h.EndTxn("commitTransaction", 1)
	after, within := count("nonTransactionOps"), count("transactionOps")
	for name, more := range map[string]int64{"local": 1, "available": 1, "majority": 1, "linearizable": 1, "snapshot.withClusterTime": 1, "snapshot.withoutClusterTime": 2} {
		if got := after[name] - outside[name]; got != more {
			t.Errorf("outside transactions %s grew by %d, want %d: %v", name, got, more, after)
		}
	}
	if got := within["majority"] - inside["majority"]; got != 1 || within["none"] != inside["none"] {
		t.Errorf("inside transactions: %v, before %v", within, inside)
	}
}
