package kernel

import (
	"sync/atomic"
	"time"
)

// diskEpisode is the time in which writes fail because the disk is full. It is logged once
// when it begins and once when it ends.
type diskEpisode struct {
	full    atomic.Bool
	refused atomic.Int64 // time of the last failed write, in milliseconds of the real clock
}

// DiskRecovery is how long no write must have failed for the episode to end, as deletes
// succeed all the time.
const DiskRecovery = 10 * time.Second

// NoteDiskFull is called after a write that failed for lack of space.
func (s *Service) NoteDiskFull(err error) {
	s.disk.refused.Store(s.Real.NowMillis())
	if s.disk.full.CompareAndSwap(false, true) {
		s.Log.Error().Err(err).Str("dbpath", s.Options.DBPath).
			Msg("The disk is full: writes that need space are refused, reads, deletes and expiry go on")
	}
}

// NoteDiskRoom is called after a write that succeeded while the disk was full.
func (s *Service) NoteDiskRoom() {
	if s.Real.NowMillis()-s.disk.refused.Load() < DiskRecovery.Milliseconds() {
		return
	}
	if s.disk.full.CompareAndSwap(true, false) {
		s.Log.Info().Str("dbpath", s.Options.DBPath).Msg("There is room on the disk again: writes succeed")
	}
}
