package oplog

import (
	"time"

	"github.com/duskdb/duskdb/value"
)

// tolerated is how far the dates of changes may be ahead of the clock when the server
// starts: clocks of machines differ.
const tolerated = time.Minute

// warnOfFuture logs that the last change is dated in the future, as after a start with a test
// clock that was moved: what was written then is due by its dates, that is, much later.
func (l *Log) warnOfFuture(last value.Doc) {
	wall := last.Lookup("wall")
	if wall.Kind() != value.KindDateTime {
		return
	}
	newest, now := time.UnixMilli(wall.DateTime()), l.Clock.Now()
	if newest.Sub(now) > tolerated {
		l.Logger.Warn().Time("newest", newest.UTC()).Time("now", now.UTC()).
			Msg("The newest change is dated in the future, as if written with a test clock: what expires is due that much later")
	}
}
