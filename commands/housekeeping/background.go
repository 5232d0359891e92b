package housekeeping

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/commands/transaction"
)

// Start starts the background work. It ends when ctx is done.
func Start(s *kernel.Service, ctx context.Context) {
	s.Background = ctx
	go housekeeping(s, ctx)
	go transaction.Housekeeping(s, ctx)
	go s.Oplog.Trimmer(ctx)
	go s.Follow(ctx)
	s.MonitorDone = s.Monitor.Start(ctx)
}

// housekeepingEvery is how often cursors and sessions are checked.
const housekeepingEvery = 4 * time.Second

// housekeeping closes idle cursors and sessions, and stores the present sessions.
func housekeeping(s *kernel.Service, ctx context.Context) {
	var kept time.Time
	for {
		if now := s.Real.Now(); now.Sub(kept) >= sessionsEvery {
			kept = now
			if err := KeepSessions(s, ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn().Err(err).Msg("Sessions could not be stored")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-s.Real.After(housekeepingEvery):
		}
		now := s.Real.Now()
		s.Memory.Refresh()
		s.Cursors.Expire(now, time.Duration(s.Params.Int("cursorTimeoutMillis"))*time.Millisecond)
		s.Sessions.Expire(now, time.Duration(s.Params.Int("localLogicalSessionTimeoutMinutes"))*time.Minute)
		LogHousekeeping(s)
	}
}

// reapJob is the lease of the server that removes auxiliary data.
const reapJob = "sessions"

// LogHousekeeping removes auxiliary data that are no longer needed, like old pre-images,
// if this server has the lease.
func LogHousekeeping(s *kernel.Service) {
	if !s.Engine.Lease(reapJob) {
		return
	}
	live := map[session.RecordKey]bool{}
	for _, ss := range s.Sessions.List() {
		live[ss.Record] = true
	}
	before := s.Clock.NowMillis() - s.Params.Int("localLogicalSessionTimeoutMinutes")*60_000
	if err := session.Reap(s.Background, s.Engine, func(k session.RecordKey) bool { return live[k] }, before); err != nil {
		s.Log.Warn().Err(err).Msg("Records of ended sessions could not be removed")
	}
	cluster, err := s.ClusterSettings()
	if err == nil {
		err = s.Oplog.ExpireImages(s.Background, cluster.ImageSeconds)
	}
	if err != nil {
		s.Log.Warn().Err(err).Msg("Pre-images could not be removed")
	}
}

// Close ends all cursors and sessions. The engine belongs to the caller.
func Close(s *kernel.Service) {
	if s.MonitorDone != nil {
		s.MonitorDone() // the context of Start has ended
	}
	s.Queues.Close()
	s.Cursors.CloseAll()
	s.Sessions.CloseAll(context.Background())
	s.Snapshots.Close()
}
