package commands

import (
	"sync"

	"github.com/duskdb/duskdb/value"
)

// sharedEvents are the newest events that one stream of a group has made, for
// the others, which want them at the same time.
type sharedEvents struct {
	mu    sync.Mutex
	made  map[eventKey]sharedEvent
	bytes int
}

// eventKey tells apart the events of a group's streams.
type eventKey struct {
	ts         uint64
	index      int
	invalidate bool
	expanded   bool
	raw        bool
}

// sharedEvent is an event without the images of the document, which each
// stream looks up when it comes to them.
type sharedEvent struct {
	token, event, key value.Doc
	named             tokenData // what the token says
}

// maxSharedBytes bounds what a group keeps.
const maxSharedBytes = 1 << 20

func (s *sharedEvents) find(k eventKey) (sharedEvent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.made[k]
	return e, ok
}

// keep keeps an event, and forgets all others once there are too many: those
// who are that far behind are not in step.
func (s *sharedEvents) keep(k eventKey, e sharedEvent) {
	size := len(e.token) + len(e.event) + len(e.key) + len(e.named.id)
	if size > maxSharedBytes/4 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil || s.bytes+size > maxSharedBytes {
		s.made, s.bytes = map[eventKey]sharedEvent{}, 0
	}
	s.made[k], s.bytes = e, s.bytes+size
}

// shared returns an event as the first stream of the group made it.
func (cs *changeStream) shared(o *logOp) sharedEvent {
	k := eventKey{o.ts, o.index, o.invalidate, cs.expanded, cs.raw}
	e, ok := cs.w.find(k)
	if !ok {
		e = cs.make(o)
		cs.w.keep(k, e)
	}
	return e
}
