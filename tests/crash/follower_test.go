package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// TestFollower kills the server while clients write at random and a follower
// rebuilds their collection from its change stream. After each restart the follower
// resumes; at the end both collections are the same, byte by byte.
func TestFollower(t *testing.T) {
	d, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	dir := t.TempDir()
	f := &follower{rnd: rand.New(rand.NewPCG(seed, 3)), docs: map[string]string{}}
	writers := make([]*randomWriter, 4)
	for i := range writers {
		writers[i] = &randomWriter{id: i, rnd: rand.New(rand.NewPCG(seed, uint64(200+i)))}
	}
	lives := 0
	for until := time.Now().Add(d); time.Now().Before(until) && !t.Failed(); lives++ {
		p := start(t, dir)
		if lives == 0 {
			f.prepare(t, p.Addr())
		}
		var wg sync.WaitGroup
		for _, w := range writers {
			wg.Go(func() { w.work(p.Addr()) })
		}
		wg.Go(func() { f.follow(p.Addr(), false) })
		wg.Go(func() { compact(p.Addr(), "f") })
		proc.Pause(time.Duration(30+rnd.IntN(300)) * time.Millisecond)
		p.Kill()
		wg.Wait()
		for _, w := range writers {
			if err := errors.Join(f.err, w.err); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := start(t, dir)
	f.follow(p.Addr(), true)
	f.compare(t, p.Addr())
	t.Logf("%d crashes, %d events, %d of them in transactions; %d documents are left", lives, f.events, f.inTxn, len(f.docs))
}

// follower rebuilds a collection from its change stream.
type follower struct {
	rnd     *rand.Rand
	docs    map[string]string // _id -> document
	applied value.Doc         // token of the last event
	batch   value.Doc         // postBatchResumeToken, if nothing came since
	events  int
	inTxn   int
	err     error
}

// prepare creates the collection and the first token.
func (f *follower) prepare(t *testing.T, addr string) {
	t.Helper()
	c, err := dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.must(t, "create", value.String("f"), "changeStreamPreAndPostImages", value.Document(value.NewDoc("enabled", value.Bool(true))))
	reply := c.must(t, f.open()...)
	f.batch = reply.Lookup("cursor").Doc().Lookup("postBatchResumeToken").Doc().Clone()
}

// open returns the command that opens the stream at the follower's position.
func (f *follower) open() []any {
	options := []any{"fullDocument", value.String("required"), "fullDocumentBeforeChange", value.String("required")}
	token := f.applied
	if f.batch != nil && (f.applied == nil || f.rnd.IntN(2) == 0) {
		token = f.batch
	}
	if token != nil {
		options = append(options, []string{"resumeAfter", "startAfter"}[f.rnd.IntN(2)], value.Document(token))
	}
	stage := value.Document(value.NewDoc("$changeStream", value.Document(value.NewDoc(options...))))
	return []any{"aggregate", value.String("f"), "pipeline", value.NewArray(stage), "cursor", value.Document(value.EmptyDoc)}
}

// follow applies events until the server is killed or, with toEnd, until there are no
// more.
func (f *follower) follow(addr string, toEnd bool) {
	c, err := dial(addr)
	if err != nil {
		return
	}
	defer c.Close()
	reply, err := c.run(f.open()...)
	for err == nil && f.err == nil {
		cursor := reply.Lookup("cursor").Doc()
		list := cursor.Lookup("firstBatch")
		if list.IsMissing() {
			list = cursor.Lookup("nextBatch")
		}
		n := 0
		for v := range list.Doc().Values() {
			n++
			if f.err = f.apply(v.Doc()); f.err != nil {
				return
			}
		}
		f.batch = cursor.Lookup("postBatchResumeToken").Doc().Clone()
		if toEnd && n == 0 && cursor.Has("nextBatch") {
			return
		}
		reply, err = c.run("getMore", cursor.Lookup("id"), "collection", value.String("f"), "maxTimeMS", value.Int32(100))
	}
	if errors.Is(err, errRefused) {
		f.err = err
	}
}

// apply applies an event, after it has checked that the document agrees with the event.
func (f *follower) apply(e value.Doc) error {
	id := e.Lookup("documentKey").Doc().Lookup("_id").JSON()
	kind := e.Lookup("operationType").Str()
	before, known := f.docs[id]
	if want := e.Lookup("fullDocumentBeforeChange").Doc(); known == (kind == "insert") || known && string(want) != before {
		return fmt.Errorf("the follower has %s (%v) before %s", value.Doc(before), known, e)
	}
	switch kind {
	case "insert", "replace", "update":
		f.docs[id] = string(e.Lookup("fullDocument").Doc())
	case "delete":
		delete(f.docs, id)
	default:
		return fmt.Errorf("unexpected %s", e)
	}
	if f.events++; e.Has("txnNumber") {
		f.inTxn++
	}
	f.applied, f.batch = e.Lookup("_id").Doc().Clone(), nil
	return nil
}

func (f *follower) compare(t *testing.T, addr string) {
	t.Helper()
	if f.err != nil {
		t.Fatal(f.err)
	}
	c, err := dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	docs := c.all(t, "f")
	for _, d := range docs {
		if got := f.docs[d.Lookup("_id").JSON()]; got != string(d) {
			t.Errorf("the follower has %s, the collection %s", value.Doc(got), d)
		}
	}
	if len(docs) != len(f.docs) || f.events == 0 {
		t.Errorf("the follower has %d documents after %d events, the collection %d", len(f.docs), f.events, len(docs))
	}
}

// randomWriter makes random writes to documents that it shares with others: retryable
// writes or transactions.
type randomWriter struct {
	id     int
	rnd    *rand.Rand
	number int64
	err    error
}

// work writes until the server is killed. Writes may be refused, for example if two
// transactions conflict.
func (w *randomWriter) work(addr string) {
	c, err := dial(addr)
	if err != nil {
		return
	}
	defer c.Close()
	for err == nil || errors.Is(err, errRefused) {
		w.number++
		switch w.rnd.IntN(4) {
		case 0:
			err = w.transaction(c)
		case 1:
			err = w.send(c, w.write(), "lsid", w.session(), "txnNumber", value.Int64(w.number))
		default:
			err = w.send(c, w.write())
		}
	}
}

func (w *randomWriter) session() value.Value {
	return value.Document(value.NewDoc("id", value.Binary(4, fmt.Appendf(nil, "follower-%07d", w.id))))
}

// send runs a command that is given as JSON.
func (w *randomWriter) send(c *client, command string, more ...any) error {
	var fields []any
	for name, v := range value.MustJSON(command).All() {
		fields = append(fields, name, v)
	}
	_, err := c.run(append(fields, more...)...)
	return err
}

func (w *randomWriter) transaction(c *client) error {
	in := []any{"lsid", w.session(), "txnNumber", value.Int64(w.number), "autocommit", value.Bool(false)}
	for i := range 1 + w.rnd.IntN(4) {
		args := in
		if i == 0 {
			args = append(in[:len(in):len(in)], "startTransaction", value.Bool(true))
		}
		if err := w.send(c, w.write(), args...); err != nil {
			return err
		}
	}
	end := []string{`{"commitTransaction": 1}`, `{"abortTransaction": 1}`}[w.rnd.IntN(5)/4]
	return w.send(c, end, append(in, "$db", value.String("admin"))...)
}

// write returns a random retryable write.
func (w *randomWriter) write() string {
	r := w.rnd
	id, n := r.IntN(40), r.IntN(100)
	update := func(u string) string {
		return fmt.Sprintf(`{"update": "f", "updates": [{"q": {"_id": %d}, "u": %s, "upsert": %v}]}`, id, u, r.IntN(2) == 0)
	}
	switch r.IntN(10) {
	case 0:
		return fmt.Sprintf(`{"insert": "f", "ordered": false, "documents": [{"_id": %d, "n": %d}, {"_id": %d, "l": [1, {"a": 1}]}]}`, id, n, r.IntN(40))
	case 1:
		return update(fmt.Sprintf(`{"$set": {"n": %d, "s.a": %d, "s.b": "text"}}`, n, n))
	case 2:
		return update(`{"$push": {"l": {"a": 7}}, "$inc": {"i": 1}}`)
	case 3:
		return update(`{"$pop": {"l": -1}, "$unset": {"n": 1}}`)
	case 4:
		return update(`{"$rename": {"s.a": "s.c"}, "$set": {"x": [3, 2, 1]}}`)
	case 5:
		return update(fmt.Sprintf(`{"replaced": %d, "l": []}`, n))
	case 6:
		return update(fmt.Sprintf(`[{"$set": {"x": [1, %d], "s": {"b": "text", "z": 1}}}, {"$unset": "i"}]`, n))
	case 7, 8:
		return fmt.Sprintf(`{"delete": "f", "deletes": [{"q": {"_id": %d}, "limit": 1}, {"q": {"n": %d}, "limit": 1}]}`, id, n)
	}
	return fmt.Sprintf(`{"findAndModify": "f", "query": {"_id": %d}, "update": {"$set": {"l": [%d, 2, 3], "d.e.f": 1}}}`, id, n)
}
