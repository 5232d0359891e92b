package commands

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// The histories are lists: a transaction reads some lists and appends a
// number of its own to some. What it read tells which transactions came
// before it, and what others read, which came after. Snapshot isolation
// allows no cycle of such dependencies that has less than two
// anti-dependencies ("did not see").

// appendTxn is a transaction of a history.
type appendTxn struct {
	id        int
	reads     map[int][]int // before its own appends
	appends   []int
	committed bool
}

// isolationClient runs transactions in a session of its own.
type isolationClient struct {
	*testing.T
	svc     *Service
	conn    *Conn
	session byte
	number  int
}

func (c *isolationClient) run(command string) value.Doc {
	b := value.NewBuilder()
	it := value.MustJSON(command).Iter()
	db := "test"
	if strings.Contains(command, "Transaction\": 1") && !strings.Contains(command, "startTransaction") {
		db = "admin"
	}
	out, _ := c.svc.Handle(context.Background(), c.conn, &Request{Body: b.Raw(it.Rest()).String("$db", db).Doc()}, nil)
	return value.Doc(out)
}

func (c *isolationClient) args(first bool) string {
	start := ""
	if first {
		start = `, "startTransaction": true`
	}
	return fmt.Sprintf(`"lsid": {"id": {"$uuid": "000000%02x-0000-4000-8000-000000000000"}}, "txnNumber": {"$numberLong": "%d"}, "autocommit": false%s`, c.session, c.number, start)
}

// transaction runs one and reports what it saw.
func (c *isolationClient) transaction(id, keys int, r *rand.Rand) *appendTxn {
	c.number++
	x := &appendTxn{id: id, reads: map[int][]int{}}
	first := true
	for range 1 + r.IntN(3) {
		k := r.IntN(keys)
		if _, seen := x.reads[k]; !seen {
			reply := c.run(fmt.Sprintf(`{"find": "lists", "filter": {"_id": %d}, %s}`, k, c.args(first)))
			first = false
			if !reply.Lookup("ok").Truthy() {
				return x
			}
			list := []int{}
			for v := range reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc().Lookup("l").Doc().Values() {
				list = append(list, int(v.TruncInt64()))
			}
			x.reads[k] = list
		}
		if r.IntN(3) > 0 && !slices.Contains(x.appends, k) {
			reply := c.run(fmt.Sprintf(`{"update": "lists", "updates": [{"q": {"_id": %d}, "u": {"$push": {"l": %d}}, "upsert": true}], %s}`, k, id, c.args(false)))
			if !reply.Lookup("ok").Truthy() || reply.Has("writeErrors") {
				return x
			}
			x.appends = append(x.appends, k)
		}
	}
	if r.IntN(8) == 0 {
		c.run(`{"abortTransaction": 1, ` + c.args(false) + `}`)
		return x
	}
	x.committed = c.run(`{"commitTransaction": 1, ` + c.args(false) + `}`).Lookup("ok").Truthy()
	return x
}

func TestSnapshotIsolation(t *testing.T) {
	const clients, rounds, keys = 6, 150, 4
	h := newHarness(t)
	h.ok(`{"create": "lists"}`)
	var mu sync.Mutex
	var history []*appendTxn
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			c := &isolationClient{T: t, svc: h.svc, conn: h.svc.NewConn("", ""), session: byte(n + 1)}
			r := rand.New(rand.NewPCG(uint64(n), 9))
			for i := range rounds {
				x := c.transaction(1+n*rounds+i, keys, r)
				mu.Lock()
				history = append(history, x)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	final := map[int][]int{}
	for _, d := range docs(h.ok(`{"find": "lists"}`)) {
		for v := range d.Lookup("l").Doc().Values() {
			k := int(d.Lookup("_id").TruncInt64())
			final[k] = append(final[k], int(v.TruncInt64()))
		}
	}
	committed := 0
	for _, x := range history {
		if x.committed {
			committed++
		}
	}
	if committed < rounds {
		t.Errorf("only %d of %d transactions committed", committed, len(history))
	}
	checkAppends(t, history, final)
	checkCycles(t, history, final)
}

// checkAppends: what was committed is there once, what was not is not; what
// was read is the beginning of what there is.
func checkAppends(t *testing.T, history []*appendTxn, final map[int][]int) {
	t.Helper()
	for _, x := range history {
		for _, k := range x.appends {
			n := 0
			for _, id := range final[k] {
				if id == x.id {
					n++
				}
			}
			if n != map[bool]int{true: 1}[x.committed] {
				t.Errorf("transaction %d (committed: %v) appended %d times to %d", x.id, x.committed, n, k)
			}
		}
		for k, list := range x.reads {
			if len(list) > len(final[k]) || !slices.Equal(list, final[k][:len(list)]) {
				t.Errorf("transaction %d read %v of %v", x.id, list, final[k])
			}
		}
	}
}

// checkCycles looks for cycles with one anti-dependency or none.
func checkCycles(t *testing.T, history []*appendTxn, final map[int][]int) {
	t.Helper()
	before := map[int]map[int]bool{} // x -> those that depend on it
	edge := func(a, b int) {
		if a == b {
			return
		}
		if before[a] == nil {
			before[a] = map[int]bool{}
		}
		before[a][b] = true
	}
	type pair struct{ a, b int }
	var anti []pair
	for _, list := range final {
		for i := 1; i < len(list); i++ {
			edge(list[i-1], list[i])
		}
	}
	for _, x := range history {
		if !x.committed {
			continue
		}
		for k, list := range x.reads {
			if len(list) > 0 {
				edge(list[len(list)-1], x.id)
			}
			if len(list) < len(final[k]) && final[k][len(list)] != x.id {
				anti = append(anti, pair{x.id, final[k][len(list)]})
			}
		}
	}
	reaches := func(from, to int) bool {
		seen, stack := map[int]bool{from: true}, []int{from}
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for m := range before[n] {
				if m == to {
					return true
				}
				if !seen[m] {
					seen[m] = true
					stack = append(stack, m)
				}
			}
		}
		return false
	}
	for _, x := range history {
		if reaches(x.id, x.id) {
			t.Fatalf("transaction %d depends on itself", x.id)
		}
	}
	for _, e := range anti {
		if reaches(e.b, e.a) {
			t.Fatalf("transaction %d did not see %d, which it depends on", e.a, e.b)
		}
	}
}
