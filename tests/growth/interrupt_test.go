package growth

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/commandtest"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

const (
	// interruptSize is the n of the operations that are interrupted.
	interruptSize = 8192
	// interruptSkip is how often an operation may look whether it was killed before it
	// has to find that it was: once for each two thousand of its n.
	interruptSkip = interruptSize / 2048
)

// interrupted are the kinds of names whose operations can be interrupted as long as they run.
func interrupted() []string {
	return slices.DeleteFunc(kinds(), func(kind string) bool { return kind == "command" })
}

// TestInterruption: an operation of n elements, documents, fields or branches looks at short
// intervals whether it was killed.
func TestInterruption(t *testing.T) {
	if engines.ForTests() != engines.Default {
		t.Skip("the intervals do not depend on the engine")
	}
	s := &server{Server: commandtest.New(t, "enableTestCommands", "1"), n: interruptSize}
	for _, text := range fixture {
		s.must(text)
	}
	only := os.Getenv("DUSKDB_GROWTH_ONLY")
	known := map[string]bool{}
	for _, kind := range interrupted() {
		for i, g := range cases()[kind] {
			title := kind + ": " + g.name
			known[title] = true
			if !strings.Contains(title, only) || g.fails || g.limit != 0 || brief[title] || leftOut(i) {
				continue
			}
			if code := s.interrupt(g); code != mongoerr.Interrupted {
				t.Errorf("%s: ended with code %d when it was killed at the look number %d", title, code, interruptSkip+1)
			}
		}
	}
	for title := range brief {
		if !known[title] {
			t.Errorf("there is no case %q, but an exception for it", title)
		}
	}
}

// interrupt runs a case that is killed when it has looked a few times whether it was, and
// returns the code with which it ends, 0 for success.
func (s *server) interrupt(g growth) mongoerr.Code {
	s.n = g.size(interruptSize)
	for _, text := range g.before {
		if rest, each := strings.CutPrefix(text, "EACH "); each {
			s.each(rest)
		} else {
			s.must(text)
		}
	}
	c := s.prepare(g.run, g.each)[0]
	point := func(mode string) {
		s.Send("admin", parse(fmt.Sprintf(`{configureFailPoint: "checkForInterruptFail", mode: %s, data: {threadName: "conn%d", chance: 1}}`, mode, s.Conn.ID)).body)
	}
	point(fmt.Sprintf("{skip: %d}", interruptSkip))
	reply := s.Send(c.db, c.body)
	point(`"off"`)
	if succeeded(reply) {
		return mongoerr.OK
	}
	if e := reply.Lookup("writeErrors").Doc().Index(0).Doc(); e != nil {
		reply = e
	}
	return mongoerr.Code(reply.Lookup("code").Int32())
}
