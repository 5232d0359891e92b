package growth

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/update"
)

// names are the registered names of each kind, as in the support list of the README.
var names = map[string][]string{
	"expression":      expr.Names(),
	"query operator":  match.Operators(),
	"update operator": update.Operators(),
	"stage":           agg.StageNames(),
	"accumulator":     agg.AccumulatorNames(),
	"window operator": agg.WindowNames(),
	"command":         commands.Names(),
}

// Every registered name has a case, and every case has a registered name of its own.
func TestEveryNameHasACase(t *testing.T) {
	for kind, list := range cases() {
		covered, titles := map[string]bool{}, map[string]bool{}
		for _, g := range list {
			covered[g.operator()] = true
			if titles[g.name] {
				t.Errorf("there are two cases %q", g.name)
			}
			titles[g.name] = true
			if !slices.Contains(names[kind], g.operator()) {
				t.Errorf("there is no %s %s, but a case for it", kind, g.operator())
			}
		}
		for _, name := range names[kind] {
			if reason := exempt[name]; !covered[name] && (kind != "command" || reason == "") {
				t.Errorf("the %s %s has no case of growth", kind, name)
			}
		}
	}
	for title := range known {
		kind, name, _ := strings.Cut(title, ": ")
		if !slices.ContainsFunc(cases()[kind], func(g growth) bool { return g.name == name }) {
			t.Errorf("there is no case %q, but an exception for it", title)
		}
	}
}

// ceiling is how much the cost may grow when n doubles.
const ceiling = 2.6

// TestBytes: the allocated bytes do not grow as a square.
func TestBytes(t *testing.T) {
	grow(t, 80, allocated{})
}

// leftOut reports whether -short leaves a case out: it has every fourth.
func leftOut(i int) bool { return testing.Short() && i%4 != 0 }

// grow runs all cases with sizes 2, n, 2n and 4n.
func grow(t *testing.T, base int, m meter) {
	if engines.ForTests() != engines.Default {
		t.Skip("the cost of other engines is not known here")
	}
	servers := fleet{tb: t, of: map[int]*server{}}
	only := os.Getenv("DUSKDB_GROWTH_ONLY")
	for _, kind := range kinds() {
		for i, g := range cases()[kind] {
			title := kind + ": " + g.name
			if !strings.Contains(title, only) || kind != "command" && leftOut(i) { // a command may need those before
				continue
			}
			n := g.size(base)
			f := measureAll(servers, base, g, n, m)
			_, expected := known[title]
			for again, size := 0, base; again < m.tries() && !expected && f.squared(m); again++ {
				if m.larger() && g.limit == 0 && size < 4*base { // a square is clearer there, and caches matter less
					n, size = 2*n, 2*size
					f = measureAll(servers, size, g, n, m)
				} else {
					f = f.min(measureAll(servers, size, g, n, m))
				}
			}
			switch {
			case f.squared(m) && !expected:
				t.Errorf("%s: %s for n = %d, %d, %d: more than %.1f-fold per doubling", title, f.in(m), n, 2*n, 4*n, ceiling)
			case testing.Verbose():
				t.Logf("%s: %s for n = %d, %d, %d", title, f.in(m), n, 2*n, 4*n)
			}
		}
	}
}

// figures are the costs for sizes n, 2n and 4n, without what size 2 costs.
type figures struct{ n, n2, n4 int64 }

func (f figures) min(o figures) figures {
	return figures{min(f.n, o.n), min(f.n2, o.n2), min(f.n4, o.n4)}
}

// squared reports whether the cost grows too fast from n to 4n and in the last step, and is
// more than what a measurement varies by.
func (f figures) squared(m meter) bool {
	last, both := ceiling*float64(max(f.n2, m.noise()/4)), ceiling*ceiling*float64(max(f.n, m.noise()/16))
	return f.n4 > m.noise() && float64(f.n4) > max(last, both)
}

func (f figures) in(m meter) string {
	return fmt.Sprintf("%s, %s, %s", m.show(f.n), m.show(f.n2), m.show(f.n4))
}

// fleet has a server for each size; a case whose n is smaller uses one of the usual size.
type fleet struct {
	tb testing.TB
	of map[int]*server
}

func (f fleet) server(size, n int) *server {
	s := f.of[size]
	if s == nil {
		s = newServer(f.tb, size)
		f.of[size] = s
	}
	s.n = n
	return s
}

// measureAll measures a case with all sizes.
func measureAll(servers fleet, base int, g growth, n int, m meter) figures {
	if g.scale == 0 && g.limit == 0 {
		n = base
	}
	least := servers.server(2, 2).measure(g, m)
	cost := func(k int) int64 {
		return max(servers.server(k*base, k*n).measure(g, m)-least, 0)
	}
	return figures{cost(1), cost(2), cost(4)}
}
