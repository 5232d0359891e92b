package commands

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// oplogReaderHome has a document once the change log has been read.
var oplogReaderHome = storage.Namespace{DB: "local", Coll: "$oplog"}

// noteReader notes that somebody reads the log, which keeps more from now on.
// That holds after a restart, too: a follower that was away meanwhile is to
// find its place again. Where that cannot be written down, the next reader
// tries again.
func (l *changeLog) noteReader(ctx context.Context) {
	l.read.Store(true)
	if l.off || l.noted.Load() || l.locked() {
		return
	}
	now := l.clock.NowMillis()
	note := value.NewDoc("_id", value.String("reader"), "since", value.DateTime(now))
	err := l.engine.Update(ctx, func(tx storage.Tx) error { return keepOnly(tx, oplogReaderHome, note, now) })
	if err != nil {
		l.log.Warn().Err(err).Msg("That the change log is read could not be written down")
		return
	}
	l.noted.Store(true)
}
