//go:build unix

package main

import "syscall"

// onRotateSignal calls rotate at every SIGUSR1, as mongod does.
func onRotateSignal(rotate func()) (stop func()) { return onSignal(syscall.SIGUSR1, rotate) }
