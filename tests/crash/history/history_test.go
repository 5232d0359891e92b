package history

import "testing"

// Check refuses forbidden histories and accepts allowed ones.
func TestCheck(t *testing.T) {
	txn := func(id, client int, reads map[int][]int, appends ...int) *Txn {
		return &Txn{ID: id, Client: client, Reads: reads, Appends: appends, Outcome: Committed}
	}
	type lists = map[int][]int
	tests := map[string]struct {
		history []*Txn
		final   lists
		ok      bool
	}{
		"one after the other": {[]*Txn{txn(1, 1, lists{0: {}}, 0), txn(2, 2, lists{0: {1}}, 0)}, lists{0: {1, 2}}, true},
		"write skew":          {[]*Txn{txn(1, 1, lists{0: {}}, 1), txn(2, 2, lists{1: {}}, 0)}, lists{0: {2}, 1: {1}}, true},
		"lost update":         {[]*Txn{txn(1, 1, lists{0: {}}, 0), txn(2, 2, lists{0: {}}, 0)}, lists{0: {1, 2}}, false},
		"lost append":         {[]*Txn{txn(1, 1, lists{}, 0), txn(2, 2, lists{}, 0)}, lists{0: {2}}, false},
		"half a transaction":  {[]*Txn{txn(1, 1, lists{}, 0, 1)}, lists{0: {1}}, false},
		"read skew":           {[]*Txn{txn(1, 1, lists{}, 0, 1), txn(2, 2, lists{0: {1}, 1: {}})}, lists{0: {1}, 1: {1}}, false},
		"dirty read":          {[]*Txn{{ID: 1, Appends: []int{0}, Outcome: Aborted}, txn(2, 2, lists{0: {1}})}, lists{0: {}}, false},
		"own write not seen":  {[]*Txn{txn(1, 1, lists{}, 0), txn(2, 1, lists{0: {}})}, lists{0: {1}}, false},
		"circular":            {[]*Txn{txn(1, 1, lists{1: {2}}, 0), txn(2, 2, lists{0: {1}}, 1)}, lists{0: {1}, 1: {2}}, false},
		"never known":         {[]*Txn{{ID: 1, Appends: []int{0}}}, lists{0: {1}}, false},
	}
	for name, tt := range tests {
		if err := Check(tt.history, tt.final); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
