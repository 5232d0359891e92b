package crash

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// monitored is a server with its metrics.
type monitored struct {
	*client
	t    *testing.T
	base string
}

func startMonitored(t *testing.T, uri string) *monitored {
	t.Helper()
	port := strconv.Itoa(freeport.For(t))
	p := start(t, t.TempDir(), "--storageEngine", "postgres", "--storageURI", uri, "--metricsPort", port)
	return &monitored{client: connect(t, p), t: t, base: "http://127.0.0.1:" + port}
}

func (m *monitored) get(path string) (int, string) {
	m.t.Helper()
	r, err := http.Get(m.base + path)
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(b)
}

// waitReady waits until /readyz answers with a code.
func (m *monitored) waitReady(want int) (body string) {
	m.t.Helper()
	for range 300 {
		code, body := m.get("/readyz")
		if code == want {
			return body
		}
		proc.Pause(50 * time.Millisecond)
	}
	m.t.Fatalf("/readyz does not become %d", want)
	return ""
}

// metric is the value of a metric.
func (m *monitored) metric(name string) float64 {
	m.t.Helper()
	code, text := m.get("/metrics")
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				m.t.Fatal(err)
			}
			return v
		}
	}
	m.t.Fatalf("there is no metric %s in the answer with the code %d", name, code)
	return 0
}

func (m *monitored) status() value.Doc {
	m.t.Helper()
	return m.must(m.t, "serverStatus", value.Int32(1)).Lookup("cluster").Doc()
}

// TestClusterMetrics: what servers say of themselves and of the others; while the
// database is away or read-only they live and are not ready, without a restart.
func TestClusterMetrics(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for heartbeats")
	}
	t.Parallel()
	database := pgtest.Own(t)
	a, b := startMonitored(t, database.URI("")), startMonitored(t, database.URI(""))
	b.waitReady(200)
	c := a.client
	c.must(t, "insert", value.String("c"), "documents", value.NewArray(doc(`{"_id": 1}`), doc(`{"_id": 2}`)))
	c.must(t, "create", value.String("d")) // which the other server must see
	st := a.status()
	if got := st.Lookup("servers").Doc().Len(); got != 2 {
		t.Errorf("%d servers in %s", got, st)
	}
	own := map[bool]int{}
	for it := st.Lookup("leases").Doc().Iter(); it.Next(); {
		own[it.Value().Doc().Lookup("self").Bool()]++
	}
	if own[true]+own[false] == 0 || !st.Lookup("database").Doc().Lookup("reachable").Bool() {
		t.Errorf("the status is %s", st)
	}
	for it := b.status().Lookup("leases").Doc().Iter(); it.Next(); { // what is one's is not the other's
		if it.Value().Doc().Lookup("self").Bool() {
			own[false]--
		} else {
			own[true]--
		}
	}
	if own[true] > 0 || own[false] > 0 {
		t.Errorf("both servers have leases: %v", own)
	}
	commits := a.metric("duskdb_storage_commit_duration_seconds_count")
	for name, least := range map[string]float64{
		"duskdb_cluster_database_reachable":                        1,
		"duskdb_cluster_servers":                                   2,
		"duskdb_cluster_pool_size":                                 17,
		"duskdb_cluster_seen_waits_total":                          1,
		`duskdb_cluster_round_trips_total{kind="commit"}`:          commits,
		`duskdb_cluster_round_trips_total{kind="lock"}`:            commits,
		`duskdb_cluster_round_trips_total{kind="heartbeat"}`:       1,
		`duskdb_cluster_round_trips_total{kind="read"}`:            1,
		`duskdb_storage_commit_duration_seconds_bucket{le="+Inf"}`: 2,
		"duskdb_cluster_updates_total":                             2,
	} {
		if got := a.metric(name); got < least {
			t.Errorf("%s is %v, want at least %v", name, got, least)
		}
	}
	for it := st.Lookup("leases").Doc().Iter(); it.Next(); {
		if job := it.Value().Doc().Lookup("job").Str(); !strings.HasPrefix(job, "server.") {
			if got := a.metric(`duskdb_cluster_lease{task="`+job+`"}`) + b.metric(`duskdb_cluster_lease{task="`+job+`"}`); got != 1 {
				t.Errorf("%v servers have the lease %s", got, job)
			}
		}
	}

	database.Kill()
	if body := a.waitReady(503); body != "the database cannot be reached\n" {
		t.Errorf("not ready: %q", body)
	}
	b.waitReady(503)
	if code, body := a.get("/healthz"); code != 200 || body != "ok\n" {
		t.Errorf("/healthz: %d %q", code, body)
	}
	if got := a.metric("duskdb_cluster_database_reachable"); got != 0 {
		t.Errorf("the metric says that the database is reachable")
	}
	if got := a.metric("duskdb_cluster_database_away_seconds"); got < 1 || got > 60 {
		t.Errorf("away for %v seconds", got)
	}
	reply, err := c.run("serverStatus", value.Int32(1))
	if errors.Is(err, errRefused) && reply.Lookup("code").Int32() == hostUnreachable { // after 8 seconds commands need the database
		t.Log("serverStatus needs the database already")
	} else if st := reply.Lookup("cluster").Doc().Lookup("database").Doc(); err != nil || st.Lookup("reachable").Bool() || st.Lookup("error").Str() != "the database cannot be reached" || st.Lookup("awaySince").IsMissing() {
		t.Errorf("the status is %s", st)
	}
	if err := database.Launch(); err != nil {
		t.Fatal(err)
	}
	a.waitReady(200)
	b.waitReady(200)
	if st := a.status(); !st.Lookup("database").Doc().Lookup("reachable").Bool() || st.Lookup("servers").Doc().Len() != 2 {
		t.Errorf("the status is %s", st)
	}
}

// TestNotReadyReadOnly: a server is not ready while its database is read-only.
func TestNotReadyReadOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for heartbeats")
	}
	t.Parallel()
	database := pgtest.Own(t)
	a := startMonitored(t, database.URI(""))
	a.waitReady(200)
	database.Set(t, "default_transaction_read_only", "on")
	if body := a.waitReady(503); body != "the database is read-only\n" {
		t.Errorf("not ready: %q", body)
	}
	database.Set(t, "default_transaction_read_only", "off")
	a.waitReady(200)
}
