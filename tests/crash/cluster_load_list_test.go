//go:build unix

package crash

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/tests/crash/history"
)

const (
	listGeneration = 200              // transactions for which lists are used
	listPatience   = 15 * time.Second // then a client goes to another server
)

// repeatLists runs transactions on lists, without a driver: each connection is to some
// server, and after an error to another one, to which a commit without an answer is sent
// again.
func (l *bank) repeatLists(i int) {
	c := &listClient{id: i, rnd: rand.New(rand.NewPCG(uint64(i), uint64(time.Now().UnixNano())))}
	l.lists = append(l.lists, c)
	l.wg.Go(func() {
		for l.ctx.Err() == nil && c.err == nil {
			conn, err := dial(l.addrs[c.rnd.IntN(len(l.addrs))])
			if err == nil {
				l.onLists(conn, c)
				_ = conn.Close()
			}
			proc.Pause(time.Duration(l.rest.Load()))
		}
	})
}

// onLists runs transactions until the connection is lost.
func (l *bank) onLists(conn *client, c *listClient) {
	for l.ctx.Err() == nil && c.err == nil {
		_ = conn.SetDeadline(time.Now().Add(listPatience))
		var err error
		if n := len(c.history); n > 0 && c.history[n-1].Outcome == history.Unknown {
			err = c.commit(conn, c.history[n-1])
		} else {
			c.number++
			x := &history.Txn{ID: int(c.number)*100 + c.id, Client: c.id, Reads: map[int][]int{}, Outcome: history.Aborted}
			c.history = append(c.history, x)
			err = c.transaction(conn, x, int(l.begun.Add(1)/listGeneration)*listKeys)
		}
		if err != nil && !errors.Is(err, errRefused) {
			return
		}
		proc.Pause(time.Duration(l.rest.Load()))
	}
}

// checkLists finds out what is not known yet, and judges the histories of all clients.
func (l *bank) checkLists() {
	l.Helper()
	conn, addr := (*client)(nil), ""
	eventually(l, "a server answers", func() bool {
		for _, addr = range l.addrs {
			if c, err := dial(addr); err == nil {
				conn = c
				return true
			}
		}
		return false
	})
	defer conn.Close()
	for _, c := range l.lists {
		for n := len(c.history); n > 0 && c.err == nil && c.history[n-1].Outcome == history.Unknown; {
			if err := c.commit(conn, c.history[n-1]); err != nil && !errors.Is(err, errRefused) {
				l.Fatal(err)
			}
		}
	}
	counts := judge(l, addr, l.lists)
	l.Logf("%d transactions on lists committed, %d not", counts[history.Committed], counts[history.Aborted])
}
