package kv

import (
	"context"

	"github.com/duskdb/duskdb/storage"
)

// Store is an ordered key-value store, which one engine uses. Its errors reach
// the callers of the engine. Slices passed to it are not kept, but for the values of
// records, descriptions and statistics by a store whose snapshots are [Resident] ones: these
// never change.
type Store interface {
	// Snapshot returns the latest state. Only the engine's writer calls it.
	Snapshot() (Snapshot, error)
	// Apply applies a write set as a whole or not at all: snapshots taken later show
	// it. The writes survive the end of the process once wait, which must be called,
	// has returned nil. If it fails, all later calls of Apply and their waits fail.
	// Only the engine's writer calls Apply, and anyone wait.
	Apply(ctx context.Context, w *WriteSet) (wait func() error, err error)
	// Sync returns when all that was applied is on disk.
	Sync(ctx context.Context) error
	// Compact reclaims space.
	Compact(ctx context.Context) error
	// Stats fills in what the store knows.
	Stats(st *storage.EngineStats) error
	// Close syncs and releases everything. Snapshots that are still open become
	// unusable: reading them fails with storage.ErrClosed.
	Close() error
}

// Snapshot is a state of the store that does not change. It is safe for
// concurrent use.
type Snapshot interface {
	// Get reads a value, which belongs to the caller, unless the snapshot is a [Resident]
	// one; nil if there is no such key.
	Get(ctx context.Context, key []byte) ([]byte, error)
	// GetMany reads values in the order of keys, and calls fn with the position of
	// each key that exists until fn returns false. The value belongs to fn.
	GetMany(ctx context.Context, keys [][]byte, fn func(i int, value []byte) bool) error
	// Scan iterates over lo <= key < hi, in reverse order from the end.
	Scan(ctx context.Context, lo, hi []byte, reverse bool) Iterator
	// Close releases the snapshot.
	Close()
}

// Iterator walks over a range.
type Iterator interface {
	// Next moves to the next key, the first at first. It returns false at the end,
	// or after an error.
	Next() bool
	// Key is valid until the next call of Next.
	Key() []byte
	// Value is valid until the next call of Next.
	Value() ([]byte, error)
	// Close releases the iterator and returns the error that ended it.
	Close() error
}

// WriteSet is what a commit changes: first the writes, then the removal of
// ranges, each of which lies before the writes that follow it in time. A range is all of
// an index, or all that a collection has but its description. For a store in memory the
// writes do not have the entries, which are in the fork, and the records only so that a log
// can have them: see [WriteSet.Logged].
type WriteSet struct {
	Writes []Write
	Drops  []Span
	// Quotes are parts of values that other writes have as well, in the order of By and At.
	// Those of one record do not overlap.
	Quotes []Quote
	// Fork is the state with all that is written, but for descriptions, statistics and marks,
	// if the store has its data in memory. Otherwise it is nil.
	Fork Fork
	// Fresh reports whether the key of a record or an entry is certainly new. May be nil.
	Fresh func(key []byte) bool
}

// Write sets a key, or deletes it if Value is nil.
type Write struct{ Key, Value []byte }

// Span is a range of keys: Lo <= key < Hi.
type Span struct{ Lo, Hi []byte }

func (w *WriteSet) Set(key, value []byte) { w.Writes = append(w.Writes, Write{key, value}) }

func (w *WriteSet) Delete(key []byte) { w.Writes = append(w.Writes, Write{Key: key}) }

func (w *WriteSet) Drop(s Span) { w.Drops = append(w.Drops, s) }
