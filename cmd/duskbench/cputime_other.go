//go:build !linux

package main

import "time"

// processTime is not known.
func processTime(int) (time.Duration, bool) { return 0, false }

// treeTime is not known.
func treeTime(int) (time.Duration, bool) { return 0, false }
