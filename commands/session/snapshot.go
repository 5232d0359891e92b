package session

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// Reads with read concern snapshot outside transactions. The reply of the first read has the
// cluster time of its snapshot, and later reads ask for the same time. The snapshot is kept
// for a while: the engine says how long, and how many it can keep.

// Snapshots are the open states at cluster times that replies have named.
type Snapshots struct {
	Mu   sync.Mutex      // guards List
	List []*HeldSnapshot // the open snapshots, sorted by time

	readers   map[uint64]*HeldSnapshot // the snapshot that a session has read last, and has not left, by Key.Reader; guarded by Mu
	elsewhere map[uint64]reading       // what sessions read on other servers; guarded by Mu
	reading   atomic.Int64             // number of readers, and of those elsewhere

	tell func(storage.Reading) // tells the other servers; nil: there are none
	left chan struct{}         // gets something when a state has been left; nil: an open one costs little
}

// reading is what a session was heard to read.
type reading struct {
	ts    uint64    // the time of the snapshot
	since time.Time // the time of the news
}

// maxElsewhere bounds what is known of sessions on other servers. Beyond it snapshots end when they
// are old.
const maxElsewhere = 10_000

// HeldSnapshot is the state at a cluster time that a reply has named.
type HeldSnapshot struct {
	TS   uint64        // its cluster time
	Made time.Time     // the time of the first read
	Tx   storage.Txn   // reads the state
	Turn chan struct{} // a semaphore for one reader at a time
	Old  bool          // no more reads are allowed; guarded by the turn

	readers int       // sessions that may read on
	left    time.Time // when the last of them left; zero: none has
}

// SnapshotTooOld is the error (239) for a cluster time whose state is no longer kept.
func SnapshotTooOld(ts uint64) error {
	return mongoerr.Newf(mongoerr.SnapshotTooOld, "Read timestamp %s is older than the oldest available timestamp.", clustertime.Value(ts))
}

// Join makes servers over the same data tell each other which sessions read snapshots, and leave
// them: a driver sends each command of a session to any server.
func (l *Snapshots) Join(engine storage.Engine, real clock.Clock) {
	e, ok := engine.(storage.ReadingTeller)
	if !ok {
		return
	}
	l.tell, l.left = e.TellReading, make(chan struct{}, 1)
	e.HearReadings(func(r storage.Reading) { l.hear(r, real.Now()) })
}

// hear takes what another server tells: a session that reads a later snapshot there has left what it
// has read here.
func (l *Snapshots) hear(r storage.Reading, now time.Time) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if s := l.readers[r.Reader]; s != nil && (s.TS < r.Number || s.TS == r.Number && r.Left) {
		l.leaveHere(r.Reader, now)
	}
	switch known := l.elsewhere[r.Reader]; {
	case known.ts > r.Number: // the news has been overtaken
	case r.Left:
		delete(l.elsewhere, r.Reader)
	case len(l.elsewhere) < maxElsewhere:
		if l.elsewhere == nil {
			l.elsewhere = map[uint64]reading{}
		}
		l.elsewhere[r.Reader] = reading{r.Number, now}
	}
	l.count()
}

// count keeps reading. The caller holds Mu.
func (l *Snapshots) count() { l.reading.Store(int64(len(l.readers) + len(l.elsewhere))) }

// Expire forgets the states that are too old, that their sessions have left, or that are too
// many, except those that are being read. Of too many, those without a session go first, then
// the oldest. The caller holds Mu.
func (l *Snapshots) Expire(now time.Time, limits storage.SnapshotLimits) {
	maps.DeleteFunc(l.elsewhere, func(_ uint64, r reading) bool { return now.Sub(r.since) > limits.MaxAge })
	l.count()
	l.drop(func(s *HeldSnapshot) bool {
		return now.Sub(s.Made) > limits.MaxAge || limits.Linger > 0 && s.isLeft() && now.Sub(s.left) >= limits.Linger
	})
	l.drop(func(s *HeldSnapshot) bool { return len(l.List) > limits.Max && s.isLeft() })
	l.drop(func(*HeldSnapshot) bool { return len(l.List) > limits.Max })
}

// GiveWay forgets one snapshot, for a transaction or another snapshot that needs its place. It
// returns false if all are being read. The caller holds Mu.
func (l *Snapshots) GiveWay(now time.Time, limits storage.SnapshotLimits) bool {
	before := len(l.List)
	limits.Max = before - 1
	l.Expire(now, limits)
	return len(l.List) < before
}

// drop forgets the states of a kind, the oldest first, unless they are being read.
func (l *Snapshots) drop(kind func(*HeldSnapshot) bool) {
	for _, s := range slices.Clone(l.List) {
		if !kind(s) {
			continue
		}
		select {
		case s.Turn <- struct{}{}:
		default:
			continue
		}
		s.Tx.Abort()
		s.Old = true
		<-s.Turn
		l.List = slices.DeleteFunc(l.List, func(o *HeldSnapshot) bool { return o == s })
	}
}

// isLeft reports whether all sessions that have read the state have left it.
func (s *HeldSnapshot) isLeft() bool { return s.readers == 0 && !s.left.IsZero() }

// Read notes that a session reads a state, and has left the one that it read before.
func (l *Snapshots) Read(ss *Session, s *HeldSnapshot, now time.Time) {
	reader := ss.Key.Reader()
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if l.readers[reader] == s {
		return
	}
	l.leaveHere(reader, now)
	if l.readers == nil {
		l.readers = map[uint64]*HeldSnapshot{}
	}
	l.readers[reader] = s
	s.readers++
	l.count()
	if l.tell != nil {
		l.tell(storage.Reading{Reader: reader, Number: s.TS})
	}
}

// Leave notes that a session does something else than to read a state. Drivers do not say
// that a session with snapshot reads has ended: they use its id for the next one.
// The session need not be one that this server has.
func (l *Snapshots) Leave(key Key, real clock.Clock) {
	if l.reading.Load() == 0 {
		return
	}
	now, reader := real.Now(), key.Reader()
	l.Mu.Lock()
	defer l.Mu.Unlock()
	ts := max(l.leaveHere(reader, now), l.elsewhere[reader].ts)
	delete(l.elsewhere, reader)
	l.count()
	if ts != 0 && l.tell != nil {
		l.tell(storage.Reading{Reader: reader, Number: ts, Left: true})
	}
}

// leaveHere notes that a session has left what it has read on this server, and returns its time; 0:
// nothing. The caller holds Mu.
func (l *Snapshots) leaveHere(reader uint64, now time.Time) uint64 {
	s := l.readers[reader]
	if s == nil {
		return 0
	}
	delete(l.readers, reader)
	l.count()
	if s.readers--; s.readers == 0 {
		s.left = now
		select {
		case l.left <- struct{}{}:
		default:
		}
	}
	return s.TS
}

// Left gets something when a state has been left since it last did, if that is not to wait for the
// next look at all states.
func (l *Snapshots) Left() <-chan struct{} { return l.left }

// ForgetLeft forgets the states that were left long enough ago, and returns after which time there
// will be more of them; 0: none has been left.
func (l *Snapshots) ForgetLeft(now time.Time, limits storage.SnapshotLimits) (next time.Duration) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.Expire(now, limits)
	for _, s := range l.List {
		if s.isLeft() {
			wait := max(limits.Linger-now.Sub(s.left), limits.Linger/4) // one is left that is being read
			if next == 0 || wait < next {
				next = wait
			}
		}
	}
	return next
}

// Close forgets all states.
func (l *Snapshots) Close() {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for _, s := range l.List {
		s.Tx.Abort()
	}
	l.List = nil
}
