package kernel

import "context"

// Follow wakes the commands that wait on this server when other servers over the same data
// have committed, until ctx is done. Without other servers it returns at once.
func (s *Service) Follow(ctx context.Context) {
	news := s.Engine.Changes()
	if news == nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-news:
			s.changedElsewhere(ctx)
		}
	}
}

// changedElsewhere wakes change streams, cursors that wait for data, writes that wait for
// a transaction, and the receivers of queues that have changed. Users, settings and
// descriptions of collections need no notice: their stamps and versions show each user
// that they have changed.
func (s *Service) changedElsewhere(ctx context.Context) {
	if err := s.Oplog.ChangedElsewhere(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn().Err(err).Msg("What other servers have written could not be read")
	}
	s.Changes.Signal()
	s.Sessions.TxnEnded.Signal()
	s.Queues.ChangedElsewhere(s.Engine.Stamp)
}
