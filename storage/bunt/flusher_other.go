//go:build !linux

package bunt

import "os"

// A flusher syncs files by fsync, or what the system has in its place.
type flusher struct{}

func takeFlusher() *flusher { return nil }

func (*flusher) sync(f *os.File) error { return f.Sync() }

func (*flusher) giveBack() {}
