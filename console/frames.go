package console

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/duskdb/duskdb/value"
)

// Limits of frames: a page need not show, and a browser cannot show, thousands of events a
// second.
const (
	frameEvery = 200 * time.Millisecond // the least time between two frames
	mostFrame  = 500                    // events of a frame, at most
	mostDrain  = 500                    // batches that a frame counts, at most
	drainRest  = time.Millisecond       // between two of them, for other clients of the server
)

// frames sends events in frames {events, leftOut, counts}: the newest events, the number of
// those before them that were left out, and how many of all there were by policy (or kind, if
// they are not expirations). The id of a frame is the resume token of its last event.
type frames struct {
	s      *eventStream
	most   int
	sent   time.Time
	events []value.Doc // the newest
	total  int64
	names  []string // of counts, in the order in which they first occurred
	counts map[string]int64
}

// frameSize reads the query parameter frame; 0: each event is sent by itself.
func frameSize(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostFrame {
		return 0, fmt.Errorf("frame must be between 1 and %d", mostFrame)
	}
	return n, nil
}

// next sends the events at hand in one frame, and asks for more. What comes while it waits
// for the next frame stays with the server, which sends it in large batches then.
func (f *frames) next(ctx context.Context) error {
	f.events, f.total, f.names, f.counts = f.events[:0], 0, f.names[:0], map[string]int64{}
	for n := f.take(); n >= batch && f.s.cursor != 0; n = f.take() {
		if f.total >= mostDrain*batch {
			break
		}
		if err := f.sleep(ctx, drainRest); err != nil {
			return err
		}
		if err := f.s.more(0); err != nil {
			return err
		}
	}
	if err := f.send(); err != nil {
		return err
	}
	if err := f.rest(ctx); err != nil {
		return err
	}
	return f.s.more(awaitMS)
}

// take counts the events at hand and keeps the newest. It returns how many there were.
func (f *frames) take() (n int) {
	for v := range f.s.events.Values() {
		d := v.Doc()
		n++
		kind := d.Lookup("expiration").Doc().Lookup("policy").Str()
		if kind == "" {
			kind = d.Lookup("operationType").Str()
		}
		if f.counts[kind] == 0 {
			f.names = append(f.names, kind)
		}
		f.counts[kind]++
		if len(f.events) == 2*f.most { // the older half is not needed
			f.events = append(f.events[:0], f.events[f.most:]...)
		}
		f.events = append(f.events, d)
	}
	f.s.events = nil
	f.total += int64(n)
	return n
}

// send sends a frame, or a sign of life if there are no events.
func (f *frames) send() error {
	if f.total == 0 {
		return f.s.write(": no events\n\n")
	}
	newest := f.events[max(0, len(f.events)-f.most):]
	b := value.NewBuilder()
	b.StartArray("events")
	for _, d := range newest {
		b.Document("", d)
	}
	b.End().Int64("leftOut", f.total-int64(len(newest))).StartDocument("counts")
	for _, name := range f.names {
		b.Int64(name, f.counts[name])
	}
	b.End()
	f.sent = f.s.console.options.Clock.Now()
	return f.s.write(fmt.Sprintf("id: %s\ndata: %s\n\n", token(newest[len(newest)-1]), b.Doc().JSON()))
}

// rest waits until the next frame may be sent.
func (f *frames) rest(ctx context.Context) error {
	left := frameEvery - f.s.console.options.Clock.Now().Sub(f.sent)
	if left <= 0 {
		return nil
	}
	return f.sleep(ctx, left)
}

func (f *frames) sleep(ctx context.Context, d time.Duration) error {
	timer := f.s.console.options.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C():
		return nil
	}
}
