package main

import "testing"

// TestTransactionRequests: two updates and a commit have the same number, the first one
// starts it, and the next transaction has the next number.
func TestTransactionRequests(t *testing.T) {
	r := newRequest(shortLoad())
	for number := int64(1); number < 4; number++ {
		for i, want := range []string{"update", "update", "commitTransaction"} {
			buildTransaction(r)
			body := r.body()
			name, _ := body.First()
			if name != want || body.Lookup("txnNumber").Int64() != number || body.Has("startTransaction") != (i == 0) || body.Lookup("autocommit").Truthy() || len(body.Lookup("lsid").Doc()) < 16 {
				t.Errorf("request %d of transaction %d: %s", i, number, body)
			}
			if r.session.open() != (i < 2) {
				t.Errorf("after request %d the transaction is open: %v", i, r.session.open())
			}
		}
	}
}

// TestOwnShare: workers never draw the same document, and all stay within the data set.
func TestOwnShare(t *testing.T) {
	const workers, docs = 3, 10
	by := map[int32]int{}
	for w := range workers {
		r := newRequest(shortLoad())
		r.opts.Docs, r.worker, r.workers = docs, w, workers
		for range 200 {
			id := r.ownShare()
			if other, drawn := by[id]; id < 0 || id >= docs || drawn && other != w {
				t.Fatalf("worker %d draws %d, which is worker %d's", w, id, other)
			}
			by[id] = w
		}
	}
	if len(by) != docs/workers*workers {
		t.Errorf("%d documents are drawn", len(by))
	}
}
