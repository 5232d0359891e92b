package storage

// Reading is what a session does with a numbered snapshot.
type Reading struct {
	Reader uint64 // the session, the same on all servers
	Number uint64 // the snapshot
	Left   bool   // the session reads it no more
}

// ReadingTeller is a [SnapshotNumberer] whose servers tell each other which sessions read their
// snapshots, so that all of them give up what a session has left.
type ReadingTeller interface {
	// TellReading tells the other servers something, soon. Some may not hear of it.
	TellReading(r Reading)
	// HearReadings makes the engine call fn with what the others tell. fn must not wait for the
	// engine.
	HearReadings(fn func(Reading))
}
