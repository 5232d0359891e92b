package oplog

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// TrimChunk bounds what one engine transaction of the trimmer removes.
const TrimChunk = 500

// Appended is called after every commit; now and then it wakes the trimmer.
func (l *Log) Appended(bytes int64) {
	if limit := l.Bound(); l.size.Add(bytes) <= limit+limit/16 {
		return
	}
	select {
	case l.Full <- struct{}{}:
	default:
	}
}

// trimJob is the lease of the server that trims the log.
const trimJob = "oplog"

// Trimmer keeps the log within its bound while this server has the lease.
func (l *Log) Trimmer(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.Full:
		}
		if !l.Engine.Lease(trimJob) {
			continue
		}
		if err := l.Trim(ctx); err != nil && ctx.Err() == nil {
			l.Logger.Warn().Err(err).Msg("The change log could not be trimmed")
		}
	}
}

// Trim removes the oldest entries until the log is within its bound, with
// the pre-images that belong to them.
func (l *Log) Trim(ctx context.Context) error {
	for {
		done, first := true, uint64(0)
		err := storage.Retry(ctx, l.Engine, func(tx storage.Tx) error {
			coll, err := tx.Collection(Namespace)
			if err != nil {
				return err
			}
			if err := l.seeReader(tx); err != nil {
				return err
			}
			if err := l.seeRetention(tx); err != nil {
				return err
			}
			l.seeSize(coll)
			done, first, err = l.trimSome(tx, coll)
			return err
		})
		if err != nil {
			return err
		}
		if done {
			return l.trimImages(ctx, func(id value.Doc, _ int64) bool { return clustertime.Of(id.Lookup("ts")) < first })
		}
	}
}

// trimSome removes a chunk. first is the timestamp of the oldest entry left.
func (l *Log) trimSome(tx storage.Tx, coll storage.Collection) (done bool, first uint64, err error) {
	keep := l.Keep.Load()
	newest := l.Clock.NowMillis() - keep
	limit := l.Bound()
	size, err := coll.Size()
	if err != nil {
		return false, 0, err
	}
	out, err := coll.DeleteRange(&storage.RangeDelete{Limit: TrimChunk, Pick: func(_ []byte, r storage.Record) (storage.Verdict, error) {
		first = clustertime.Of(r.Doc.Lookup("ts"))
		if size <= limit || keep > 0 && r.TS > newest {
			done = true
			return storage.Verdict{Do: storage.Stop}, nil
		}
		size -= int64(len(r.Doc))
		return storage.Verdict{Do: storage.Remove}, nil
	}})
	if err != nil {
		return false, 0, err
	}
	if out.Removed == 0 {
		return true, first, nil
	}
	if err := noteTrimmed(tx, out.ID, l.Clock.NowMillis()); err != nil {
		return false, 0, err
	}
	if size, err = coll.Size(); err != nil {
		return false, 0, err
	}
	l.size.Store(size)
	return done, first, nil
}

// trimImages removes the oldest pre-images while old says so.
func (l *Log) trimImages(ctx context.Context, old func(id value.Doc, at int64) bool) error {
	isOld := func(r storage.Record) bool { return old(r.Doc.Lookup("_id").Doc(), r.TS) }
	for more := true; more; {
		// Most often nothing is old, which needs no Update.
		err := l.Engine.View(ctx, func(tx storage.Tx) error {
			more = false
			coll, err := tx.Collection(PreImages)
			if err != nil {
				return err
			}
			return coll.Scan(storage.Range{}, func(r storage.Record) bool { more = isOld(r); return false })
		})
		if errors.Is(err, storage.ErrNotFound) {
			return nil // there never was one
		}
		if err != nil || !more {
			return err
		}
		err = storage.Retry(ctx, l.Engine, func(tx storage.Tx) error {
			coll, err := tx.Collection(PreImages)
			if err != nil {
				return err
			}
			out, err := coll.DeleteRange(&storage.RangeDelete{Limit: TrimChunk, Pick: func(_ []byte, r storage.Record) (storage.Verdict, error) {
				if !isOld(r) {
					return storage.Verdict{Do: storage.Stop}, nil
				}
				return storage.Verdict{Do: storage.Remove}, nil
			}})
			more = out.Removed == TrimChunk
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ExpireImages removes the pre-images that are older than so many seconds, as
// changeStreamOptions.preAndPostImages.expireAfterSeconds says; 0 keeps all.
func (l *Log) ExpireImages(ctx context.Context, seconds int64) error {
	if seconds <= 0 {
		return nil
	}
	limit := l.Clock.NowMillis() - seconds*1000
	return l.trimImages(ctx, func(_ value.Doc, at int64) bool { return at <= limit })
}
