package kernel

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/storage"
)

// Follow wakes the commands that wait on this server when other servers over the same data
// have committed, until ctx is done. Without other servers it returns at once. What could not
// be read is read again after a pause, since no further commit may come.
func (s *Service) Follow(ctx context.Context) {
	news := s.Engine.Changes()
	if news == nil {
		return
	}
	for pause := (storage.Backoff{}); ; {
		select {
		case <-ctx.Done():
			return
		case <-news:
		}
		for err := s.changedElsewhere(ctx); err != nil && ctx.Err() == nil; err = s.changedElsewhere(ctx) {
			if pause == (storage.Backoff{}) {
				s.Log.Warn().Err(err).Msg("What other servers have written could not be read")
			}
			select {
			case <-ctx.Done():
				return
			case <-s.Real.After(pause.Next()):
			}
		}
		pause = storage.Backoff{}
	}
}

// changedElsewhere takes the time that another server has set, and wakes change streams, cursors that wait for data, writes that wait for
// a transaction, and the receivers of queues that have changed. Users, settings and
// descriptions of collections need no notice: their stamps and versions show each user
// that they have changed. It fails if the time or the log could not be read.
func (s *Service) changedElsewhere(ctx context.Context) error {
	err := errors.Join(s.TakeClock(ctx), s.Oplog.ChangedElsewhere(ctx))
	if s.OnNews != nil {
		err = errors.Join(err, s.OnNews(ctx))
	}
	s.Changes.Signal()
	s.Sessions.TxnEnded.Signal()
	s.Queues.ChangedElsewhere(s.Engine.Stamp)
	return err
}
