package oplog

import (
	"sync"

	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/value"
)

// sharedEvents are the newest events that a stream of a group has made, for the other
// streams of the group, which need them at the same time.
type sharedEvents struct {
	mu    sync.Mutex
	Made  map[EventKey]SharedEvent // the events by what tells them apart
	Bytes int                      // size of all that are kept
}

// EventKey identifies an event of a group's streams.
type EventKey struct {
	TS         uint64 // cluster time
	Index      int    // within the transaction
	Invalidate bool   // the invalidation that follows the event
	Expanded   bool   // made with showExpandedEvents
	Raw        bool   // made with showRawUpdateDescription
}

// SharedEvent is an event without the pre- and post-image, which each stream looks up
// itself.
type SharedEvent struct {
	Token, Event, Key value.Doc   // the resume token, the event, the document's key
	Named             token.Token // the contents of the token
}

// MaxSharedBytes bounds what a group keeps.
const MaxSharedBytes = 1 << 20

// Find returns an event that one of the group's streams has made.
func (s *sharedEvents) Find(k EventKey) (SharedEvent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.Made[k]
	return e, ok
}

// Keep stores an event. When there are too many, it drops all others: a stream that still
// needs one of them makes it itself.
func (s *sharedEvents) Keep(k EventKey, e SharedEvent) {
	size := len(e.Token) + len(e.Event) + len(e.Key) + len(e.Named.ID)
	if size > MaxSharedBytes/4 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Made == nil || s.Bytes+size > MaxSharedBytes {
		s.Made, s.Bytes = map[EventKey]SharedEvent{}, 0
	}
	s.Made[k], s.Bytes = e, s.Bytes+size
}
