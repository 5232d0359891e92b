package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// awaitMS is how long the server waits for events before the stream shows that it lives.
const awaitMS = 1000

// batch is the number of events that the server sends at a time, at most.
const batch = 500

// stream sends a change stream as server-sent events. The id of an event is its resume
// token, with which the browser continues after an interruption.
func (c *Console) stream(w http.ResponseWriter, r *http.Request) {
	x, ok := c.who(w, r, false)
	if !ok || !c.begin(w, c.events) {
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
	for s.next() == nil {
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
		b.StartDocument("").Document("$match", value.NewDoc("expiration", value.Document(value.NewDoc("$exists", value.Bool(true))))).End()
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

// next sends the events at hand and asks for more. A client that does not read ends the
// stream; nothing is collected for it beyond one batch.
func (s *eventStream) next() error {
	_ = s.out.SetWriteDeadline(s.console.options.Clock.Now().Add(writeTime))
	n := 0
	for v := range s.events.Values() {
		d := v.Doc()
		if _, err := fmt.Fprintf(s.w, "id: %s\ndata: %s\n\n", d.Lookup("_id").Doc().Lookup("_data").Str(), d.JSON()); err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		if _, err := fmt.Fprint(s.w, ": no events\n\n"); err != nil {
			return err
		}
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	if s.cursor == 0 {
		return errors.New("the stream has ended")
	}
	reply, _, err := s.nc.run(value.NewDoc("getMore", value.Int64(s.cursor), "collection", value.String(s.coll),
		"batchSize", value.Int32(batch), "maxTimeMS", value.Int64(awaitMS), "$db", value.String(s.db)))
	if err != nil {
		return err
	}
	if !reply.Lookup("ok").Truthy() {
		return errors.New(reply.Lookup("errmsg").Str())
	}
	s.take(reply, "nextBatch")
	return nil
}
