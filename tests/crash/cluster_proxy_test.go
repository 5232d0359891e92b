//go:build unix

package crash

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/proc"
)

// proxy stands between servers and their database. It can be told to refuse, to hold
// up, to delay and to cut connections, and to lead to another database.
type proxy struct {
	net.Listener
	mu      sync.Mutex
	to      string
	refuses bool
	silent  bool          // new connections get no answer
	delay   time.Duration // delay of each piece of data
	loses   direction     // what gets lost without a word
	held    chan struct{} // while nothing gets through: closed at its end
	tears   int           // how many pieces of data get through by half, before the connection ends
	conns   map[net.Conn]bool
}

// direction is one of the two in which a connection carries data.
type direction int

const (
	neither direction = iota
	requests
	answers
	both
)

func newProxy(tb testing.TB, to string) *proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &proxy{Listener: l, to: to, conns: map[net.Conn]bool{}}
	tb.Cleanup(func() {
		_ = l.Close()
		p.hold(false)
		p.cut()
	})
	go p.accept()
	return p
}

func (p *proxy) accept() {
	for {
		c, err := p.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		to, refuses, silent := p.to, p.refuses, p.silent
		if silent {
			p.conns[c] = true
		}
		p.mu.Unlock()
		if silent {
			continue
		}
		if refuses {
			_ = c.Close()
			continue
		}
		go p.serve(c, to)
	}
}

func (p *proxy) serve(c net.Conn, to string) {
	db, err := net.Dial("tcp", to)
	if err != nil {
		_ = c.Close()
		return
	}
	p.mu.Lock()
	p.conns[c], p.conns[db] = true, true
	p.mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(func() { p.pass(c, db, requests) })
	wg.Go(func() { p.pass(db, c, answers) })
	wg.Wait()
	p.mu.Lock()
	delete(p.conns, c)
	delete(p.conns, db)
	p.mu.Unlock()
}

// pass copies what comes from one side.
func (p *proxy) pass(from, to net.Conn, way direction) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			torn, lost := p.wait(way)
			if torn {
				n /= 2
			}
			if lost {
				continue
			}
			if _, err := to.Write(b[:n]); err != nil || torn {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// wait is what happens to data before they get through. It reports whether only half of
// them may, or none.
func (p *proxy) wait(way direction) (torn, lost bool) {
	p.mu.Lock()
	lost = way == p.loses || p.loses == both
	delay, held := p.delay, p.held
	if torn = p.tears > 0; torn {
		p.tears--
	}
	p.mu.Unlock()
	if delay > 0 {
		proc.Pause(delay)
	}
	if held != nil {
		<-held
	}
	return torn, lost
}

// lose makes everything get lost that goes one way, without a word to either side; with neither,
// everything gets through again. The connections that have lost something end then.
func (p *proxy) lose(way direction) {
	p.mu.Lock()
	p.loses = way
	p.mu.Unlock()
	if way == neither {
		p.cut()
	}
}

// tear ends connections in the middle of what they carry.
func (p *proxy) tear(pieces int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tears = pieces
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// refuse makes the proxy refuse connections, and ends those that there are, or accept
// them again.
func (p *proxy) refuse(yes bool) {
	p.mu.Lock()
	p.refuses = yes
	p.mu.Unlock()
	if yes {
		p.cut()
	}
}

// hold keeps back everything, or lets it go.
func (p *proxy) hold(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case yes && p.held == nil:
		p.held = make(chan struct{})
	case !yes && p.held != nil:
		close(p.held)
		p.held = nil
	}
}

// slow delays everything.
func (p *proxy) slow(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// lead makes the proxy lead to another database.
func (p *proxy) lead(to string) {
	p.mu.Lock()
	p.to = to
	p.mu.Unlock()
	p.cut()
}

// vanish makes the database a machine that has lost its power: nothing gets through, new
// connections get no answer, and those that there are end when the systems of the servers give
// them up.
func (p *proxy) vanish() {
	p.mu.Lock()
	p.silent = true
	p.mu.Unlock()
	p.hold(true)
	time.AfterFunc(11*time.Second, p.cut)
}
