package observe

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Profiler decides which operations are written to a database's
// system.profile, and which to the log as slow. A database has a level and a
// filter; the threshold for slow operations is the same for the whole server.
type Profiler struct {
	mu        sync.Mutex     // held by writers
	initial   ProfileSetting // the setting of databases that are not in the map
	SlowMS    atomic.Int64   // milliseconds from which an operation is slow
	sample    atomic.Uint64  // bits of the share of slow operations that count
	databases atomic.Pointer[map[string]ProfileSetting]
}

// ProfileSetting is the profiling of one database.
type ProfileSetting struct {
	Level  int32          // 0: off, 1: slow operations, 2: all
	Filter *match.Matcher // decides in place of slowness; nil: none is set
}

// defaultSlowMS is the default threshold of slow operations, as in mongod.
const defaultSlowMS = 100

// Profiling has the initial settings of the profiler.
type Profiling struct {
	Level      int     // the level for every database: 0 off, 1 slow operations, 2 all
	SlowMS     int64   // milliseconds from which an operation is slow
	SampleRate float64 // share of the slow operations that count, 0 to 1
}

// Check refuses settings out of their range; nil stands for the defaults.
func (p *Profiling) Check() error {
	switch {
	case p == nil:
	case p.Level < 0 || p.Level > 2:
		return fmt.Errorf("the level of profiling must be 0, 1 or 2, not %d", p.Level)
	case !(p.SampleRate >= 0 && p.SampleRate <= 1):
		return fmt.Errorf("the sample rate of slow operations must be between 0 and 1, not %v", p.SampleRate)
	}
	return nil
}

// NewProfiler returns a profiler with the given settings, nil for mongod's.
func NewProfiler(first *Profiling) *Profiler {
	if first == nil {
		first = &Profiling{SlowMS: defaultSlowMS, SampleRate: 1}
	}
	p := &Profiler{initial: ProfileSetting{Level: int32(first.Level)}}
	p.SlowMS.Store(first.SlowMS)
	p.SetSample(first.SampleRate)
	p.databases.Store(&map[string]ProfileSetting{})
	return p
}

// SetSample changes the share of the slow operations that count, 0 to 1.
func (p *Profiler) SetSample(rate float64) { p.sample.Store(math.Float64bits(rate)) }

// SampleRate is the share of the slow operations that count.
func (p *Profiler) SampleRate() float64 { return math.Float64frombits(p.sample.Load()) }

// Of returns the profiling of a database. The server's own databases are not profiled
// unless a client switches it on.
func (p *Profiler) Of(db string) ProfileSetting {
	if s, ok := (*p.databases.Load())[db]; ok || p.initial.Level == 0 {
		return s
	}
	if db == "local" || db == "config" {
		return ProfileSetting{}
	}
	return p.initial
}

// Set changes the profiling of a database.
func (p *Profiler) Set(db string, s ProfileSetting) {
	if was := p.Of(db); was.Level == s.Level && was.Filter == s.Filter {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	next := maps.Clone(*p.databases.Load())
	next[strings.Clone(db)] = s
	p.databases.Store(&next)
}

// maxAbsent is how many databases may have a setting before those that do not exist lose it:
// a filter can be set for a database that is yet to come.
const maxAbsent = 1000

// Keep removes the settings of databases that do not exist, if there are many.
func (p *Profiler) Keep(exists func(db string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := maps.Clone(*p.databases.Load())
	for db := range next {
		if len(next) > maxAbsent && !exists(db) {
			delete(next, db)
		}
	}
	p.databases.Store(&next)
}

// Forget removes the profiling of a database that was dropped, which then has the initial one.
func (p *Profiler) Forget(db string) {
	if _, ok := (*p.databases.Load())[db]; !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	next := maps.Clone(*p.databases.Load())
	delete(next, db)
	p.databases.Store(&next)
}

// Sampled draws whether a slow operation counts.
func (p *Profiler) Sampled() bool {
	rate := p.SampleRate()
	return rate >= 1 || rand.Float64() < rate //nolint:gosec // no secret
}

// PlanInfo is the plan of a query as the profiler and the log show it.
type PlanInfo interface {
	// ByID reports whether it looks up one _id, which has no shape.
	ByID() bool
	// ScansAll reports whether it reads the whole collection.
	ScansAll() bool
	// Shapes returns the hash of the query's shape and its key in the plan cache.
	Shapes() (hash, key string)
	// Summary names the plan in a few words, as mongod's planSummary.
	Summary() string
}

// Counts has the counters of a command, for the profiler and the log.
type Counts struct {
	Keys     int64         // index entries seen
	Docs     int64         // records seen
	Returned int64         // documents returned
	Sorted   bool          // a sort stage ran
	Plan     string        // set where there was no choice to make
	Access   PlanInfo      // how the query finds its documents; nil: there was no choice
	Origin   value.Doc     // the command that opened the cursor of a getMore
	Waited   time.Duration // the time spent waiting for other clients, which does not count as slow
}

// ProfileBytes is the size that system.profile is created with.
const ProfileBytes = 1 << 20

// ISOTime writes an instant as 2026-01-01T00:00:00.000+00:00.
func ISOTime(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000-07:00")
}

// PlanSummary returns the plan of a query: text if it is given, else the summary of the
// chosen plan.
func PlanSummary(text string, a PlanInfo) string {
	if a == nil {
		return text
	}
	return a.Summary()
}
