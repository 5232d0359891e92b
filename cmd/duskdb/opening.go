package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/duskdb/duskdb/server"
)

// stopSignals returns the signals that stop the server, from now on until stop is called. It is
// one channel for all that the process does, so that none is lost between two of its steps.
func stopSignals() (signals chan os.Signal, stop func()) {
	signals = make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return signals, func() { signal.Stop(signals) }
}

// openServer makes a server, which takes long if a large log must be read. A signal ends
// the wait: then it returns neither a server nor an error. The goroutine that opens the
// data ends with the process, which harms the data as little as a kill.
func openServer(cfg server.Config, signals <-chan os.Signal) (*server.Server, error) {
	type result struct {
		srv *server.Server
		err error
	}
	opened := make(chan result, 1)
	go func() {
		srv, err := server.New(cfg)
		opened <- result{srv, err}
	}()
	select {
	case r := <-opened:
		return r.srv, r.err
	case s := <-signals:
		cfg.Log.Info().Stringer("signal", s).Str("dbpath", cfg.DBPath).Msg("Stopped while the data were being opened")
		return nil, nil
	}
}
