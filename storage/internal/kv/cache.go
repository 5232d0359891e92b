package kv

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// valueCache keeps values that single reads have found, so that reading them again
// costs no search in the store. A transaction on a state of any age finds in it
// what its state has, or nothing.
//
// A value has the stamp of the state at which it was read. It is right for later
// states while the key has not been written since, which the stamps of last
// writes say: each belongs to all keys of some hashes. A commit notes its stamp
// for what it updates and deletes, before anyone can see its state. It need not
// do so for what it inserts, because the cache never keeps that a key is not
// there; so new records invalidate nothing. A record that is in the cache is renewed
// when it is updated.
type valueCache struct {
	seed    maphash.Seed
	written [1 << 16]atomic.Uint64
	shards  [cacheShards]cacheShard
}

const cacheShards = 64

// cacheShard is a part of the cache with a lock and a limit of its own.
type cacheShard struct {
	mu    sync.Mutex
	at    map[string]int // the places of slots, by their keys
	slots []cacheSlot
	free  []int // the places of slots that are not in use
	hand  int   // the place at which the search for a value that may go continues
	bytes int   // the size of all values
	limit int   // the size that the values may have together
}

// cacheSlot is a value and the stamp of the state at which it was read.
type cacheSlot struct {
	key   string // "" if the slot is free
	value []byte
	stamp uint64
	used  bool // the value was read since the hand passed
}

// cacheOverhead is the memory that a value takes beside its own bytes and those of its key.
const cacheOverhead = 128

// newValueCache returns a cache of about so many bytes, or nil if that is too little to
// keep anything.
func newValueCache(bytes int64) *valueCache {
	limit := int(bytes / cacheShards)
	if limit <= 0 {
		return nil
	}
	h := &valueCache{seed: maphash.MakeSeed()}
	for i := range h.shards {
		h.shards[i].at = map[string]int{}
		h.shards[i].limit = limit
	}
	return h
}

// hash identifies a key. The cache may be nil.
func (h *valueCache) hash(key []byte) uint64 {
	if h == nil {
		return 0
	}
	return maphash.Bytes(h.seed, key)
}

func (h *valueCache) shard(hash uint64) *cacheShard { return &h.shards[hash%cacheShards] }

func (h *valueCache) lastWrite(hash uint64) *atomic.Uint64 {
	return &h.written[hash>>32%uint64(len(h.written))]
}

// wrote notes that a commit has changed the value of a key.
func (h *valueCache) wrote(hash, stamp uint64) {
	if h != nil {
		h.lastWrite(hash).Store(stamp)
	}
}

// get returns the value that a key has in the state of a stamp, if that is known.
func (h *valueCache) get(key []byte, hash, stamp uint64) []byte {
	if h == nil {
		return nil
	}
	s := h.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.at[string(key)]
	if !ok || s.slots[i].stamp > stamp || s.slots[i].stamp < h.lastWrite(hash).Load() {
		return nil
	}
	s.slots[i].used = true
	return s.slots[i].value
}

// put keeps a value that was read in the state of a stamp. The value must not
// change.
func (h *valueCache) put(key []byte, hash uint64, value []byte, stamp uint64) {
	if h == nil || h.lastWrite(hash).Load() > stamp {
		return
	}
	s := h.shard(hash)
	size := len(key) + len(value) + cacheOverhead
	if size > s.limit/8 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.at[string(key)]; ok {
		if s.slots[i].stamp >= stamp {
			return
		}
		s.remove(i)
	}
	for s.bytes+size > s.limit {
		s.evict()
	}
	s.add(cacheSlot{key: string(key), value: value, stamp: stamp})
}

// renew replaces the value that a key has in the cache, if any, by that of a commit,
// which must not change.
func (h *valueCache) renew(key, value []byte, stamp uint64) {
	if h == nil {
		return
	}
	s := h.shard(h.hash(key))
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.at[string(key)]
	if !ok {
		return
	}
	slot := &s.slots[i]
	s.bytes += len(value) - len(slot.value)
	slot.value, slot.stamp = value, stamp
	if slot.size() > s.limit/8 {
		s.remove(i)
	}
	for s.bytes > s.limit {
		s.evict()
	}
}

func (s *cacheSlot) size() int { return len(s.key) + len(s.value) + cacheOverhead }

func (s *cacheShard) add(slot cacheSlot) {
	i := len(s.slots)
	if n := len(s.free); n > 0 {
		i, s.free = s.free[n-1], s.free[:n-1]
		s.slots[i] = slot
	} else {
		s.slots = append(s.slots, slot)
	}
	s.at[slot.key] = i
	s.bytes += slot.size()
}

func (s *cacheShard) remove(i int) {
	s.bytes -= s.slots[i].size()
	delete(s.at, s.slots[i].key)
	s.slots[i] = cacheSlot{}
	s.free = append(s.free, i)
}

// evict removes the next value that was not used since the hand passed it. There
// is at least one value.
func (s *cacheShard) evict() {
	for {
		i := s.hand
		s.hand = (s.hand + 1) % len(s.slots)
		switch slot := &s.slots[i]; {
		case slot.key == "":
		case slot.used:
			slot.used = false
		default:
			s.remove(i)
			return
		}
	}
}
