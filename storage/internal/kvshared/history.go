package kvshared

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/storage/internal/kv"
)

// history is what this server has written in the last commits, as long as there was none
// of another server between them. With it, a commit without the lock knows how what its
// dry runs have read is now: the check that nobody else has committed since is enough, and
// the writers of one server do not get into each other's way. It is guarded by the right
// to write.
type history struct {
	base    int64 // the version before the first commit
	commits []historyEntry
	bytes   int
}

type historyEntry struct {
	over  *kv.Overlay
	bytes int
}

// The size of a history.
const (
	maxHistory      = 64
	maxHistoryBytes = 4 << 20
)

// last is the version of the last commit, if that was one of this server.
func (h *history) last() int64 { return h.base + int64(len(h.commits)) }

// upTo returns the history if it reaches up to a version, and otherwise one that begins with
// it.
func (h *history) upTo(version int64) *history {
	if h.last() != version {
		return &history{base: version}
	}
	return h
}

// add adds a commit. over, which must not change any more, has all that it wrote to
// records and entries, but for the ranges that it has removed.
func (h *history) add(version int64, over *kv.Overlay, w *kv.WriteSet) {
	c := historyEntry{over: over}
	for _, x := range w.Writes {
		c.bytes += len(x.Key) + len(x.Value) + 64
	}
	if version != h.last()+1 {
		*h = history{base: version - 1}
	}
	if len(w.Drops) > 0 || c.bytes > maxHistoryBytes {
		*h = history{base: version}
		return
	}
	h.commits, h.bytes = append(h.commits, c), h.bytes+c.bytes
	for len(h.commits) > maxHistory || h.bytes > maxHistoryBytes {
		h.bytes -= h.commits[0].bytes
		h.commits[0] = historyEntry{}
		h.commits, h.base = h.commits[1:], h.base+1
	}
}

// since are the commits after a version; ok is false if they are not known.
func (h *history) since(version int64) (list []historyEntry, ok bool) {
	if version == 0 || version < h.base || version > h.last() {
		return nil, false
	}
	return h.commits[version-h.base:], true
}

// point is the value that a key has after the last commit, of one that was read before; ok
// is false if that is not known.
func (h *history) point(key []byte, read readValue) (now []byte, ok bool) {
	list, ok := h.since(read.version)
	if !ok {
		return nil, false
	}
	for i := len(list) - 1; i >= 0; i-- {
		if v, ok := list[i].over.Get(key); ok {
			return v, true
		}
	}
	return read.value, true
}

// unchanged reports whether a range is certainly as it was in the state of a version: no
// key of it was written since. If its first key was found, the range ends with that.
func (h *history) unchanged(s kv.Span, first []byte, version int64) bool {
	list, ok := h.since(version)
	if !ok {
		return false
	}
	if len(list) > 0 && first != nil {
		s.Hi = append(bytes.Clone(first), 0)
	}
	return !slices.ContainsFunc(list, func(c historyEntry) bool { return c.over.Has(s) })
}
