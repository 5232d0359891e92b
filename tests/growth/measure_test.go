package growth

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	service "github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/value"
)

// meter is a kind of cost.
type meter interface {
	now() int64   // the total so far
	runs() int    // of which the cheapest counts
	tries() int   // further measurements before a failure counts
	larger() bool // whether they are made with larger sizes
	noise() int64 // what a measurement varies by at most
	show(int64) string
}

// allocated are the allocated bytes of the process.
type allocated struct{}

func (allocated) now() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}
func (allocated) runs() int           { return 2 }
func (allocated) tries() int          { return 2 }
func (allocated) larger() bool        { return false }
func (allocated) noise() int64        { return 256 << 10 }
func (allocated) show(n int64) string { return fmt.Sprintf("%d kB", n>>10) }

// maxMemory is where the garbage collector runs even during a measurement.
const maxMemory = 1 << 30

// measure returns what a case costs, without collecting garbage as long as there is memory.
func (s *server) measure(g growth, m meter) int64 {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(maxMemory))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	least := int64(-1)
	for range m.runs() {
		if cost := s.once(g, m); least < 0 || cost < least {
			least = cost
		}
	}
	return least
}

// once prepares and runs a case.
func (s *server) once(g growth, m meter) int64 {
	for _, text := range g.before {
		if rest, each := strings.CutPrefix(text, "EACH "); each {
			s.each(rest)
		} else {
			s.must(text)
		}
	}
	list := s.prepare(g.run, g.each)
	if g.then != "" {
		list = append(list, s.prepare(g.then, false)...)
	}
	requests := make([]*service.Request, len(list))
	for i, c := range list {
		b := value.NewBuilder()
		it := c.body.Iter()
		b.Raw(it.Rest())
		requests[i] = &service.Request{Body: b.String("$db", c.db).Doc()}
	}
	var out []byte
	start := m.now()
	for _, r := range requests {
		out, _ = s.Service.Handle(context.Background(), s.Conn, r, out[:0])
	}
	cost := m.now() - start
	if reply := value.Doc(out); succeeded(reply) == g.fails {
		s.Errorf("%s, size %d: %.300s\nanswered %.500s", g.name, s.n, g.run, reply.String())
	}
	return cost
}
