package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

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
	x, ok := c.who(w, r, false)
	if !ok {
		return
	}
	size, err := frameSize(r.URL.Query().Get("frame"))
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if !c.begin(w, c.events) {
		return
	}
	defer func() { <-c.events }()
	nc, _, err := c.connect(r, x)
	if err != nil {
		refuse(w, http.StatusUnauthorized, "log in again")
		return
	}
	defer nc.close()
	defer context.AfterFunc(r.Context(), nc.close)()
	if x != nil {
		defer context.AfterFunc(x.ctx, nc.close)()
	}
	s := &eventStream{console: c, w: w, out: http.NewResponseController(w), nc: nc, db: r.URL.Query().Get("db"), coll: r.URL.Query().Get("collection")}
	if err := s.open(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("only") == "expirations"); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	next := s.next
	if size > 0 {
		f := &frames{s: s, most: size}
		next = func() error { return f.next(r.Context()) }
	}
	for next() == nil {
		if x != nil && c.sessions.of(r) != x { // it counts as used
			return
		}
	}
}

// eventStream is an open change stream.
type eventStream struct {
	console  *Console
	w        http.ResponseWriter
	out      *http.ResponseController
	nc       *conn
	db, coll string
	cursor   int64
	events   value.Doc // of the first batch
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
	reply, _, err := s.nc.run(b.Doc())
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
	var text strings.Builder
	for v := range s.events.Values() {
		d := v.Doc()
		fmt.Fprintf(&text, "id: %s\ndata: %s\n\n", token(d), d.JSON())
	}
	if text.Len() == 0 {
		text.WriteString(": no events\n\n")
	}
	if err := s.write(text.String()); err != nil {
		return err
	}
	return s.more(awaitMS)
}

// write sends text at once.
func (s *eventStream) write(text string) error {
	_ = s.out.SetWriteDeadline(s.console.options.Clock.Now().Add(writeTime))
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.out.Flush()
}

// more asks for events, and waits for them for some time; 0: as little as possible.
func (s *eventStream) more(wait int64) error {
	if s.cursor == 0 {
		return errors.New("the stream has ended")
	}
	reply, _, err := s.nc.run(value.NewDoc("getMore", value.Int64(s.cursor), "collection", value.String(s.coll),
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
