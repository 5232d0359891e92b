package kvshared

import (
	"errors"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
)

// counts are what a shared engine counts for monitoring.
type counts struct {
	updates, conflicts, retries, reruns atomic.Int64
}

// Counts fills in what the engine knows beside its store.
func (e *Engine) Counts(st *storage.ClusterStats) {
	st.Updates, st.Conflicts = e.counts.updates.Load(), e.counts.conflicts.Load()
	st.Retries, st.Reruns = e.counts.retries.Load(), e.counts.reruns.Load()
}

// note counts the end of an Update.
func (c *counts) note(err error) {
	switch {
	case err == nil:
		c.updates.Add(1)
	case errors.Is(err, storage.ErrConflict):
		c.conflicts.Add(1)
	}
}
