package commands

import (
	"context"
	"time"
)

// Start begins the work that goes on beside commands; it ends with ctx.
func (s *Service) Start(ctx context.Context) {
	s.background = ctx
	go s.housekeeping(ctx)
	go s.transactionHousekeeping(ctx)
	go s.oplog.trimmer(ctx)
	s.monitorDone = s.monitor.Start(ctx)
}

// housekeepingEvery is how often cursors and sessions are looked over.
const housekeepingEvery = 4 * time.Second

// housekeeping closes what clients left behind, cursors and sessions, and
// writes down which sessions there are.
func (s *Service) housekeeping(ctx context.Context) {
	var kept time.Time
	for {
		if now := s.real.Now(); now.Sub(kept) >= sessionsEvery {
			kept = now
			if err := s.keepSessions(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn().Err(err).Msg("sessions were not written down")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-s.real.After(housekeepingEvery):
		}
		now := s.real.Now()
		s.memory.refresh()
		s.cursors.expire(now, time.Duration(s.params.int("cursorTimeoutMillis"))*time.Millisecond)
		s.sessions.expire(now, time.Duration(s.params.int("localLogicalSessionTimeoutMinutes"))*time.Minute)
		s.logHousekeeping()
	}
}

// isoTime writes an instant as 2026-01-01T00:00:00.000+00:00.
func isoTime(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000-07:00")
}
