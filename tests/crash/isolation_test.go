package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/tests/crash/history"
	"github.com/duskdb/duskdb/value"
)

// listKeys is the number of lists in use at a time, listLives the number of crashes for
// which a list is used.
const (
	listKeys  = 5
	listLives = 3
)

// TestIsolation kills the server while clients run transactions on lists.
// A client that got no reply to a commit sends it again after the restart, with the same
// transaction number, and the reply shows whether the transaction was committed.
func TestIsolation(t *testing.T) {
	d, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	clients := make([]*listClient, 6)
	for i := range clients {
		clients[i] = &listClient{id: i, rnd: rand.New(rand.NewPCG(seed, uint64(100+i)))}
	}
	lives, unanswered := 0, 0
	for until := time.Now().Add(d); time.Now().Before(until) && !t.Failed(); lives++ {
		p := start(t, dir)
		unanswered += resolve(t, p.Addr(), clients)
		var wg sync.WaitGroup
		for _, c := range clients {
			wg.Go(func() { c.work(p.Addr(), lives/listLives*listKeys) })
		}
		wg.Go(func() { compact(p.Addr(), "lists") })
		proc.Pause(time.Duration(30+rnd.IntN(300)) * time.Millisecond)
		p.Kill()
		wg.Wait()
	}
	p := start(t, dir)
	unanswered += resolve(t, p.Addr(), clients)
	counts := judge(t, p.Addr(), clients)
	t.Logf("%d crashes; %d transactions committed, %d not; the answer to %d came after a restart", lives, counts[history.Committed], counts[history.Aborted], unanswered)
	if counts[history.Committed] < lives {
		t.Errorf("only %d transactions in %d lives", counts[history.Committed], lives)
	}
}

// judge checks the histories of all lives against the present lists, and counts the
// outcomes.
func judge(t testing.TB, addr string, clients []*listClient) map[history.Outcome]int {
	t.Helper()
	conn, err := dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	final := map[int][]int{}
	for _, d := range conn.all(t, "lists") {
		final[int(d.Lookup("_id").SafeInt64())] = numbers(d)
	}
	counts, generations := map[history.Outcome]int{}, map[int][]*history.Txn{}
	for _, c := range clients {
		if c.err != nil {
			t.Fatal(c.err)
		}
		for _, x := range c.history {
			counts[x.Outcome]++
			generations[generation(x)] = append(generations[generation(x)], x)
		}
	}
	for n, list := range generations {
		if err := history.Check(list, final); err != nil {
			t.Errorf("lists from %d on: %v", n, err)
		}
	}
	return counts
}

// generation returns the generation of the lists that a transaction has used.
func generation(x *history.Txn) int {
	for k := range x.Reads {
		return k / listKeys
	}
	return -1
}

func numbers(d value.Doc) (list []int) {
	for v := range d.Lookup("l").Doc().Values() {
		list = append(list, int(v.SafeInt64()))
	}
	return list
}

// listClient runs transactions in a session of its own.
type listClient struct {
	id      int
	rnd     *rand.Rand
	number  int64       // number of the transaction in its session
	token   value.Value // by which other servers of a cluster find its outcome
	history []*history.Txn
	err     error
}

// work runs transactions until the server is killed.
func (c *listClient) work(addr string, first int) {
	conn, err := dial(addr)
	if err != nil {
		return
	}
	defer conn.Close()
	for c.err == nil {
		c.number++
		x := &history.Txn{ID: int(c.number)*100 + c.id, Client: c.id, Reads: map[int][]int{}, Outcome: history.Aborted}
		c.history = append(c.history, x)
		if err := c.transaction(conn, x, first); err != nil && !errors.Is(err, errRefused) {
			return
		}
	}
}

// in adds the fields by which a command is a statement of the transaction.
func (c *listClient) in(begin bool, fields ...any) []any {
	session := value.Document(value.NewDoc("id", value.Binary(4, fmt.Appendf(nil, "list-client-%04d", c.id))))
	fields = append(fields, "lsid", session, "txnNumber", value.Int64(c.number), "autocommit", value.Bool(false))
	if begin {
		fields = append(fields, "startTransaction", value.Bool(true))
	}
	return fields
}

// transaction reads some lists and appends to some of those.
func (c *listClient) transaction(conn *client, x *history.Txn, first int) error {
	for n := range 1 + c.rnd.IntN(3) {
		k := first + c.rnd.IntN(listKeys)
		if _, seen := x.Reads[k]; seen && n > 0 {
			continue
		}
		reply, err := c.run(conn, c.in(n == 0, "find", value.String("lists"), "filter", idDoc(int64(k))))
		if err != nil {
			return err
		}
		x.Reads[k] = numbers(reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc())
		if c.rnd.IntN(3) == 0 {
			continue
		}
		if err := c.append(conn, x, k); err != nil {
			return err
		}
	}
	if c.rnd.IntN(10) == 0 {
		_, err := conn.run(c.in(false, "abortTransaction", value.Int32(1), "$db", value.String("admin"))...)
		return err
	}
	x.Outcome = history.Unknown
	return c.commit(conn, x)
}

// run runs a statement.
func (c *listClient) run(conn *client, statement []any) (value.Doc, error) {
	reply, err := conn.run(statement...)
	if token := reply.Lookup("recoveryToken"); err == nil && !token.IsMissing() {
		c.token = token
	}
	return reply, err
}

func (c *listClient) append(conn *client, x *history.Txn, k int) error {
	push := value.NewDoc("$push", value.Document(value.NewDoc("l", value.Int32(int32(x.ID)))))
	u := value.NewDoc("q", idDoc(int64(k)), "u", value.Document(push), "upsert", value.Bool(true))
	_, err := c.run(conn, c.in(false, "update", value.String("lists"), "updates", value.NewArray(value.Document(u))))
	if err == nil {
		x.Appends = append(x.Appends, k)
	}
	return err
}

// notYetInitialized is what a server answers while it opens its data.
const notYetInitialized = 94

// outOfDiskSpace is the code of a write for which there is no room.
const outOfDiskSpace = 14031

// hostUnreachable is the code of a command that the database did not answer.
const hostUnreachable = 6

// commit sends the commit, for the first time or again.
func (c *listClient) commit(conn *client, x *history.Txn) error {
	command := c.in(false, "commitTransaction", value.Int32(1), "$db", value.String("admin"))
	if !c.token.IsMissing() {
		command = append(command, "recoveryToken", c.token)
	}
	reply, err := conn.run(command...)
	switch {
	case err == nil:
		x.Outcome = history.Committed
	case errors.Is(err, errRefused) && (reply.Lookup("errorLabels").Doc().Index(0).Str() == "RetryableWriteError" || reply.Lookup("code").Int32() == notYetInitialized):
		return err // the outcome is not known
	case errors.Is(err, errRefused):
		x.Outcome = history.Aborted
		if code := reply.Lookup("code").Int32(); !slices.Contains([]int32{112, 251, outOfDiskSpace}, code) {
			c.err = fmt.Errorf("the commit of %d: %w", x.ID, err)
		}
	}
	return err
}

// resolve sends the commits without a reply again, and once more when the outcome is
// known, because the reply must stay the same.
func resolve(t *testing.T, addr string, clients []*listClient) (n int) {
	t.Helper()
	conn, err := dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, c := range clients {
		if len(c.history) == 0 || c.history[len(c.history)-1].Outcome != history.Unknown {
			continue
		}
		n++
		x := c.history[len(c.history)-1]
		if err := c.commit(conn, x); err != nil && !errors.Is(err, errRefused) {
			t.Fatal(err)
		}
		before := x.Outcome
		if err := c.commit(conn, x); err != nil && !errors.Is(err, errRefused) || x.Outcome != before {
			t.Errorf("the commit of %d was answered in two ways: %v", x.ID, err)
		}
	}
	return n
}
