//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onRotateSignal calls rotate at every SIGUSR1, as mongod does, until the
// returned function is called.
func onRotateSignal(rotate func()) (stop func()) {
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		for {
			select {
			case <-signals:
				rotate()
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
