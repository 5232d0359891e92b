package main

import (
	"os"
	"os/signal"
)

// onSignal calls f whenever the process gets a signal, until the returned
// function is called.
func onSignal(s os.Signal, f func()) (stop func()) {
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, s)
	go func() {
		for {
			select {
			case <-signals:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
