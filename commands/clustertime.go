package commands

import (
	"sync"

	"github.com/duskdb/duskdb/value"
)

// timestamps hands out BSON timestamps that never repeat nor go back.
type timestamps struct {
	mu   sync.Mutex
	last uint64
}

// nextTimestamp is a unique timestamp at or after an instant in
// milliseconds.
func (s *Service) nextTimestamp(now int64) value.Value {
	t := &s.stamps
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = max(t.last+1, uint64(now/1000)<<32|1)
	return value.Timestamp(uint32(t.last>>32), uint32(t.last))
}
