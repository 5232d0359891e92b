package queue

import (
	"testing"

	"github.com/duskdb/duskdb/storage"
)

// What a transaction does to queues is forgotten with an attempt that failed, and done
// once it is committed.
func TestChanges(t *testing.T) {
	var none *Changes
	none.Begin()
	none.Committed()
	b := newEnv(t).broker
	c := b.Changes()
	c.of([16]byte{1}).activity = 7
	c.of([16]byte{2}).activity = 8
	c.Begin()
	c.of([16]byte{2}).activity = 9
	c.of([16]byte{3}).activity = 10
	if c.of([16]byte{3}).activity != 10 || c.of([16]byte{2}).activity != 9 {
		t.Error("effects of different queues are mixed up")
	}
	c.Drop(&storage.Info{UUID: [16]byte{4}})
	b.queue([16]byte{4})
	c.Committed()
	for uuid, want := range map[byte]int64{2: 9, 3: 10} {
		if got := b.queue([16]byte{uuid}).activity.Load(); got != want {
			t.Errorf("queue %d: activity %d, want %d", uuid, got, want)
		}
	}
	if b.queues[[16]byte{1}] != nil || b.queues[[16]byte{4}] != nil || len(b.queues) != 2 {
		t.Errorf("%d queues are known", len(b.queues))
	}
}
