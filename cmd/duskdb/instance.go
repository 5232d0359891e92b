package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"github.com/duskdb/duskdb/server"
)

// Run serves until a signal, the shutdown command or, with --exit-with-stdin,
// the end of the standard input.
func (s *serveCmd) Run() error {
	if err := s.Mongod.apply(s); err != nil {
		return err
	}
	if err := s.Process.check(s); err != nil {
		return err
	}
	if s.Process.Shutdown {
		return stopServer(s.DBPath)
	}
	if s.Process.Fork && os.Getenv(forkedVariable) == "" {
		return s.Process.daemonize()
	}
	r, err := s.prepare()
	if err != nil {
		return err
	}
	defer r.close()
	if err := s.checkDir(r); err != nil {
		return err
	}
	planned, err := s.findSeeds(r.log)
	if err != nil {
		return err
	}
	manager := serviceManager(r.log)
	manager.tell("STATUS=Opening the data")
	signals, stop := stopSignals()
	defer stop()
	srv, err := openServer(r.cfg, signals)
	if srv == nil {
		return err
	}
	r.reportRepairs(srv)
	if err := planned.plant(srv, &r.cfg, r.log); err != nil {
		return errors.Join(err, srv.Close(context.Background()))
	}
	return s.serve(r, srv, manager, signals)
}

// instance is one run of the server.
type instance struct {
	cfg      server.Config
	log      zerolog.Logger
	file     *logFile // nil: the log is on stderr
	stop     chan struct{}
	unsignal func() // stops listening for the signal that rotates the log file
}

// prepare opens the log, and makes the configuration out of the flags, their variables and
// the configuration file.
func (s *serveCmd) prepare() (*instance, error) {
	lines, limit := &server.LogLines{}, &server.LogLimit{}
	log, file, err := s.logger(lines, limit)
	if err != nil {
		return nil, err
	}
	r := &instance{log: log, file: file, stop: make(chan struct{})}
	if err := s.configure(r, lines, limit); err != nil {
		r.close()
		return nil, usageError{err}
	}
	return r, nil
}

func (s *serveCmd) configure(r *instance, lines *server.LogLines, limit *server.LogLimit) error {
	params, err := s.parameters(r.log)
	if err != nil {
		return err
	}
	files, err := protectFiles(params)
	if err != nil {
		return err
	}
	if r.file != nil {
		if err := r.file.allow(files); err != nil {
			return err
		}
	}
	r.cfg = s.config(params)
	r.cfg.Log, r.cfg.Lines, r.cfg.LogLimit, r.cfg.FileMode = r.log, lines, limit, files
	r.cfg.OnShutdown = sync.OnceFunc(func() { close(r.stop) })
	if r.file != nil {
		r.cfg.RotateLog = r.file.rotate
		r.unsignal = onRotateSignal(func() { rotateLog(r.file, r.log) })
	}
	return s.Security.apply(&r.cfg)
}

// parameters are those of --setParameter, of flags that stand for one, and of the
// configuration file. It warns of all that has no effect.
func (s *serveCmd) parameters(log zerolog.Logger) (map[string]string, error) {
	params, err := parseParameters(s.SetParameter)
	if err != nil {
		return nil, err
	}
	if _, given := params["logLevel"]; !given && s.Verbose > 0 {
		params["logLevel"] = strconv.Itoa(s.Verbose)
	}
	s.logConnections(params)
	if err := s.applyExtra(params, log); err != nil {
		return nil, err
	}
	for _, text := range append(s.Mongod.warnings(), s.misspelt...) {
		log.Warn().Msg(text)
	}
	return params, nil
}

// config is the configuration that the flags give, but for the log and for users and TLS.
func (s *serveCmd) config(params map[string]string) server.Config {
	return server.Config{
		BindIP: s.addresses(), IPv6: s.IPv6, Port: s.Port, MaxConns: s.MaxConns, Compressors: s.compressors(),
		SocketMode: os.FileMode(s.SocketMode), //nolint:gosec // nine bits
		DBPath:     s.DBPath, Repair: s.Repair, MemoryLimit: s.MemoryLimit, TuneGC: true,
		StorageEngine: s.Mongod.engine(), StorageURI: s.Mongod.StorageURI, CacheSize: s.Mongod.CacheSize,
		Parameters: params, TestClock: s.TestClock,
		Argv: hideSecrets(os.Args), Parsed: s.parsed(params), Version: version,
		MetricsPort: s.MetricsPort, MetricsBindIP: s.MetricsBind, MetricsPprof: s.MetricsPprof,
		ConsolePort: s.consolePort(), ConsoleBindIP: s.ConsoleBind, ConsoleHosts: s.ConsoleHosts, ConsoleReadOnly: s.ConsoleRead,
		MongoDBVersion: s.MongoDB, NoScripting: s.Mongod.NoScripting, ReplSet: s.ReplSet, AdvertiseHost: s.Advertise,
		OplogSizeMB: s.OplogSize, OplogMinRetentionHours: s.OplogHours,
		Profiling: &server.Profiling{Level: s.Profile, SlowMS: s.SlowMS, SampleRate: s.SlowSample},
	}
}

// close ends the log file, to which nothing is written any more.
func (r *instance) close() {
	if r.unsignal != nil {
		r.unsignal()
	}
	if r.file != nil {
		r.file.file.Close()
	}
}

// reportRepairs prints what the server has repaired.
func (r *instance) reportRepairs(srv *server.Server) {
	for _, line := range srv.Repaired() {
		r.tell(line)
	}
}

// serve starts the server, says so to all that wait for it, and blocks until it has
// stopped.
func (s *serveCmd) serve(r *instance, srv *server.Server, manager manager, signals <-chan os.Signal) error {
	if err := srv.Start(); err != nil {
		return err
	}
	for _, addr := range srv.Addrs() {
		r.log.Info().Str("address", addr).Str("dbpath", s.dir()).Str("tls", s.Security.TLSMode).Msg("Waiting for connections")
	}
	remove, err := s.Process.writePIDFile()
	if err != nil {
		return errors.Join(err, srv.Close(context.Background()))
	}
	defer remove()
	s.announce(srv)
	tellReady()
	manager.tell("READY=1\nSTATUS=Serving on " + srv.URI())
	if s.WithStdin {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // an error ends it as well
			r.cfg.OnShutdown()
		}()
	}
	return r.wait(srv, manager, signals)
}

// announce prints where the server listens, for the program or the person that has started it,
// wherever the log is. The first line has the connection string.
func (s *serveCmd) announce(srv *server.Server) {
	fmt.Println("duskdb listening on " + srv.URI())
	if !term.IsTerminal(int(os.Stdout.Fd())) { // programs wait for them; to people the log says so
		fmt.Print(readyLines(s.ReplSet != ""))
	}
	if url := srv.ConsoleURL(); url != "" {
		fmt.Println("duskdb console on " + url)
	}
}

// wait blocks until the server should stop, and stops it.
func (r *instance) wait(srv *server.Server, manager manager, signals <-chan os.Signal) error {
	defer onSignal(syscall.SIGHUP, func() {
		_ = srv.RotateCertificates() // the server logs the error
	})()
	stopWatch := manager.watch(srv)
	select {
	case received := <-signals:
		r.log.Info().Stringer("signal", received).Msg("Received signal")
	case <-r.stop:
	}
	stopWatch()
	manager.tell("STOPPING=1\nSTATUS=Stopping")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-signals // a second signal cuts the draining short
		cancel()
	}()
	return srv.Close(ctx)
}
