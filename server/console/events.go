package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/sync/semaphore"

	"github.com/duskdb/duskdb/value"
)

// awaitMS is how long the server waits for events before the stream shows that it lives.
const awaitMS = 1000

// batch is the number of events that the server sends at a time, at most. It takes the server
// less than half a millisecond, so that clients do not wait for it.
const batch = 32

// stream sends a change stream as server-sent events. The id of an event is its resume
// token, with which the browser continues after an interruption.
func (c *Console) stream(w http.ResponseWriter, r *http.Request) {
	if err := c.checkPage(r); err != nil {
		refuse(w, http.StatusForbidden, err.Error())
		return
	}
	x, ok := c.who(w, r)
	if !ok {
		return
	}
	size, err := frameSize(r.URL.Query().Get("frame"))
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if !begin(w, c.events) {
		return
	}
	defer func() { <-c.events }()
	nc, _, err := c.connect(r, x)
	if err != nil {
		refuse(w, http.StatusUnauthorized, "log in again")
		return
	}
	defer nc.close()
	defer nc.client.Release()
	nc.client.SetBudget(share{r.Context(), c.batches})
	defer context.AfterFunc(r.Context(), nc.close)()
	if x != nil {
		defer context.AfterFunc(x.ctx, nc.close)()
	}
	query := r.URL.Query()
	s := &eventStream{
		console: c, w: w, out: http.NewResponseController(w), nc: nc,
		db: query.Get("db"), coll: query.Get("collection"),
	}
	if err := s.open(r.Header.Get("Last-Event-ID"), query.Get("only") == "expirations"); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	next := s.next
	if size > 0 {
		f := &frames{s: s, max: size}
		next = func() error { return f.next(r.Context()) }
	}
	for next() == nil {
		if now, _ := c.sessionOf(r); now != x { // it counts as used
			return
		}
	}
}

// share is what the stream of a request may take of the memory for large batches.
type share struct {
	ctx context.Context
	of  *semaphore.Weighted
}

// Take implements wire.Budget.
func (s share) Take(n int) error { return s.of.Acquire(s.ctx, int64(n)) }

// Give implements wire.Budget.
func (s share) Give(n int) { s.of.Release(int64(n)) }

// eventStream is an open change stream.
type eventStream struct {
	console  *Console
	w        http.ResponseWriter
	out      *http.ResponseController
	nc       *conn
	db, coll string
	cursor   int64
	events   value.Doc // events of the last batch that are not sent yet
}

// open opens the change stream of a collection, a database or the server.
func (s *eventStream) open(after string, expirations bool) error {
	b := value.NewBuilder()
	if s.coll != "" {
		b.String("aggregate", s.coll)
	} else {
		b.Int32("aggregate", 1)
	}
	b.StartArray("pipeline").StartDocument("").StartDocument("$changeStream").Bool("showExpandedEvents", true)
	if s.db == "" {
		s.db = "admin"
		b.Bool("allChangesForCluster", true)
	}
	if after != "" {
		b.Document("resumeAfter", value.NewDoc("_data", value.String(after)))
	}
	b.End().End()
	if expirations {
		// The server need not make events that cannot match by their kind.
		b.StartDocument("").StartDocument("$match").StartDocument("operationType").StartArray("$in").String("", "delete").String("", "drop").End().End()
		b.Document("expiration", value.NewDoc("$exists", value.Bool(true))).End().End()
	}
	b.End().StartDocument("cursor").Int32("batchSize", batch).End().String("$db", s.db)
	reply, err := s.nc.run(b.Doc())
	if err != nil {
		return err
	}
	if !reply.Lookup("ok").Truthy() {
		return errors.New(reply.Lookup("errmsg").Str())
	}
	s.take(reply, "firstBatch")
	return nil
}

func (s *eventStream) take(reply value.Doc, name string) {
	c := reply.Lookup("cursor").Doc()
	s.cursor, s.events = c.Lookup("id").Int64(), c.Lookup(name).Doc()
	if ns := c.Lookup("ns").Str(); ns != "" {
		_, s.coll, _ = strings.Cut(ns, ".")
	}
}

// token is the resume token of an event.
func token(event value.Doc) string { return event.Lookup("_id").Doc().Lookup("_data").Str() }

// next sends the events at hand, each by itself, and asks for more. A client that does not
// read ends the stream; nothing is collected for it beyond one batch.
func (s *eventStream) next() error {
	if err := s.write(func(out *bufio.Writer) error {
		n := 0
		for v := range s.events.Values() {
			n++
			if err := writeEvent(out, token(v.Doc()), v.Doc()); err != nil {
				return err
			}
		}
		if n == 0 {
			return signOfLife(out)
		}
		return nil
	}); err != nil {
		return err
	}
	return s.more(awaitMS)
}

// writeEvent writes an event with its resume token.
func writeEvent(out *bufio.Writer, token string, d value.Doc) error {
	_, _ = fmt.Fprintf(out, "id: %s\ndata: ", token)
	if err := value.WriteJSON(out, bytes.NewReader(d), false); err != nil {
		return err
	}
	_, err := out.WriteString("\n\n")
	return err
}

func signOfLife(out *bufio.Writer) error {
	_, err := out.WriteString(": no events\n\n")
	return err
}

// write sends what fn writes at once, in parts. The client has some time for each.
func (s *eventStream) write(fn func(out *bufio.Writer) error) error {
	out := bufio.NewWriterSize(timed{s}, passBuffer)
	if err := fn(out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return s.out.Flush()
}

// timed writes to the client of a stream, which must read it in some time.
type timed struct{ s *eventStream }

// Write implements io.Writer.
func (t timed) Write(b []byte) (int, error) {
	_ = t.s.out.SetWriteDeadline(t.s.console.options.Clock.Now().Add(writeTime))
	return t.s.w.Write(b)
}

// more asks for events, and waits for them for some time; 0: as little as possible.
func (s *eventStream) more(wait int64) error {
	if s.cursor == 0 {
		return errors.New("the stream has ended")
	}
	reply, err := s.nc.run(value.NewDoc("getMore", value.Int64(s.cursor), "collection", value.String(s.coll),
		"batchSize", value.Int32(batch), "maxTimeMS", value.Int64(max(wait, 1)), "$db", value.String(s.db)))
	if err != nil {
		return err
	}
	if !reply.Lookup("ok").Truthy() {
		return errors.New(reply.Lookup("errmsg").Str())
	}
	s.take(reply, "nextBatch")
	return nil
}
