package server

import (
	"cmp"
	"errors"
	"os"
	"runtime/debug"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
)

// logStart says who begins, and within which limits.
func (s *Server) logStart(memory int64) {
	host, _ := os.Hostname() // "" if it has no name
	s.log.Info().Str("version", s.config.Version).Str("mongodb", MongoDBVersion).Int("pid", os.Getpid()).Str("host", host).
		Str("dbpath", cmp.Or(s.config.DBPath, Memory)).Int64("memoryLimitMB", memory>>20).Int("maxConns", s.config.MaxConns).Msg("DuskDB starting")
}

// openService opens the data, and makes what runs commands on them. Monitoring
// systems are answered before: a large log takes its time.
func (s *Server) openService(memory int64) (err error) {
	cfg := &s.config
	s.logStart(memory)
	if cfg.MetricsPort != 0 {
		if s.metrics, err = s.serveMetrics(); err != nil {
			return err
		}
	}
	began := clock.System().Now()
	path := cmp.Or(cfg.DBPath, Memory)
	warnings, err := s.open(path)
	if err != nil {
		return err
	}
	temp, err := s.tempDir()
	if err != nil {
		return errors.Join(err, s.engine.Close())
	}
	s.service, err = commands.New(commands.Options{
		NoScripting: cfg.NoScripting, ReplSet: cfg.ReplSet, AdvertiseHost: cfg.AdvertiseHost, AskSelf: s.askSelf, OplogBytes: int64(cfg.OplogSizeMB) << 20,
		OplogMinRetentionMillis: int64(cfg.OplogMinRetentionHours * 3600_000),
		Engine:                  s.engine, Clock: s.clock, Log: cfg.Log, TempDir: temp, DBPath: path, Parameters: s.config.Parameters,
		Argv: cfg.Argv, Parsed: cfg.Parsed, TestClock: s.config.TestClock, Shutdown: cfg.OnShutdown, Lines: cfg.Lines, DuskDB: cfg.Version,
		Memory: memory, MaxConns: cfg.MaxConns, Compressors: cfg.Compressors, Warnings: warnings,
		Security: s.security(), RotateLog: cfg.RotateLog, Profiling: cfg.Profiling,
	})
	if err != nil {
		return errors.Join(err, s.engine.Close())
	}
	s.log.Info().Dur("took", clock.System().Now().Sub(began)).Msg("Data opened")
	if s.gc != nil && s.engine.Stats().FileBytes >= noteworthy {
		go debug.FreeOSMemory() // of the garbage that reading has left
	}
	return nil
}

// noteworthy is the size from which the reading of a log is told of: it takes
// as long as people notice.
const noteworthy = 16 << 20

// reading logs how much of the log has been read.
func (s *Server) reading(read, size int64) {
	if size < noteworthy {
		return
	}
	s.log.Info().Int64("readMB", read>>20).Int64("sizeMB", size>>20).Int64("percent", read*100/size).Msg("Reading the data")
}
