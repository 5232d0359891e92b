package transaction_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/tests/crash/history"
	"github.com/duskdb/duskdb/value"
)

// isolationClient runs transactions on lists in its own session; package history checks
// the results.
type isolationClient struct {
	*testing.T
	svc     *kernel.Service
	conn    *kernel.Conn
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
	out, _ := harness.Answer(c.svc, context.Background(), c.conn, &kernel.Request{Body: b.Raw(it.Rest()).String("$db", db).Doc()}, nil)
	return value.Doc(out)
}

func (c *isolationClient) args(first bool) string {
	start := ""
	if first {
		start = `, "startTransaction": true`
	}
	return fmt.Sprintf(`"lsid": {"id": {"$uuid": "000000%02x-0000-4000-8000-000000000000"}}, "txnNumber": {"$numberLong": "%d"}, "autocommit": false%s`, c.session, c.number, start)
}

// transaction runs a transaction and returns what it read.
func (c *isolationClient) transaction(id, keys int, r *rand.Rand) *history.Txn {
	c.number++
	x := &history.Txn{ID: id, Client: int(c.session), Reads: map[int][]int{}, Outcome: history.Aborted}
	first := true
	for range 1 + r.IntN(3) {
		k := r.IntN(keys)
		if _, seen := x.Reads[k]; !seen {
			reply := c.run(fmt.Sprintf(`{"find": "lists", "filter": {"_id": %d}, %s}`, k, c.args(first)))
			first = false
			if !reply.Lookup("ok").Truthy() {
				return x
			}
			list := []int{}
			for v := range reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc().Lookup("l").Doc().Values() {
				list = append(list, int(v.SafeInt64()))
			}
			x.Reads[k] = list
		}
		if r.IntN(3) > 0 && !slices.Contains(x.Appends, k) {
			reply := c.run(fmt.Sprintf(`{"update": "lists", "updates": [{"q": {"_id": %d}, "u": {"$push": {"l": %d}}, "upsert": true}], %s}`, k, id, c.args(false)))
			if !reply.Lookup("ok").Truthy() || reply.Has("writeErrors") {
				return x
			}
			x.Appends = append(x.Appends, k)
		}
	}
	if r.IntN(8) == 0 {
		c.run(`{"abortTransaction": 1, ` + c.args(false) + `}`)
		return x
	}
	if c.run(`{"commitTransaction": 1, ` + c.args(false) + `}`).Lookup("ok").Truthy() {
		x.Outcome = history.Committed
	}
	return x
}

func TestSnapshotIsolation(t *testing.T) {
	const clients, rounds, keys = 6, 150, 4
	h := harness.New(t)
	h.OK(`{"create": "lists"}`)
	var mu sync.Mutex
	var list []*history.Txn
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			c := &isolationClient{T: t, svc: h.Svc, conn: h.Svc.NewConn("", ""), session: byte(n + 1)}
			r := rand.New(rand.NewPCG(uint64(n), 9))
			for i := range rounds {
				x := c.transaction(1+n*rounds+i, keys, r)
				mu.Lock()
				list = append(list, x)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	final := map[int][]int{}
	for _, d := range harness.Docs(h.OK(`{"find": "lists"}`)) {
		for v := range d.Lookup("l").Doc().Values() {
			k := int(d.Lookup("_id").SafeInt64())
			final[k] = append(final[k], int(v.SafeInt64()))
		}
	}
	committed := 0
	for _, x := range list {
		if x.Outcome == history.Committed {
			committed++
		}
	}
	if committed < rounds {
		t.Errorf("only %d of %d transactions committed", committed, len(list))
	}
	if err := history.Check(list, final); err != nil {
		t.Error(err)
	}
}

// TestDropWaitsForTransactions: commands that drop, rename or change a collection
// wait for open transactions that have written to it, as mongod's do, until their
// time is over.
func TestDropWaitsForTransactions(t *testing.T) {
	for _, command := range []string{
		`{"drop": "c"}`, `{"dropDatabase": 1}`, `{"collMod": "c", "validator": {}}`, `{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}`,
	} {
		h := harness.New(t)
		h.OK(`{"create": "c"}`)
		h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 1, true))
		h.Fails(50, strings.TrimSuffix(command, "}")+`, "maxTimeMS": 5}`)
		if reply := h.EndTxn("commitTransaction", 1); !reply.Lookup("ok").Truthy() {
			t.Errorf("%s: the commit answered %s", command, reply)
		}
		h.OK(command)
	}
}
