//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// watcher reads a change stream. When that fails it opens the stream again, on any
// server, after the last event that it has got.
type watcher struct {
	l        *bank
	ended    chan struct{}
	events   []streamed
	reopened int
}

// streamed is an event: its position, and the marks that the operation has left.
type streamed struct {
	token, coll, mark string
	key, n            int64
	at                time.Time
}

// event is what is read of an event.
type event struct {
	ID struct {
		Data string `bson:"_data"`
	} `bson:"_id"`
	OperationType string
	NS            struct{ Coll string }
	DocumentKey   struct {
		ID any `bson:"_id"`
	} `bson:"documentKey"`
	UpdateDescription struct {
		UpdatedFields bson.M `bson:"updatedFields"`
	} `bson:"updateDescription"`
}

// lastEvent is the document whose insertion ends the streams.
const lastEvent = "the last one"

// follow opens a stream and reads it in the background.
func (l *bank) follow(int) *watcher {
	l.Helper()
	f := &watcher{l: l, ended: make(chan struct{})}
	stream, err := f.open(nil)
	if err != nil {
		l.Fatal(err)
	}
	go f.read(stream)
	return f
}

func (f *watcher) open(after bson.Raw) (*mongo.ChangeStream, error) {
	o := options.ChangeStream().SetMaxAwaitTime(time.Second)
	if after != nil {
		o.SetResumeAfter(after)
	}
	match := bson.D{{Key: "$match", Value: bson.M{"ns.coll": bson.M{"$in": bson.A{"ledger", "counters"}}}}}
	return f.l.db.Watch(context.Background(), mongo.Pipeline{match}, o)
}

// read reads events until the last one.
func (f *watcher) read(stream *mongo.ChangeStream) {
	defer close(f.ended)
	ctx, end := context.WithCancel(context.Background())
	f.l.Cleanup(end)
	token := stream.ResumeToken()
	for {
		for stream.Next(ctx) {
			token = stream.ResumeToken()
			var e event
			if err := stream.Decode(&e); err != nil {
				f.l.Error(err)
				return
			}
			c := e.change()
			if c.mark == lastEvent {
				_ = stream.Close(ctx)
				return
			}
			f.events = append(f.events, c)
		}
		if t := stream.ResumeToken(); t != nil {
			token = t
		}
		if err := stream.Err(); err != nil && !errors.Is(err, context.Canceled) {
			f.l.report(err)
		}
		_ = stream.Close(ctx)
		for again := false; !again; {
			if ctx.Err() != nil {
				return
			}
			next, err := f.open(token)
			if again = err == nil; again {
				stream = next
				f.reopened++
			} else {
				f.l.report(err)
			}
		}
	}
}

func (e *event) change() streamed {
	c := streamed{token: e.ID.Data, coll: e.NS.Coll, at: time.Now()}
	if c.coll == "ledger" {
		c.mark, _ = e.DocumentKey.ID.(string)
		return c
	}
	c.key = number(e.DocumentKey.ID)
	for name, v := range e.UpdateDescription.UpdatedFields {
		switch {
		case name == "n":
			c.n = number(v)
		case len(name) > 4: // ops.7
			c.mark, _ = v.(string)
		}
	}
	return c
}

// checkStreams ends the streams. All of them have had the same events in the same
// order, which are those of the documents, each once.
func (l *bank) checkStreams() {
	l.Helper()
	l.insert("ledger", bson.M{"_id": lastEvent, "from": 0, "to": 0, "amount": 0})
	for i, f := range l.streams {
		select {
		case <-f.ended:
		case <-time.After(patience):
			l.Fatalf("stream %d has not got the last event", i)
		}
	}
	var delays []time.Duration
	marks := map[string]int{}
	last := map[int64]int64{}
	token := ""
	for _, c := range l.streams[0].events {
		marks[c.mark]++
		if c.token <= token {
			l.Errorf("the event of %s has the token %s, after %s", c.mark, c.token, token)
		}
		token = c.token
		if c.coll == "counters" {
			if c.n != last[c.key]+1 {
				l.Errorf("counter %d: an event has %d after %d", c.key, c.n, last[c.key])
			}
			last[c.key] = c.n
		}
	}
	for i, f := range l.streams {
		for _, c := range f.events {
			if acked, ok := l.acked[c.mark]; ok {
				delays = append(delays, max(c.at.Sub(acked), 0))
			}
		}
		if !slices.EqualFunc(f.events, l.streams[0].events, func(a, b streamed) bool { return a.token == b.token && a.mark == b.mark }) {
			l.Errorf("stream %d and the first one have had other events: %d and %d", i, len(f.events), len(l.streams[0].events))
		}
	}
	l.compareMarks(marks)
	reopened := 0
	for _, f := range l.streams {
		reopened += f.reopened
	}
	l.Logf("change streams: %d events, %d times opened again; after the acknowledgement by p50 %v, p99 %v", len(delays), reopened, percentile(delays, 50), percentile(delays, 99))
}

// compareMarks compares the marks in a stream with those in the documents.
func (l *bank) compareMarks(marks map[string]int) {
	l.Helper()
	want := map[string]bool{}
	for _, d := range l.all("ledger") {
		if d["_id"] != lastEvent {
			want[d["_id"].(string)] = true
		}
	}
	for _, d := range l.all("counters") {
		for _, op := range d["ops"].(bson.A) {
			want[op.(string)] = true
		}
	}
	for mark := range want {
		if marks[mark] != 1 {
			l.Errorf("the stream had the event of %s %d times", mark, marks[mark])
		}
	}
	for mark, n := range marks {
		if !want[mark] {
			l.Errorf("the stream had %s %d times, which did not happen", mark, n)
		}
	}
	if len(want) == 0 {
		l.Error(fmt.Errorf("nothing happened"))
	}
}
