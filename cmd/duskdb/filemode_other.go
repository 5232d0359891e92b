//go:build !unix

package main

// setUmask does nothing: this system has no umask.
func setUmask(int) {}

// systemUmask is 0: this system has no umask.
func systemUmask() int { return 0 }

// checkKeyMode accepts every key: modes have no meaning on this system.
func checkKeyMode(string) error { return nil }
