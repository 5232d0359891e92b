package server

import (
	"cmp"
	"errors"
	"os"
	"runtime/debug"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
)

// logStart logs the version, the process and the limits of the server.
func (s *Server) logStart(memory int64) {
	host, _ := os.Hostname() // "" if it has no name
	s.log.Info().Str("version", s.config.Version).Str("mongodb", MongoDBVersion).Int("pid", os.Getpid()).Str("host", host).
		Str("dbpath", cmp.Or(s.config.DBPath, Memory)).Int64("memoryLimitMB", memory>>20).Int("maxConns", s.config.MaxConns).Msg("DuskDB starting")
}

// openService opens the data and creates the Service that runs commands. The
// metrics are served before that, because reading a large log takes long.
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
	stats, err := s.engine.Stats()
	if err != nil {
		return errors.Join(err, s.engine.Close())
	}
	if s.gc != nil && stats.FileBytes >= noteworthy {
		go debug.FreeOSMemory() // release the garbage of reading the log
	}
	return nil
}

// noteworthy is the least size of a log whose reading is logged, because it
// takes noticeably long.
const noteworthy = 16 << 20

// reading logs the progress of reading the log.
func (s *Server) reading(read, size int64) {
	if size < noteworthy {
		return
	}
	s.log.Info().Int64("readMB", read>>20).Int64("sizeMB", size>>20).Int64("percent", read*100/size).Msg("Reading the data")
}
