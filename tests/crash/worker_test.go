package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// worker writes to its own documents and records the server's replies.
type worker struct {
	id      int
	rnd     *rand.Rand
	docs    map[int64]int64 // _id -> v, as acknowledged
	pending *change         // sent, and not answered before the crash
	next    int64
	txn     int64
	acks    int
	durable int // acknowledged with j: true
	err     error
}

// change is the effect of one command: new values of documents, -1 for a removed one.
type change map[int64]int64

func newWorker(id int, seed uint64) *worker {
	return &worker{id: id, rnd: rand.New(rand.NewPCG(seed, uint64(id))), docs: map[int64]int64{}, next: int64(id) * 1_000_000}
}

// work writes until the server is killed.
func (w *worker) work(addr string) {
	c, err := dial(addr)
	if err != nil {
		return
	}
	defer c.Close()
	for {
		durable := w.rnd.IntN(4) == 0
		ch, err := w.step(c, durable)
		switch {
		case errors.Is(err, errRefused):
			w.err = fmt.Errorf("worker %d wanted %v: %w", w.id, ch, err)
			return
		case err != nil:
			w.pending = &ch
			return
		}
		w.apply(ch)
		w.acks++
		if durable {
			w.durable++
		}
	}
}

func (w *worker) apply(ch change) {
	for id, v := range ch {
		if v < 0 {
			delete(w.docs, id)
		} else {
			w.docs[id] = v
		}
	}
}

// step runs one random command. It returns what the command changes, if it
// is acknowledged.
func (w *worker) step(c *client, durable bool) (change, error) {
	concern := value.Document(value.NewDoc("w", value.Int32(1), "j", value.Bool(durable)))
	id, any := w.pick()
	switch n := w.rnd.IntN(10); {
	case n < 4 || !any:
		return w.insert(c, concern)
	case n < 7:
		v := w.docs[id] + 1
		u := value.NewDoc("q", idDoc(id), "u", value.Document(value.NewDoc("$inc", value.Document(value.NewDoc("v", value.Int64(1))))))
		_, err := c.run("update", value.String("c"), "updates", value.NewArray(value.Document(u)), "writeConcern", concern)
		return change{id: v}, err
	case n < 8:
		d := value.NewDoc("q", idDoc(id), "limit", value.Int32(1))
		_, err := c.run("delete", value.String("c"), "deletes", value.NewArray(value.Document(d)), "writeConcern", concern)
		return change{id: -1}, err
	default:
		return w.transaction(c, id, concern)
	}
}

func idDoc(id int64) value.Value { return value.Document(value.NewDoc("_id", value.Int64(id))) }

// pick chooses one of the worker's documents.
func (w *worker) pick() (int64, bool) {
	if len(w.docs) == 0 {
		return 0, false
	}
	n := w.rnd.IntN(len(w.docs))
	for id := range w.docs {
		if n--; n < 0 {
			return id, true
		}
	}
	return 0, false
}

func (w *worker) insert(c *client, concern value.Value) (change, error) {
	ch := change{}
	var docs []value.Value
	for range 1 + w.rnd.IntN(3) {
		ch[w.next] = 0
		docs = append(docs, value.Document(w.document(w.next)))
		w.next++
	}
	_, err := c.run("insert", value.String("c"), "documents", value.NewArray(docs...), "writeConcern", concern)
	return ch, err
}

// document has fields for each index, among them an array.
func (w *worker) document(id int64) value.Doc {
	pad := make([]byte, w.rnd.IntN(300))
	return value.NewDoc("_id", value.Int64(id), "v", value.Int64(0), "w", value.Int32(int32(w.id)),
		"tags", value.NewArray(value.Int64(id%7), value.Int64(id%5)), "pad", value.Binary(0, pad))
}

// transaction inserts one document and updates another, together.
func (w *worker) transaction(c *client, id int64, concern value.Value) (change, error) {
	w.txn++
	session := value.Document(value.NewDoc("id", value.Binary(4, []byte(fmt.Sprintf("crash-worker-%03d", w.id)))))
	inTxn := func(fields ...any) (value.Doc, error) {
		return c.run(append(fields, "lsid", session, "txnNumber", value.Int64(w.txn), "autocommit", value.Bool(false))...)
	}
	ch := change{id: w.docs[id] + 1, w.next: 0}
	doc := value.Document(w.document(w.next))
	w.next++
	if _, err := inTxn("insert", value.String("c"), "documents", value.NewArray(doc), "startTransaction", value.Bool(true)); err != nil {
		return change{}, err // before the commit nothing can be there
	}
	u := value.NewDoc("q", idDoc(id), "u", value.Document(value.NewDoc("$inc", value.Document(value.NewDoc("v", value.Int64(1))))))
	if _, err := inTxn("update", value.String("c"), "updates", value.NewArray(value.Document(u))); err != nil {
		return change{}, err
	}
	_, err := c.run("commitTransaction", value.Int32(1), "lsid", session, "txnNumber", value.Int64(w.txn),
		"autocommit", value.Bool(false), "writeConcern", concern, "$db", value.String("admin"))
	return ch, err
}

// check compares the data with the acknowledged writes. A write without a reply may have
// been applied, but only completely. The worker continues from this state.
func (w *worker) check(tb testing.TB, found map[int64]int64) {
	tb.Helper()
	if w.err != nil {
		tb.Fatal(w.err)
	}
	happened := w.pending != nil && w.matches(found, *w.pending)
	if !happened && !w.matches(found, nil) {
		tb.Errorf("worker %d: %s", w.id, w.differences(found))
	}
	if happened {
		w.apply(*w.pending)
	}
	w.pending = nil
}

// matches reports whether found is the acknowledged state with ch applied.
func (w *worker) matches(found map[int64]int64, ch change) bool {
	want := map[int64]int64{}
	for id, v := range w.docs {
		want[id] = v
	}
	for id, v := range ch {
		if v < 0 {
			delete(want, id)
		} else {
			want[id] = v
		}
	}
	if len(want) != len(found) {
		return false
	}
	for id, v := range want {
		if got, ok := found[id]; !ok || got != v {
			return false
		}
	}
	return true
}

func (w *worker) differences(found map[int64]int64) (text string) {
	for id, v := range w.docs {
		if got, ok := found[id]; !ok || got != v {
			text += fmt.Sprintf(" _id %d should have %d and has %d (%v);", id, v, got, ok)
		}
	}
	for id, v := range found {
		if _, ok := w.docs[id]; !ok {
			text += fmt.Sprintf(" _id %d with %d should not be there;", id, v)
		}
	}
	if w.pending != nil {
		text += fmt.Sprintf(" under way was %v", *w.pending)
	}
	return text
}
