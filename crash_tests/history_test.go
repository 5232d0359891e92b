package crash_tests

import (
	"fmt"
	"slices"
	"testing"
)

// A history is what clients did to lists: a transaction reads lists and
// appends its own number to some. What it read tells which transactions came
// before it, and what others read, which came after. Snapshot isolation
// allows no cycle of such dependencies with less than two anti-dependencies
// ("did not see").

// outcome is what a client knows of its transaction.
type outcome int

const (
	unknown outcome = iota // the server was killed while it was to commit
	committed
	aborted
)

// appendTxn is a transaction of a history.
type appendTxn struct {
	id, client int
	reads      map[int][]int // as they were before its own appends
	appends    []int
	outcome    outcome
}

// checkHistory judges a history by the lists that it came to.
func checkHistory(history []*appendTxn, final map[int][]int) error {
	g := graph{}
	for _, x := range history {
		if err := x.checkLists(final); err != nil {
			return err
		}
	}
	for _, list := range final {
		for i := 1; i < len(list); i++ {
			g.edge(list[i-1], list[i])
		}
	}
	last := map[int]int{} // of each client
	for _, x := range history {
		if x.outcome != committed {
			continue
		}
		if before, ok := last[x.client]; ok {
			g.edge(before, x.id)
		}
		last[x.client] = x.id
		for _, list := range x.reads {
			if len(list) > 0 {
				g.edge(list[len(list)-1], x.id)
			}
		}
	}
	return g.check(history, final)
}

// checkLists: what was committed is there once, what was not is not there,
// and what was read is the beginning of what there is.
func (x *appendTxn) checkLists(final map[int][]int) error {
	for _, k := range x.appends {
		n := 0
		for _, id := range final[k] {
			if id == x.id {
				n++
			}
		}
		if x.outcome == unknown || (n == 1) != (x.outcome == committed) || n > 1 {
			return fmt.Errorf("transaction %d (outcome %d) stands %d times in list %d", x.id, x.outcome, n, k)
		}
	}
	for k, list := range x.reads {
		if len(list) > len(final[k]) || !slices.Equal(list, final[k][:len(list)]) {
			return fmt.Errorf("transaction %d read %v of list %d, which is %v", x.id, list, k, final[k])
		}
	}
	return nil
}

// graph is, for each transaction, those that follow it.
type graph map[int][]int

func (g graph) edge(a, b int) {
	if a != b {
		g[a] = append(g[a], b)
	}
}

func (g graph) check(history []*appendTxn, final map[int][]int) error {
	for _, x := range history {
		if x.outcome != committed {
			continue
		}
		if g.reaches(x.id, x.id) {
			return fmt.Errorf("transaction %d depends on itself", x.id)
		}
		for k, list := range x.reads {
			if len(list) == len(final[k]) || final[k][len(list)] == x.id {
				continue
			}
			if unseen := final[k][len(list)]; g.reaches(unseen, x.id) {
				return fmt.Errorf("transaction %d did not see %d, which it depends on", x.id, unseen)
			}
		}
	}
	return nil
}

// reaches reports whether a path of at least one step leads from a to b.
func (g graph) reaches(a, b int) bool {
	seen, stack := map[int]bool{}, []int{a}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, m := range g[n] {
			if m == b {
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

// The check itself finds what is forbidden, and allows what is not.
func TestCheckHistory(t *testing.T) {
	txn := func(id, client int, reads map[int][]int, appends ...int) *appendTxn {
		return &appendTxn{id: id, client: client, reads: reads, appends: appends, outcome: committed}
	}
	type lists = map[int][]int
	tests := map[string]struct {
		history []*appendTxn
		final   lists
		ok      bool
	}{
		"one after the other": {[]*appendTxn{txn(1, 1, lists{0: {}}, 0), txn(2, 2, lists{0: {1}}, 0)}, lists{0: {1, 2}}, true},
		"write skew":          {[]*appendTxn{txn(1, 1, lists{0: {}}, 1), txn(2, 2, lists{1: {}}, 0)}, lists{0: {2}, 1: {1}}, true},
		"lost update":         {[]*appendTxn{txn(1, 1, lists{0: {}}, 0), txn(2, 2, lists{0: {}}, 0)}, lists{0: {1, 2}}, false},
		"lost append":         {[]*appendTxn{txn(1, 1, lists{}, 0), txn(2, 2, lists{}, 0)}, lists{0: {2}}, false},
		"half a transaction":  {[]*appendTxn{txn(1, 1, lists{}, 0, 1)}, lists{0: {1}}, false},
		"read skew":           {[]*appendTxn{txn(1, 1, lists{}, 0, 1), txn(2, 2, lists{0: {1}, 1: {}})}, lists{0: {1}, 1: {1}}, false},
		"dirty read":          {[]*appendTxn{{id: 1, appends: []int{0}, outcome: aborted}, txn(2, 2, lists{0: {1}})}, lists{0: {}}, false},
		"own write not seen":  {[]*appendTxn{txn(1, 1, lists{}, 0), txn(2, 1, lists{0: {}})}, lists{0: {1}}, false},
		"circular":            {[]*appendTxn{txn(1, 1, lists{1: {2}}, 0), txn(2, 2, lists{0: {1}}, 1)}, lists{0: {1}, 1: {2}}, false},
		"never known":         {[]*appendTxn{{id: 1, appends: []int{0}}}, lists{0: {1}}, false},
	}
	for name, tt := range tests {
		if err := checkHistory(tt.history, tt.final); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
