package kvshared

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/storage/internal/kv"
)

// wrote is a commit that has set and, with a "-" in front, deleted keys.
func wrote(keys ...string) (*kv.Overlay, *kv.WriteSet) {
	over, set := new(kv.Overlay), new(kv.WriteSet)
	for _, key := range keys {
		if key[0] == '-' {
			over.Delete([]byte(key[1:]))
			set.Delete([]byte(key[1:]))
		} else {
			over.Set([]byte(key), []byte("new "+key))
			set.Set([]byte(key), []byte("new "+key))
		}
	}
	return over, set
}

// show says what a history knows of a key that had a value in the state of a version.
func (h *history) show(key string, version int64) string {
	v, known := h.point([]byte(key), readValue{[]byte("old"), version})
	switch {
	case !known:
		return "not known"
	case v == nil:
		return "gone"
	}
	return string(v)
}

func TestHistory(t *testing.T) {
	t.Parallel()
	var h history
	add := func(version int64, keys ...string) {
		over, set := wrote(keys...)
		h.add(version, over, set)
	}
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	add(8, "a", "b")
	add(9, "c")
	add(10, "-a")
	check("written in the first commit", h.show("b", 7), "new b")
	check("written before it was read", h.show("b", 8), "old")
	check("deleted since", h.show("a", 8), "gone")
	check("not written", h.show("d", 7), "old")
	check("read before the history begins", h.show("b", 6), "not known")
	check("not read", h.show("b", 0), "not known")
	check("a later state", h.show("b", 11), "not known")
	if h.upTo(10) != &h || h.upTo(11).show("b", 10) != "not known" || h.upTo(11).show("b", 11) != "old" {
		t.Error("a commit of another server in between")
	}
	for _, tt := range []struct {
		lo, hi  string
		version int64
		want    bool
	}{
		{"a", "b", 9, false}, {"a", "b", 10, true}, {"b", "d", 8, false}, {"b", "c", 8, true}, {"b", "c", 6, false}, {"b", "c", 11, false},
	} {
		if got := h.unchanged(kv.Span{Lo: []byte(tt.lo), Hi: []byte(tt.hi)}, nil, tt.version); got != tt.want {
			t.Errorf("%v: %v", tt, got)
		}
	}
	if h.unchanged(kv.Span{Lo: []byte("a"), Hi: []byte("z")}, []byte("aa"), 9) || !h.unchanged(kv.Span{Lo: []byte("b"), Hi: []byte("z")}, []byte("bb"), 8) {
		t.Error("a range whose first key was found")
	}
	add(12, "e") // another server has made 11
	check("behind a gap", h.show("b", 10), "not known")
	check("since the gap", h.show("e", 11), "new e")
	over, set := wrote("f")
	set.Drop(kv.Span{Lo: []byte("g"), Hi: []byte("h")})
	h.add(13, over, set)
	check("before a range was removed", h.show("f", 12), "not known")
	check("after that", h.show("f", 13), "old")
	for v := int64(14); v < 14+2*maxHistory; v++ {
		add(v, fmt.Sprint("k", v))
	}
	check("too long ago", h.show("k20", 19), "not known")
	check("lately", h.show(fmt.Sprint("k", h.last()), h.last()-1), fmt.Sprint("new k", h.last()))
	if len(h.commits) != maxHistory {
		t.Errorf("%d commits are kept", len(h.commits))
	}
}
