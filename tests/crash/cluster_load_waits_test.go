//go:build unix

package crash

import (
	"sync"
	"time"
)

// waits are how long the clients of a load went without a success.
type waits struct {
	mu      sync.Mutex
	clients map[int]*wait
}

type wait struct {
	last    time.Time     // the last success
	longest time.Duration // between two of them
	n       int           // successes
}

// success notes that an operation of a client has succeeded.
func (w *waits) success(client int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.clients == nil {
		w.clients = map[int]*wait{}
	}
	c := w.clients[client]
	if c == nil {
		c = &wait{last: now}
		w.clients[client] = c
	}
	c.longest = max(c.longest, now.Sub(c.last))
	c.last = now
	c.n++
}

// reset begins anew, before a fault.
func (w *waits) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.clients {
		c.longest, c.n = 0, 0
	}
}

// recount begins to count successes anew, when a fault has happened.
func (w *waits) recount() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.clients {
		c.n = 0
	}
}

// all reports whether each client has succeeded twice since recount: the first time the
// operation may have been under way before.
func (w *waits) all() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.clients {
		if c.n < 2 {
			return false
		}
	}
	return len(w.clients) > 0
}

// list is the longest wait of each client, and the client with the longest of all.
func (w *waits) list() (list []time.Duration, client int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	longest := time.Duration(-1)
	for i, c := range w.clients {
		list = append(list, c.longest)
		if c.longest > longest {
			longest, client = c.longest, i
		}
	}
	return list, client
}
