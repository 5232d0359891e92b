package commands

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// profiler decides which operations are written to a database's
// system.profile, and which to the log as slow. A database has a level and a
// filter; what counts as slow holds for the server.
type profiler struct {
	mu        sync.Mutex     // writers
	initial   profileSetting // of databases that are not in the map
	slowMS    atomic.Int64
	sample    atomic.Uint64 // bits of the share of slow operations that count
	databases atomic.Pointer[map[string]profileSetting]
}

// profileSetting is the profiling of one database.
type profileSetting struct {
	level  int32 // 0: off, 1: slow operations, 2: all
	filter *match.Matcher
	spec   value.Doc // of the filter
}

// defaultSlowMS is what counts as slow unless set, as in mongod.
const defaultSlowMS = 100

// Profiling is what the server profiles and logs before a client changes it.
type Profiling struct {
	Level      int     // of every database: 0 off, 1 slow operations, 2 all
	SlowMS     int64   // milliseconds from which an operation is slow
	SampleRate float64 // share of the slow operations that count, 0 to 1
}

func (p *Profiling) check() error {
	switch {
	case p == nil:
	case p.Level < 0 || p.Level > 2:
		return fmt.Errorf("the level of profiling must be 0, 1 or 2, not %d", p.Level)
	case !(p.SampleRate >= 0 && p.SampleRate <= 1):
		return fmt.Errorf("the sample rate of slow operations must be between 0 and 1, not %v", p.SampleRate)
	}
	return nil
}

func newProfiler(first *Profiling) *profiler {
	if first == nil {
		first = &Profiling{SlowMS: defaultSlowMS, SampleRate: 1}
	}
	p := &profiler{initial: profileSetting{level: int32(first.Level)}}
	p.slowMS.Store(first.SlowMS)
	p.setSample(first.SampleRate)
	p.databases.Store(&map[string]profileSetting{})
	return p
}

func (p *profiler) setSample(rate float64) { p.sample.Store(math.Float64bits(rate)) }
func (p *profiler) sampleRate() float64    { return math.Float64frombits(p.sample.Load()) }

// of returns the profiling of a database. Those of the server itself are not
// profiled unless a client says so.
func (p *profiler) of(db string) profileSetting {
	if s, ok := (*p.databases.Load())[db]; ok || p.initial.level == 0 {
		return s
	}
	if db == "local" || db == "config" {
		return profileSetting{}
	}
	return p.initial
}

// set changes the profiling of a database.
func (p *profiler) set(db string, s profileSetting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := maps.Clone(*p.databases.Load())
	next[db] = s
	p.databases.Store(&next)
}

// sampled draws whether a slow operation counts.
func (p *profiler) sampled() bool {
	rate := p.sampleRate()
	return rate >= 1 || rand.Float64() < rate //nolint:gosec // no secret
}

// planned is the plan of a query as the profiler and the log show it.
type planned interface {
	// byID reports whether it looks up one _id, which has no shape.
	byID() bool
	// shapes returns the hash of the query's shape and its key in the plan cache.
	shapes() (hash, key string)
	// summary names the plan in a few words, as mongod's planSummary.
	summary() string
}

// opCounts is what a command has done, for the profiler and the log.
type opCounts struct {
	keys     int64 // index entries seen
	docs     int64 // records seen
	returned int64
	sorted   bool          // a sort stage ran
	plan     string        // set where there was no choice to make
	access   planned       // how the query finds its documents; nil: there was no choice
	origin   value.Doc     // the command that opened the cursor of a getMore
	waited   time.Duration // for what others do, which is not slowness
}

// byID counts a look-up by _id, for which nothing is planned.
func (o *opCounts) byID() {
	o.keys, o.docs, o.plan = 1, 1, "EXPRESS_IXSCAN { _id: 1 }"
}

// observe is called with the reply of every command that ran.
func (s *Service) observe(c *Call, reply value.Doc, err error) {
	if c.op == nil || c.cmd.flags&waits != 0 {
		return
	}
	took := c.took - c.counts.waited
	setting := s.profiler.of(c.DB)
	if setting.level != 0 && !c.profiled() {
		setting.level = 0
	}
	slow := took.Milliseconds() >= s.profiler.slowMS.Load()
	told := s.tellsOf(c)
	if setting.level == 0 && setting.filter == nil && !slow && !told {
		return
	}
	slow = slow && s.profiler.sampled()
	if setting.filter == nil && setting.level < 2 && !slow && !told {
		return
	}
	entry := c.profileEntry(reply, err, took)
	hit := slow
	if setting.filter != nil {
		hit, _ = setting.filter.Match(expr.NewEnv(c.now), entry)
	}
	if hit || told {
		s.log.Info().Str("ns", entry.Lookup("ns").Str()).Int64("durationMillis", took.Milliseconds()).
			RawJSON("attr", []byte(entry.JSON())).Msg("Slow query")
	}
	if setting.level == 2 || setting.level == 1 && hit {
		if err := s.writeProfile(c, entry); err != nil {
			s.log.Warn().Err(err).Str("db", c.DB).Msg("cannot write to system.profile")
		}
	}
}

// profiled reports whether the profiler hears of the command at all: mongod's
// learns the level of a database when a command opens one of its collections,
// or its statistics.
func (c *Call) profiled() bool {
	switch c.cmd.name {
	case "getMore":
		return !strings.HasPrefix(c.Body.Lookup("collection").Str(), "$cmd.list")
	case "killCursors", "explain", "bulkWrite", "renameCollection", "dbStats":
		return true
	}
	return c.cmd.on == onCollection
}

// profileBytes is the size that system.profile is created with.
const profileBytes = 1 << 20

// writeProfile stores an entry in the database's system.profile. The
// collection has no _id, and its changes are not logged.
func (s *Service) writeProfile(c *Call, entry value.Doc) error {
	if s.fsync.held() {
		return nil
	}
	ns := storage.Namespace{DB: c.DB, Coll: "system.profile"}
	author := &Call{ctx: s.background, svc: s, now: c.now}
	err := s.engine.Update(s.background, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if errors.Is(err, storage.ErrNotFound) {
			coll, err = tx.Create(ns, value.NewDoc("capped", value.Bool(true), "size", value.Int(profileBytes)), nil)
		}
		if err != nil {
			return err
		}
		if err := author.newWriter(tx, coll, true).makeRoom(len(entry)); err != nil {
			return err
		}
		_, err = coll.Insert(entry, c.now)
		return err
	})
	if err == nil {
		s.changes.signal()
	}
	return err
}
