//go:build !unix

package main

// setUmask does nothing: there is none.
func setUmask(int) {}

// systemUmask is 0: there is none.
func systemUmask() int { return 0 }

// checkKeyMode takes every key: its mode says nothing here.
func checkKeyMode(string) error { return nil }
