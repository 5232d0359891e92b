package server

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Limits of the memory of large messages: an eighth of the memory limit, but
// enough for two of the largest and their decompressed forms.
const (
	minInFlight     = 256 << 20
	maxInFlight     = 2 << 30
	defaultInFlight = 1 << 30
)

// inFlight is the memory budget for large messages of all connections.
type inFlight struct {
	ctx     context.Context
	free    *semaphore.Weighted
	replies int64 // limit in bytes of the large replies that clients do not read

	slots    *semaphore.Weighted // slots for large replies that are being written or sent
	slotsAll int64               // number of slots
	waiting  atomic.Int64        // commands that wait for a slot
	taken    atomic.Int64        // slots in use
	// onScarce is nil, or called when many slots begin to be taken: garbage should be
	// collected more often from then on.
	onScarce func()
}

// manySlots is the number of taken slots up to which garbage is collected as usual.
const manySlots = 2

// maxReplyMemory is the memory that a large reply may take: its buffer grows as it is
// written.
const maxReplyMemory = 32 << 20

func newInFlight(ctx context.Context, memoryLimit int64) *inFlight {
	n := int64(defaultInFlight)
	if memoryLimit > 0 {
		n = min(max(memoryLimit/8, minInFlight), maxInFlight)
	}
	replies := max(n/4, minInFlight)
	slots := replies / maxReplyMemory
	return &inFlight{
		ctx: ctx, free: semaphore.NewWeighted(n), replies: replies,
		slots: semaphore.NewWeighted(slots), slotsAll: slots,
	}
}

// sending reports whether a large reply is in memory.
func (f *inFlight) sending() bool {
	if !f.slots.TryAcquire(f.slotsAll) {
		return true
	}
	f.slots.Release(f.slotsAll)
	return false
}

// takeSlot waits for a slot.
func (f *inFlight) takeSlot(ctx context.Context) error {
	if !f.slots.TryAcquire(1) {
		f.waiting.Add(1)
		defer f.waiting.Add(-1)
		if err := f.slots.Acquire(ctx, 1); err != nil {
			return err
		}
	}
	if f.taken.Add(1) == manySlots+1 && f.onScarce != nil {
		f.onScarce()
	}
	return nil
}

// giveSlot gives a slot back.
func (f *inFlight) giveSlot() {
	f.taken.Add(-1)
	f.slots.Release(1)
}

// scarce reports whether many slots are taken.
func (f *inFlight) scarce() bool { return f.taken.Load() > manySlots }

// Take waits for n bytes.
func (f *inFlight) Take(n int) error { return f.free.Acquire(f.ctx, int64(n)) }

// Give returns n bytes.
func (f *inFlight) Give(n int) { f.free.Release(int64(n)) }
