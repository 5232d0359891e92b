package queue

import (
	"context"
	"math"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// State is the state of a message as the commands name it, and as [Broker.Stats] counts
// it: by the instant of the command, even if what is stored is older.
type State string

// The states.
const (
	Active       State = "active" // can be received, or has expired and is not removed yet
	Locked       State = "locked"
	Deferred     State = "deferred"
	Scheduled    State = "scheduled"
	DeadLettered State = "deadLettered" // any message of the dead-letter queue
)

// stateAt returns the state of a message at an instant.
func (m *message) stateAt(now int64, dead bool) State {
	switch {
	case m.held(now):
		return Locked
	case m.state == deferred:
		return Deferred
	case m.state == scheduled && m.due > now && !dead:
		return Scheduled
	}
	return Active
}

// Browse describes what [Broker.Browse] returns.
type Browse struct {
	Ref     Ref
	State   State // "": any
	From    int64 // the first number, if HasFrom: the lowest, or from the end the highest
	HasFrom bool
	FromEnd bool // the newest messages first
	Max     int
}

// Browse returns messages of one state in the order of their numbers, without taking
// them. Its cost depends on the messages of that state alone.
func (b *Broker) Browse(ctx context.Context, s Store, r Browse, now int64) (docs []value.Doc, err error) {
	if r.State == DeadLettered {
		r.State, r.Ref.Dead = "", true
	}
	idle := false
	err = b.view(ctx, s, r.Ref, now, func(e *entity) error {
		docs = nil
		e.state.used(now)
		idle = e.config.idle()
		messages, err := e.browse(&r)
		bytes := 0
		for i := range messages {
			d := messages[i].present(now)
			docs = append(docs, d)
			if bytes += len(d); bytes > maxBytes {
				break
			}
		}
		return err
	})
	if err == nil && idle {
		err = b.update(ctx, s, r.Ref, now, func(e *entity) error { return e.used(now) })
	}
	return docs, err
}

// browse collects the messages of a state from the indexes that may contain them.
func (e *entity) browse(r *Browse) ([]message, error) {
	past, future := until(e.now), storage.KeyRange{Lo: until(e.now).Hi}
	numbered := e.numberRange(r)
	c := collector{browse: r}
	switch r.State {
	case "":
		return heads(e.coll, byNumber, numbered, r.Max)
	case Locked:
		return c.from(e, source{byLock, future})
	case Scheduled:
		if e.dead {
			return nil, nil
		}
		return c.from(e, source{bySchedule, future})
	case Deferred:
		return c.from(e, source{byDeferred, numbered}, source{byLock, past})
	}
	sources := []source{{byReady, numbered}, {byLock, past}}
	if !e.dead {
		sources = append(sources, source{bySchedule, past})
	}
	return c.from(e, sources...)
}

// numberRange is the range of an index of numbers.
func (e *entity) numberRange(r *Browse) storage.KeyRange {
	kr := storage.KeyRange{Reverse: r.FromEnd}
	switch {
	case !r.HasFrom:
	case !r.FromEnd:
		kr.Lo = numberKey(r.From)
	case r.From < math.MaxInt64:
		kr.Hi = numberKey(r.From + 1)
	}
	return kr
}

// source is a part of an index that may have messages of a state.
type source struct {
	index string
	keys  storage.KeyRange
}

// collector keeps the first messages of a state.
type collector struct {
	browse *Browse
	kept   []message
}

// from reads the sources. The first one may be in the order of numbers, and is then read
// only as far as necessary.
func (c *collector) from(e *entity, sources ...source) ([]message, error) {
	for _, s := range sources {
		n := 0
		err := walk(e.coll, s.index, s.keys, func(m *message) bool {
			if m.stateAt(e.now, e.dead) == c.browse.State && c.wants(m.number) {
				c.kept = append(c.kept, *m)
				n++
			}
			if len(c.kept) >= 2*c.browse.Max+64 {
				c.trim()
			}
			return !s.numbered() || n < c.browse.Max
		})
		if err != nil {
			return nil, err
		}
	}
	c.trim()
	return c.kept, nil
}

// numbered reports whether the source is in the order of numbers.
func (s *source) numbered() bool { return s.index == byReady || s.index == byDeferred }

// wants reports whether a number lies in the requested range.
func (c *collector) wants(number int64) bool {
	switch {
	case !c.browse.HasFrom:
		return true
	case c.browse.FromEnd:
		return number <= c.browse.From
	}
	return number >= c.browse.From
}

// trim drops all but the first messages in the requested order.
func (c *collector) trim() {
	slices.SortFunc(c.kept, func(a, b message) int {
		if c.browse.FromEnd {
			a, b = b, a
		}
		return cmpNumbers(a.number, b.number)
	})
	c.kept = c.kept[:min(len(c.kept), c.browse.Max)]
}

func cmpNumbers(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
