package server

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
)

// idleRelease returns memory to the system when a busy server has become idle.
// The garbage collector alone would keep the memory of a large request until
// its next cycle, which an idle process runs every two minutes, and then
// return it slowly.
//
// What was allocated among short-lived objects, as the leaves of an index are, lies
// scattered when these are gone, and keeps pages that are nearly empty. If there are many,
// the engine moves its data together before memory is returned.
type idleRelease struct {
	// read returns the bytes allocated since the start, the bytes in use, and the unused bytes
	// between objects, on pages that have some.
	read   func() (allocated, live, unused uint64)
	free   func()
	repack func()         // moves objects together; nil: nothing does
	start  func(f func()) // runs f in the background

	releasing atomic.Bool // whether release runs in the background, which alone uses the fields below meanwhile

	last     uint64 // value of allocated a second ago
	released uint64 // value of allocated when memory was last returned
	quiet    int    // seconds with few allocations
	data     int64  // maximum size of the documents since memory was last returned
}

const (
	quietBytes    = 4 << 20  // limit of what is allocated in a quiet second
	quietSeconds  = 3        // quiet seconds before memory is returned
	worthRelease  = 64 << 20 // minimum allocated since the last time
	worthFraction = 4        // and as a fraction of the live heap, because a collection scans it
	worthRemoved  = 16 << 20 // minimum size of removed documents, and the same fraction of all
	lookForData   = 4        // seconds between two looks at the size of the documents
	worthRepack   = 24 << 20 // minimum of unused bytes between objects, and the same fraction of the live heap
)

func newIdleRelease() *idleRelease {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
	}
	return &idleRelease{free: debug.FreeOSMemory, read: func() (allocated, live, unused uint64) {
		metrics.Read(samples)
		return samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64()
	}}
}

// serve has the release run within the server, and the engine move its data, if it can.
func (r *idleRelease) serve(s *Server) {
	r.start = func(f func()) { s.wg.Go(f) }
	if engine, ok := s.service.Engine.(storage.Repacker); ok {
		r.repack = func() {
			if err := engine.Repack(s.ctx); err != nil && s.ctx.Err() == nil {
				s.log.Warn().Err(err).Msg("memory could not be moved together")
			}
		}
	}
}

// step is called once a second. busy reports whether an operation has claimed memory: it may
// allocate nothing for seconds, and what it holds could not be freed yet. data is the size of
// the documents in memory: removing many allocates little.
func (r *idleRelease) step(busy bool, data func() int64) {
	if r.releasing.Load() {
		return
	}
	allocated, live, _ := r.read()
	if allocated-r.last > quietBytes || busy {
		r.quiet = 0
	} else {
		r.quiet++
	}
	r.last = allocated
	if r.quiet < quietSeconds {
		return
	}
	worth := allocated-r.released >= max(worthRelease, live/worthFraction)
	if (r.quiet-quietSeconds)%lookForData == 0 && r.shrunk(data()) {
		worth = true
	}
	if worth {
		r.releasing.Store(true)
		r.start(r.release)
	}
}

// release returns memory to the system.
func (r *idleRelease) release() {
	defer r.releasing.Store(false)
	r.free()
	if _, live, unused := r.read(); r.repack != nil && unused >= max(worthRepack, live/worthFraction) {
		r.repack()
		r.free()
	}
	r.released, _, _ = r.read()
	r.last = r.released
}

// shrunk reports whether much of the data has been removed.
func (r *idleRelease) shrunk(data int64) bool {
	if r.data-data < max(worthRemoved, r.data/worthFraction) {
		r.data = max(r.data, data)
		return false
	}
	r.data = data
	return true
}

// residentData is the size of the documents that an engine has in memory.
type residentData struct {
	engine  storage.Engine
	commits int64 // number of commits when bytes was read
	bytes   int64
}

// read returns the size in bytes, 0 for an engine that has its data elsewhere. It adds up
// the sizes of all collections if there was a commit since the last time.
func (d *residentData) read(ctx context.Context) int64 {
	st, err := d.engine.Stats()
	if err != nil || !st.Resident || st.Commits == d.commits {
		return d.bytes
	}
	n := int64(0)
	err = d.engine.View(ctx, func(tx storage.Tx) error {
		list, err := tx.Collections("")
		if err == nil {
			n, err = storage.DataBytes(tx, list)
		}
		return err
	})
	if err == nil {
		d.bytes, d.commits = n, st.Commits
	}
	return d.bytes
}
