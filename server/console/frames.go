package console

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duskdb/duskdb/value"
)

// Limits of frames: a page need not show, and a browser cannot show, thousands of events a
// second.
const (
	frameEvery = 200 * time.Millisecond // shortest time between two frames
	maxFrame   = 500                    // limit of the events of a frame
	maxDrain   = 500                    // limit of the batches that a frame counts
	drainRest  = time.Millisecond       // pause between two of them, for other clients of the server
	frameBytes = 4 << 20                // limit of the size of these events
)

// frames sends events in frames {events, leftOut, counts}: the newest events, the number of
// those before them that were left out, and how many of all there were by policy (or kind, if
// they are not expirations). The id of a frame is the resume token of its last event.
type frames struct {
	s      *eventStream
	max    int         // limit of events
	sent   time.Time   // the time of the last frame
	events []value.Doc // newest events
	bytes  int         // size of events
	last   string      // resume token of the last event
	total  int64       // number of events, kept or not
	names  []string    // policies or kinds, in the order in which they first occurred
	counts []int64     // number of events for each of names
}

// frameSize reads the query parameter frame; 0: each event is sent by itself.
func frameSize(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxFrame {
		return 0, fmt.Errorf("frame must be between 1 and %d", maxFrame)
	}
	return n, nil
}

// next sends the events at hand in one frame, and asks for more. What comes while it waits
// for the next frame stays with the server, which sends it in large batches then.
func (f *frames) next(ctx context.Context) error {
	f.events, f.bytes, f.total, f.names, f.counts = nil, 0, 0, f.names[:0], f.counts[:0]
	for n := f.take(); n >= batch && f.s.cursor != 0; n = f.take() {
		if f.total >= maxDrain*batch {
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
		f.count(kind)
		f.last = strings.Clone(token(d))
		f.keep(d)
	}
	f.s.events = nil
	f.total += int64(n)
	return n
}

func (f *frames) count(kind string) {
	i := slices.Index(f.names, kind)
	if i < 0 {
		i = len(f.names)
		f.names, f.counts = append(f.names, strings.Clone(kind)), append(f.counts, 0)
	}
	f.counts[i]++
}

// keep keeps a copy of an event, of as many of the newest as a frame may have.
func (f *frames) keep(d value.Doc) {
	f.events = append(f.events, d.Clone())
	f.bytes += len(d)
	for len(f.events) > f.max || f.bytes > frameBytes {
		f.bytes -= len(f.events[0])
		f.events[0] = nil
		f.events = f.events[1:]
	}
}

// send sends a frame, or a sign of life if there are no events.
func (f *frames) send() error {
	if f.total == 0 {
		return f.s.write(signOfLife)
	}
	b := value.NewBuilder()
	b.StartArray("events")
	for _, d := range f.events {
		b.Document("", d)
	}
	b.End().Int64("leftOut", f.total-int64(len(f.events))).StartDocument("counts")
	for i, name := range f.names {
		b.Int64(name, f.counts[i])
	}
	b.End()
	f.sent = f.s.console.options.Clock.Now()
	return f.s.write(func(out *bufio.Writer) error { return writeEvent(out, f.last, b.Doc()) })
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
