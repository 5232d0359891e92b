package kernel

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/commands/session"
)

// Start begins the work that goes on beside commands; it ends with ctx.
func (s *Service) Start(ctx context.Context) {
	s.Background = ctx
	go s.housekeeping(ctx)
	go s.transactionHousekeeping(ctx)
	go s.Oplog.Trimmer(ctx)
	s.monitorDone = s.Monitor.Start(ctx)
}

// housekeepingEvery is how often cursors and sessions are looked over.
const housekeepingEvery = 4 * time.Second

// housekeeping closes what clients left behind, cursors and sessions, and
// writes down which sessions there are.
func (s *Service) housekeeping(ctx context.Context) {
	var kept time.Time
	for {
		if now := s.Real.Now(); now.Sub(kept) >= sessionsEvery {
			kept = now
			if err := s.KeepSessions(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn().Err(err).Msg("sessions were not written down")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-s.Real.After(housekeepingEvery):
		}
		now := s.Real.Now()
		s.Memory.Refresh()
		s.Cursors.expire(now, time.Duration(s.Params.Int("cursorTimeoutMillis"))*time.Millisecond)
		s.Sessions.Expire(now, time.Duration(s.Params.Int("localLogicalSessionTimeoutMinutes"))*time.Minute)
		s.LogHousekeeping()
	}
}

// LogHousekeeping drops what is kept beside the data for longer than it is
// of use.
func (s *Service) LogHousekeeping() {
	live := map[session.RecordKey]bool{}
	for _, ss := range s.Sessions.List() {
		live[ss.Record] = true
	}
	before := s.Clock.NowMillis() - s.Params.Int("localLogicalSessionTimeoutMinutes")*60_000
	if err := s.records.Reap(s.Background, s.Engine, func(k session.RecordKey) bool { return live[k] }, before); err != nil {
		s.Log.Warn().Err(err).Msg("Records of ended sessions could not be removed")
	}
	if err := s.Oplog.ExpireImages(s.Background, s.streamOptions.expireAfter.Load()); err != nil {
		s.Log.Warn().Err(err).Msg("Pre-images could not be removed")
	}
}
