package oplog

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// ReaderNamespace has the log's own notes: that it has been read, and how far it
// has been trimmed.
var ReaderNamespace = storage.Namespace{DB: "local", Coll: "$oplog"}

// The _id of each note.
const (
	readerNote  = "reader"
	trimmedNote = "trimmed"
	keptNote    = "retention"
)

// NoteReader records that a client reads the log, so that the log keeps more entries from
// now on, also after a restart: a reader that was disconnected can resume. If the record
// cannot be stored, the next reader tries again.
func (l *Log) NoteReader(ctx context.Context) {
	l.read.Store(true)
	if l.Off || l.readStored.Load() || l.Locked() {
		return
	}
	now := l.Clock.NowMillis()
	note := value.NewDoc("_id", value.String(readerNote), "since", value.DateTime(now))
	err := storage.Retry(ctx, l.Engine, func(tx storage.Tx) error { return serverdocs.Put(tx, ReaderNamespace, note, now) })
	if err != nil {
		l.Logger.Warn().Err(err).Msg("The server could not record that the change log is in use")
		return
	}
	l.readStored.Store(true)
}

// seeReader looks for the note of a reader that another server has recorded.
func (l *Log) seeReader(tx storage.Tx) error {
	if l.read.Load() {
		return nil
	}
	note, err := serverdocs.Get(tx, ReaderNamespace, value.String(readerNote))
	if note != nil {
		l.read.Store(true)
		l.readStored.Store(true)
	}
	return err
}

// storedSize returns the bound that is stored with the log.
func storedSize(log storage.Collection) int64 { return log.Info().Options.Lookup("size").SafeInt64() }

// seeSize takes over the bound of the log if another server has changed it.
func (l *Log) seeSize(log storage.Collection) {
	if now := storedSize(log); l.storedLimit.Swap(now) != now {
		l.Limit.Store(now)
	}
}

// Resize sets the bound of the log, and stores it for later starts.
func (l *Log) Resize(ctx context.Context, bytes int64) error {
	err := storage.Retry(ctx, l.Engine, func(tx storage.Tx) error { return tx.SetOptions(Namespace, Options(bytes)) })
	if err == nil {
		l.storedLimit.Store(bytes)
		l.Limit.Store(bytes)
	}
	return err
}

// KeepFor sets how long entries are kept at least. With other servers it is stored, since any
// of them may trim the log.
func (l *Log) KeepFor(ctx context.Context, millis int64) error {
	if l.shared() {
		now := l.Clock.NowMillis()
		note := value.NewDoc("_id", value.String(keptNote), "millis", value.Int64(millis))
		err := storage.Retry(ctx, l.Engine, func(tx storage.Tx) error { return serverdocs.Put(tx, ReaderNamespace, note, now) })
		if err != nil {
			return err
		}
	}
	l.Keep.Store(millis)
	return nil
}

// seeRetention takes over how long entries are kept if it was set on any server.
func (l *Log) seeRetention(tx storage.Tx) error {
	if !l.shared() {
		return nil
	}
	note, err := serverdocs.Get(tx, ReaderNamespace, value.String(keptNote))
	if note != nil {
		l.Keep.Store(note.Lookup("millis").SafeInt64())
	}
	return err
}

// noteTrimmed records the id of the newest entry that has been removed, in the
// transaction that removes it.
func noteTrimmed(tx storage.Tx, id storage.RecordID, now int64) error {
	return serverdocs.Put(tx, ReaderNamespace, value.NewDoc("_id", value.String(trimmedNote), "upTo", value.Int64(int64(id))), now)
}

// Trimmed returns the id of the newest entry that has been removed, 0 if none
// was. Ids have gaps, so that the ids of the entries alone do not say it.
func Trimmed(tx storage.Tx) (storage.RecordID, error) {
	d, err := serverdocs.Get(tx, ReaderNamespace, value.String(trimmedNote))
	if err != nil {
		return 0, err
	}
	return storage.RecordID(d.Lookup("upTo").SafeInt64()), nil
}
