package kv

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestCache commits random writes and reads random states, old and new ones, from a cache
// that has room for few values: a value that it finds is that of the state.
func TestCache(t *testing.T) {
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		h := newValueCache(cacheShards * int64(rapid.SampledFrom([]int{1500, 4000, 1 << 20}).Draw(rt, "limit")))
		states := []map[int][]byte{{}} // by their stamps
		number := rapid.IntRange(0, 400)
		for range rapid.IntRange(1, 300).Draw(rt, "steps") {
			now := len(states) - 1
			if rapid.IntRange(0, 4).Draw(rt, "write") == 0 {
				next := map[int][]byte{}
				for k, v := range states[now] {
					next[k] = v
				}
				var written []int
				for range rapid.IntRange(1, 20).Draw(rt, "writes") {
					k := number.Draw(rt, "key")
					written = append(written, k)
					if next[k] != nil { // what is new need not be noted
						h.wrote(h.hash(hotKey(k)), uint64(now+1))
					}
					if delete(next, k); rapid.Bool().Draw(rt, "set") {
						next[k] = append(fmt.Appendf(nil, "%d at %d", k, now+1), make([]byte, rapid.IntRange(0, 60).Draw(rt, "more"))...)
					}
				}
				for _, k := range written {
					if next[k] != nil && rapid.Bool().Draw(rt, "renew") {
						h.renew(hotKey(k), next[k], uint64(now+1))
					}
				}
				states = append(states, next)
				continue
			}
			for range 20 {
				stamp := max(0, now-rapid.IntRange(0, 3).Draw(rt, "age"))
				k := number.Draw(rt, "key")
				key, want := hotKey(k), states[stamp][k]
				got := h.get(key, h.hash(key), uint64(stamp))
				if got != nil {
					found++
				}
				if got != nil && !bytes.Equal(got, want) {
					rt.Fatalf("key %d in state %d: %q, want %q", k, stamp, got, want)
				}
				if want != nil {
					h.put(key, h.hash(key), want, uint64(stamp))
				}
			}
		}
		checkShards(rt, h)
	})
	if found == 0 {
		t.Error("nothing was found")
	}
}

func hotKey(k int) []byte { return fmt.Appendf(nil, "key %d", k) }

// checkShards checks that the shards count what they have, and keep their
// limits.
func checkShards(rt *rapid.T, h *valueCache) {
	for i := range h.shards {
		s := &h.shards[i]
		bytes := 0
		for key, at := range s.at {
			if s.slots[at].key != key {
				rt.Fatalf("%q is at the slot of %q", key, s.slots[at].key)
			}
			bytes += s.slots[at].size()
		}
		if bytes != s.bytes || bytes > s.limit || len(s.at)+len(s.free) != len(s.slots) {
			rt.Fatalf("%d bytes are counted as %d of at most %d; %d values and %d free of %d slots",
				bytes, s.bytes, s.limit, len(s.at), len(s.free), len(s.slots))
		}
	}
}

// TestCacheKeepsASet: a set of values that fits stays, also while many others are read once.
func TestCacheKeepsASet(t *testing.T) {
	h := newValueCache(cacheShards * 40_000)
	read := func(k int) (found bool) {
		key := hotKey(k)
		if found = h.get(key, h.hash(key), 1) != nil; !found {
			h.put(key, h.hash(key), make([]byte, 100), 1)
		}
		return found
	}
	hits := 0
	for i := range 100_000 {
		read(1000 + i) // once
		if read(i % 1000) {
			hits++
		}
	}
	if hits < 95_000 {
		t.Errorf("%d of 100000 reads of a hot set were found", hits)
	}
}
