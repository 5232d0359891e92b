package kvshared

import (
	"bytes"

	"github.com/duskdb/duskdb/storage/internal/kv"
)

// history is what this server has written in the last commits, as long as there was none
// of another server between them. With it, a commit without the lock knows how what its
// drafts have read is now: the check that nobody else has committed since is enough, and
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

// point is the value of a key, which it had in the state of a version.
func (h *history) point(key []byte, was readValue) (now []byte, known bool) {
	list, ok := h.since(was.version)
	if !ok {
		return nil, false
	}
	for i := len(list) - 1; i >= 0; i-- {
		if v, ok := list[i].over.Get(key); ok {
			return v, true
		}
	}
	return was.value, true
}

// rangeState is what a history knows of something that a draft has read.
type rangeState uint8

const (
	unknown rangeState = iota // it is a condition of the commit
	unchanged
	changed
)

// rangeSince is that of a range as of a version: it has changed if any key of it was written.
// If the first key was found in it, it ends with that.
func (h *history) rangeSince(s kv.Span, first []byte, version int64) rangeState {
	list, ok := h.since(version)
	if !ok {
		return unknown
	}
	if len(list) > 0 && first != nil {
		s.Hi = append(bytes.Clone(first), 0)
	}
	for _, c := range list {
		if c.over.Has(s) {
			return changed
		}
	}
	return unchanged
}

// upToDate makes what drafts have read what it is now, as far as this server knows. It
// returns false if a range has changed.
func (g *optimism) upToDate(h *history) bool {
	sure := make([]bool, len(g.from.values)+len(g.from.ends))
	g.surePoints, g.sureEnds = sure[:len(g.from.values)], sure[len(g.from.values):]
	for i := range g.from.values {
		v := &g.from.values[i]
		v.value, g.surePoints[i] = h.current(g.from.request.Points[i].Key, *v)
	}
	for i, id := range g.from.ends {
		span, found := g.from.request.Ends[i].Span, g.from.found[i]
		if id.last || found.version == 0 {
			continue
		}
		switch h.rangeSince(span, found.key, found.version) {
		case changed:
			return false
		case unchanged:
			g.sureEnds[i] = true
		}
	}
	for i, seen := range g.from.ranges {
		switch h.rangeSince(g.from.request.Ranges[i].Span, nil, seen.version) {
		case changed:
			return false
		case unchanged:
			delete(g.ranges, seen) // no condition
		}
	}
	return true
}

// current is point, or what was known before.
func (h *history) current(key []byte, was readValue) (now []byte, known bool) {
	if now, known = h.point(key, was); known {
		return now, true
	}
	return was.value, false
}
