package server

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/internal/engines"
)

// logStart logs the version, the process and the limits of the server.
func (s *Server) logStart(memory int64) {
	host, _ := os.Hostname() // "" if it has no name
	c := &s.config
	s.log.Info().Str("version", c.Version).Str("mongodb", s.dialect.Version()).Int("pid", os.Getpid()).Str("host", host).
		Str("dbpath", cmp.Or(c.DBPath, Memory)).Str("storageEngine", c.engineName()).
		Int64("memoryLimitMB", memory>>20).Int("maxConns", c.MaxConns).
		Bool("accessControl", c.Auth).Str("tls", cmp.Or(c.TLS.Mode, TLSDisabled)).
		Str("replSet", c.ReplSet).Bool("testClock", c.TestClock).Msg("DuskDB starting")
}

// openService opens the data and creates the Service that runs commands.
// Reading a large log takes long, so before that the metrics are served, and
// clients that connect get an answer.
func (s *Server) openService(memory int64) (err error) {
	cfg := &s.config
	s.logStart(memory)
	if cfg.MetricsPort != 0 {
		if s.metrics, err = s.serveMetrics(); err != nil {
			return err
		}
	}
	if err := s.listenAll(); err != nil {
		return err
	}
	defer s.opening.begin()()
	began := clock.System().Now()
	path := cmp.Or(cfg.DBPath, Memory)
	warnings, err := s.open(path)
	if err != nil {
		return err
	}
	if len(s.balancers) > 0 && s.engine.Changes() == nil {
		needs := fmt.Errorf("the parameter %s needs a storage engine that several servers share, such as postgres", balancerPort)
		return errors.Join(&OptionError{needs}, s.engine.Close())
	}
	temp, err := s.tempDir()
	if err != nil {
		return errors.Join(err, s.engine.Close())
	}
	options := s.serviceOptions()
	options.DBPath, options.TempDir, options.Memory, options.Warnings = path, temp, memory, warnings
	s.service, err = commands.New(options)
	if err != nil {
		return errors.Join(err, s.engine.Close())
	}
	stats, err := s.engine.Stats()
	if err != nil {
		return errors.Join(err, s.engine.Close())
	}
	s.log.Info().Int64("durationMillis", clock.System().Now().Sub(began).Milliseconds()).Str("storageEngine", stats.Name).Int64("fileMB", stats.FileBytes>>20).Msg("Data opened")
	if s.gc == nil {
		return nil
	}
	s.followMemory()
	if stats.FileBytes >= noteworthy {
		go debug.FreeOSMemory() // release the garbage of reading the log
	}
	return nil
}

// serviceOptions are the options that the configuration gives.
func (s *Server) serviceOptions() commands.Options {
	c := &s.config
	return commands.Options{
		Engine: s.engine, Parameters: c.Parameters, NoScripting: c.NoScripting, Profiling: c.Profiling,
		Clock: s.clock, TestClock: c.TestClock, CommonClock: c.Clock == nil,
		ReplSet: c.ReplSet, AdvertiseHost: c.AdvertiseHost, Host: s.host(), AskSelf: s.askSelf,
		OplogBytes:              int64(c.OplogSizeMB) << 20,
		OplogMinRetentionMillis: int64(c.OplogMinRetentionHours * 3600_000),
		Security:                s.security(), MaxConns: c.MaxConns, Compressors: c.Compressors,
		Log: c.Log, Lines: c.Lines, LogLimit: c.LogLimit, RotateLog: c.RotateLog,
		Argv: c.Argv, Parsed: c.Parsed, DuskDB: c.Version, Dialect: s.dialect, Shutdown: c.OnShutdown,
	}
}

// followMemory has the garbage collector follow what operations and replies claim.
func (s *Server) followMemory() {
	turns, written := s.service.Turns, &s.service.Memory.Written
	collected := func(live int64) bool { return turns.Collected(live, written.Load()) || s.inFlight.scarce() }
	s.gc.collected.Store(&collected)
	turns.OnPressure(s.gc.tighten)
	s.inFlight.onScarce = s.gc.tighten
}

// noteworthy is the size in bytes from which the opening of a log is logged from its
// beginning, because it takes noticeably long.
const noteworthy = 16 << 20

// openingEach is the time between two lines of the log about the opening.
const openingEach = 5 * time.Second

// readingShare is the percentage of the opening that reading the log counts
// for, beside building the indexes: measured with two indexes.
const readingShare = 30

// opening is how far the opening of the data has got.
type opening struct {
	log   zerolog.Logger
	clock clock.Clock
	first string // the stage before indexes are built

	mu             sync.Mutex
	running, ended bool
	began          time.Time
	read, size     int64 // bytes of the log
	indexed, index int64 // steps of building the indexes, done and in all
}

// newOpening uses the system's clock unless another is given: a test clock that
// clients move stands still while the data are opened.
func newOpening(cfg *Config) *opening {
	o := &opening{log: cfg.Log, clock: cfg.Clock, first: "reading the log"}
	if engines.Remote(cfg.engineName()) {
		o.first = "waiting for the database"
	}
	if o.clock == nil {
		o.clock = clock.System()
	}
	return o
}

// begin begins to log the progress at intervals. The caller calls end when the
// data are open.
func (o *opening) begin() (end func()) {
	o.mu.Lock()
	o.running, o.began = true, o.clock.Now()
	o.mu.Unlock()
	done, ended := make(chan struct{}), make(chan struct{})
	timer := o.clock.NewTimer(openingEach)
	go func() {
		defer close(ended)
		defer timer.Stop()
		for {
			select {
			case <-timer.C():
			case <-done:
				return
			}
			o.logProgress()
			timer.Reset(openingEach)
		}
	}()
	return func() {
		close(done)
		<-ended
		o.mu.Lock()
		o.running, o.ended = false, true
		o.mu.Unlock()
	}
}

// reading takes the progress of reading the log.
func (o *opening) reading(read, size int64) {
	o.mu.Lock()
	o.read, o.size = read, size
	o.mu.Unlock()
	if read == 0 && size >= noteworthy {
		o.logProgress()
	}
}

// indexing takes the progress of building the indexes.
func (o *opening) indexing(done, total int64) {
	o.mu.Lock()
	o.indexed, o.index = max(o.indexed, done), total
	o.mu.Unlock()
}

// done returns the fraction of the opening that is done. The caller holds mu.
func (o *opening) done() float64 {
	part := func(n, of int64) float64 { return float64(n) / float64(max(of, 1)) }
	return part(o.read, o.size)*readingShare/100 + part(o.indexed, o.index)*(100-readingShare)/100
}

// left estimates the time that the opening still takes; ok is false if nothing
// can be said yet. The caller holds mu.
func (o *opening) left() (left time.Duration, ok bool) {
	const minDone = 0.01
	f, took := o.done(), o.clock.Now().Sub(o.began)
	if f < minDone || took < time.Second {
		return 0, false
	}
	return time.Duration(float64(took) * (1 - f) / f).Round(time.Second), true
}

// logProgress writes a line to the log.
func (o *opening) logProgress() {
	o.mu.Lock()
	defer o.mu.Unlock()
	stage := o.first
	if o.index > 0 {
		stage = "building indexes"
	}
	line := o.log.Info().Str("stage", stage).Int("percent", int(o.done()*100)).
		Int64("readMB", o.read>>20).Int64("sizeMB", o.size>>20)
	if left, ok := o.left(); ok {
		line = line.Int64("secondsLeft", int64(left.Seconds()))
	}
	line.Msg("Opening the data")
}

// state describes a server that does not serve yet: to monitoring systems in
// short, to clients in a sentence.
func (o *opening) state() (short, long string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.running {
		return "starting", "DuskDB is starting"
	}
	percent := int(o.done() * 100)
	short, long = fmt.Sprintf("opening %d %%", percent), fmt.Sprintf("DuskDB is opening its data: %d %%", percent)
	if left, ok := o.left(); ok {
		long += fmt.Sprintf(", about %d s left", int64(left.Seconds()))
	}
	return short, long
}
