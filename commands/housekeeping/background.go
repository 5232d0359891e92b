package housekeeping

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/commands/cluster"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/commands/transaction"
)

// Start starts the background work. It ends when ctx is done.
func Start(s *kernel.Service, ctx context.Context) {
	s.Background = ctx
	s.Work.Go(func() { housekeeping(s, ctx) })
	s.Work.Go(func() { transaction.Housekeeping(s, ctx) })
	s.Work.Go(func() { transaction.ForgetLeft(s, ctx) })
	s.Work.Go(func() { s.Oplog.Trimmer(ctx) })
	if s.Shared {
		s.Work.Go(func() { s.Follow(ctx) })
	}
	s.MonitorDone = s.Monitor.Start(ctx)
}

// housekeepingEvery is how often cursors and sessions are checked.
const housekeepingEvery = 4 * time.Second

// housekeeping closes idle cursors and sessions, stores the present sessions, and removes
// what belongs to those that have ended.
func housekeeping(s *kernel.Service, ctx context.Context) {
	var kept, reported time.Time
	for {
		if now := s.Real.Now(); now.Sub(reported) >= cluster.Every {
			reported = now
			if err := cluster.Report(s, ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn().Err(err).Msg("The server could not report that it lives")
			}
		}
		if now := s.Real.Now(); now.Sub(kept) >= sessionsEvery {
			kept = now
			if err := KeepSessions(s, ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn().Err(err).Msg("Sessions could not be stored")
			}
			reapRecords(s)
			if err := s.ForgetAbsent(); err != nil && ctx.Err() == nil {
				s.Log.Warn().Err(err).Msg("The collections could not be listed")
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
		expireImages(s)
	}
}

// reapJob is the lease of the server that removes auxiliary data.
const reapJob = "sessions"

// LogHousekeeping removes auxiliary data that are no longer needed, if this server has the
// lease.
func LogHousekeeping(s *kernel.Service) {
	reapRecords(s)
	expireImages(s)
}

// reapRecords removes the records of sessions that have ended.
func reapRecords(s *kernel.Service) {
	if !s.Engine.Lease(reapJob) {
		return
	}
	live := map[session.RecordKey]bool{}
	for _, ss := range s.Sessions.List() {
		live[ss.Record] = true
	}
	before := s.Clock.NowMillis() - s.Params.Int("localLogicalSessionTimeoutMinutes")*60_000
	for more := true; more; {
		var err error
		more, err = session.Reap(s.Background, s.Engine, func(k session.RecordKey) bool { return live[k] }, before)
		if err != nil {
			if s.Background.Err() == nil {
				s.Log.Warn().Err(err).Msg("Records of ended sessions could not be removed")
			}
			return
		}
	}
}

// expireImages removes old pre-images.
func expireImages(s *kernel.Service) {
	if !s.Engine.Lease(reapJob) {
		return
	}
	cluster, err := s.ClusterSettings(s.Background)
	if err == nil {
		err = s.Oplog.ExpireImages(s.Background, cluster.ImageSeconds)
	}
	if err != nil && s.Background.Err() == nil {
		s.Log.Warn().Err(err).Msg("Pre-images could not be removed")
	}
}

// Close ends all cursors and sessions. The engine belongs to the caller: after Close only
// commands that still run use it.
func Close(s *kernel.Service) {
	if s.MonitorDone != nil {
		s.MonitorDone() // the context of Start has ended
	}
	s.Work.Wait()
	if s.MonitorDone != nil { // it was started, so it has reported itself
		if err := cluster.Leave(s); err != nil {
			s.Log.Warn().Err(err).Msg("The server could not report that it ends")
		}
		if err := s.LeaveClock(context.Background()); err != nil {
			s.Log.Warn().Err(err).Msg("The server could not leave the list of those with one clock")
		}
	}
	s.Queues.Close()
	s.Cursors.CloseAll()
	s.Sessions.CloseAll(context.Background())
	s.Snapshots.Close()
}
