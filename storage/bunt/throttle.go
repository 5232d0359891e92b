package bunt

import (
	"time"

	"github.com/duskdb/duskdb/clock"
)

// throttle slows down writers while a compaction runs, if they let the log
// grow faster than the compaction can catch up: on a busy machine a compaction
// takes long, and everything written meanwhile is added to the new log. The
// holder of the write lock owns it.
type throttle struct {
	room int64         // bytes that may still be written at full speed
	owed time.Duration // delay for the bytes written beyond room
}

const (
	leastRoom    = 4 << 20
	throttleRate = 16 << 20 // bytes per second, once the room is used up
	leastPause   = time.Millisecond
	mostPause    = 20 * time.Millisecond // for one commit
)

// wrote counts bytes that were written while a compaction runs.
func (b *throttle) wrote(n int64) {
	if b.room -= n; b.room < 0 {
		b.owed += time.Duration(n) * time.Second / throttleRate
	}
}

// rest sleeps for the delay that has accumulated, once it is long enough to be
// worth a pause.
func (b *throttle) rest() {
	if b.owed < leastPause {
		return
	}
	t := clock.System().NewTimer(min(b.owed, mostPause))
	defer t.Stop()
	<-t.C()
	b.owed = 0
}
