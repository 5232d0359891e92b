package oplog

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// ReaderNamespace has a document once the change log has been read.
var ReaderNamespace = storage.Namespace{DB: "local", Coll: "$oplog"}

// NoteReader records that a client reads the log, so that the log keeps more entries from
// now on, also after a restart: a reader that was disconnected can resume. If the record
// cannot be stored, the next reader tries again.
func (l *Log) NoteReader(ctx context.Context) {
	l.read.Store(true)
	if l.Off || l.noted.Load() || l.Locked() {
		return
	}
	now := l.Clock.NowMillis()
	note := value.NewDoc("_id", value.String("reader"), "since", value.DateTime(now))
	err := l.Engine.Update(ctx, func(tx storage.Tx) error { return serverdocs.PutOnly(tx, ReaderNamespace, note, now) })
	if err != nil {
		l.Logger.Warn().Err(err).Msg("The server could not record that the change log is in use")
		return
	}
	l.noted.Store(true)
}
