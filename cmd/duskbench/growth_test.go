package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/value"
)

func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("fills eight servers")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(actAs, "server")
	c := growthCommand{
		Binary: self, Sizes: []int{100, 2000}, Indexes: []int{1, 5}, Collections: []int{1, 3}, Workload: []string{"findOne", "deleteOne"},
		Conns: 2, Duration: 20 * time.Millisecond, Rounds: 2, DocSize: 200, Client: "wire", JSON: filepath.Join(t.TempDir(), "out.json"),
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := c.Run(&out); err != nil {
		t.Fatal(err)
	}
	var all []growthResult
	readJSON(t, c.JSON, &all)
	if len(all) != 8 || strings.Count(out.String(), "\n") != 9 {
		t.Fatalf("%d results:\n%s", len(all), out.String())
	}
	for _, r := range all {
		if r.OpenMS <= 0 || len(r.OpsPerSec) != 2 {
			t.Errorf("got %+v", r)
		}
	}
}

func TestBeside(t *testing.T) {
	for _, load := range []string{"insertMany", "compact", "createIndexes", "expiry"} {
		c := besideCommand{
			URI: nullTarget(t).addr, Workload: "findOne", Connections: 1, Load: load, LoadConns: 2, LoadDocs: 10, Rounds: 2,
			Duration: 20 * time.Millisecond, Docs: 10, DocSize: 200, Batch: 10, Client: "wire", JSON: filepath.Join(t.TempDir(), "out.json"),
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := c.Run(&out); err != nil {
			t.Fatal(err)
		}
		var r besideResult
		readJSON(t, c.JSON, &r)
		if len(r.Idle) != 2 || len(r.Busy) != 2 || r.Repeat == 0 || !strings.Contains(out.String(), "findOne beside "+load) {
			t.Errorf("got %+v\n%s", r, out.String())
		}
	}
}

// TestExpiredDocs: what had expired before the load began does not count.
func TestExpiredDocs(t *testing.T) {
	var r request
	for i, n := range []int64{7, 7, 12, 30} {
		reply := value.MustJSON(fmt.Sprintf(`{"metrics": {"ttl": {"deletedDocuments": {"$numberLong": "%d"}}}}`, n))
		if err := noteRemoved(&r, reply); err != nil || r.expired.n != n-7 {
			t.Errorf("reply %d: %d expired, want %d (%v)", i, r.expired.n, n-7, err)
		}
	}
}

func TestOwnIDs(t *testing.T) {
	o := newOwnIDs(3, loadOptions{Docs: 100, collections: 2})
	if o.collection != collectionName(1) || o.take() != 100+3*ownRange || o.take() != 101+3*ownRange {
		t.Errorf("got %+v", o)
	}
	if o.drop() != 100+3*ownRange || o.left != 1 || o.take() != 102+3*ownRange || o.drop() != 101+3*ownRange {
		t.Errorf("got %+v", o)
	}
}

// TestYCSBMixes: shares and ranges of the operations.
func TestYCSBMixes(t *testing.T) {
	for name, tc := range map[string]struct {
		mix                        ycsbMix
		read, update, insert, scan int // percent
	}{
		"A": {ycsbA, 50, 50, 0, 0},
		"B": {ycsbB, 95, 5, 0, 0},
		"C": {ycsbC, 100, 0, 0, 0},
		"D": {ycsbD, 95, 0, 5, 0},
		"E": {ycsbE, 0, 0, 5, 95},
		"F": {ycsbF, 67, 33, 0, 0},
	} {
		r := newRequest(shortLoad())
		r.own = newOwnIDs(0, r.opts)
		var n [4]int
		seen := map[int32]int{}
		const rounds = 20000
		for range rounds {
			op, id := tc.mix.next(r)
			n[op]++
			if op == opInsert {
				r.own.take()
				continue
			}
			if own := id >= r.own.first && id < r.own.first+r.own.next; !own && (id < 0 || id >= int32(r.opts.Docs)) {
				t.Fatalf("%s: _id %d", name, id)
			}
			seen[id]++
		}
		for op, want := range map[ycsbOp]int{opRead: tc.read, opUpdate: tc.update, opInsert: tc.insert, opScan: tc.scan} {
			if got := n[op] * 100 / rounds; got < want-2 || got > want+2 {
				t.Errorf("%s: %d %% of operation %d, want %d", name, got, op, want)
			}
		}
		maxCount := 0
		for _, k := range seen {
			maxCount = max(maxCount, k)
		}
		if !tc.mix.latest && maxCount < 20*rounds/r.opts.Docs {
			t.Errorf("%s: the most popular document was asked for %d times of %d", name, maxCount, rounds)
		}
	}
}
