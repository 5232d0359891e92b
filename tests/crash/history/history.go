// Package history checks the transactions of clients on lists: a transaction reads lists
// and appends its own number to some. Its reads show which transactions were before it,
// and the reads of others which were after it. Snapshot isolation allows no cycle of such
// dependencies with fewer than two anti-dependencies ("did not see").
package history

import (
	"fmt"
	"slices"
)

// Outcome is what a client knows of its transaction.
type Outcome int

// The outcomes.
const (
	Unknown Outcome = iota // the server was killed while it was to commit
	Committed
	Aborted
)

// Txn is a transaction. In a history, the transactions of a client are in the order in
// which it ran them.
type Txn struct {
	ID, Client int
	Reads      map[int][]int // as they were before its own appends
	Appends    []int
	Outcome    Outcome
}

// Check checks a history against the final lists.
func Check(history []*Txn, final map[int][]int) error {
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
		if x.Outcome != Committed {
			continue
		}
		if before, ok := last[x.Client]; ok {
			g.edge(before, x.ID)
		}
		last[x.Client] = x.ID
		for _, list := range x.Reads {
			if len(list) > 0 {
				g.edge(list[len(list)-1], x.ID)
			}
		}
	}
	return g.check(history, final)
}

// checkLists checks that each committed number is in its list once, that others are not,
// and that each read list is the beginning of the final one.
func (x *Txn) checkLists(final map[int][]int) error {
	for _, k := range x.Appends {
		n := 0
		for _, id := range final[k] {
			if id == x.ID {
				n++
			}
		}
		if x.Outcome == Unknown || (n == 1) != (x.Outcome == Committed) || n > 1 {
			return fmt.Errorf("transaction %d (outcome %d) stands %d times in list %d", x.ID, x.Outcome, n, k)
		}
	}
	for k, list := range x.Reads {
		if len(list) > len(final[k]) || !slices.Equal(list, final[k][:len(list)]) {
			return fmt.Errorf("transaction %d read %v of list %d, which is %v", x.ID, list, k, final[k])
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

func (g graph) check(history []*Txn, final map[int][]int) error {
	for _, x := range history {
		if x.Outcome != Committed {
			continue
		}
		if g.reaches(x.ID, x.ID) {
			return fmt.Errorf("transaction %d depends on itself", x.ID)
		}
		for k, list := range x.Reads {
			if len(list) == len(final[k]) || final[k][len(list)] == x.ID {
				continue
			}
			if unseen := final[k][len(list)]; g.reaches(unseen, x.ID) {
				return fmt.Errorf("transaction %d did not see %d, which it depends on", x.ID, unseen)
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
