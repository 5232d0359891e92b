package bunt

import (
	"time"

	"github.com/duskdb/duskdb/clock"
)

// brake slows writers down who would let a log grow faster than a compaction
// can catch up with: on a busy machine it takes long, and what they write
// meanwhile is what the log has grown by when it ends. It belongs to who has
// the right to write.
type brake struct {
	room int64         // bytes that may be written at full speed
	owed time.Duration // by what was written beyond
}

const (
	leastRoom  = 4 << 20
	brakeRate  = 16 << 20 // bytes per second, once the room is used up
	leastBrake = time.Millisecond
	mostBrake  = 20 * time.Millisecond // for one commit
)

// wrote counts bytes that were written while a compaction runs.
func (b *brake) wrote(n int64) {
	if b.room -= n; b.room < 0 {
		b.owed += time.Duration(n) * time.Second / brakeRate
	}
}

// rest waits for as long as is owed, once it is worth a pause.
func (b *brake) rest() {
	if b.owed < leastBrake {
		return
	}
	t := clock.System().NewTimer(min(b.owed, mostBrake))
	defer t.Stop()
	<-t.C()
	b.owed = 0
}
