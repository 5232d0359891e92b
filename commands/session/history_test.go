package session_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/value"
)

// TestHistoryFindsStatements: whatever order the statements of a command are done in,
// each is found, and none that was not done.
func TestHistoryFindsStatements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h *session.RetryHistory
		if h.Find(0) != nil {
			t.Fatal("no history has statements")
		}
		h = h.Forget()
		kinds := map[int32]byte{}
		for range rapid.IntRange(0, 12).Draw(t, "outcomes") {
			first := rapid.Int32Range(0, 40).Draw(t, "first")
			s := session.RetriedStatement{First: first, Last: first + rapid.Int32Range(0, 3).Draw(t, "more"), Kind: rapid.SampledFrom([]byte("iud")).Draw(t, "kind")}
			taken := false
			for id := s.First; id <= s.Last; id++ {
				taken = taken || kinds[id] != 0
			}
			if taken { // a statement is done once
				continue
			}
			for id := s.First; id <= s.Last; id++ {
				kinds[id] = s.Kind
			}
			h.Add(s)
		}
		for id := int32(-1); id < 50; id++ {
			s := h.Find(id)
			if (s != nil) != (kinds[id] != 0) || s != nil && (s.Kind != kinds[id] || s.First > id || s.Last < id) {
				t.Fatalf("statement %d: %+v, want %q", id, s, kinds[id])
			}
		}
		if h = h.Forget(); h.Find(0) != nil || h.Newest() != nil || h.Parts || len(h.Done) != 0 {
			t.Fatalf("another number finds %+v", h)
		}
	})
}

// A further outcome joins the newest one if that is the last in order, and both say the
// same of all their statements.
func TestOutcomesAreJoined(t *testing.T) {
	insert := session.RetriedStatement{First: 2, Last: 4, Kind: 'i'}
	for _, tt := range []struct {
		name string
		next session.RetriedStatement
		want bool
	}{
		{"next", session.RetriedStatement{First: 5, Last: 5, Kind: 'i'}, true},
		{"another kind", session.RetriedStatement{First: 5, Last: 5, Kind: 'u'}, false},
		{"a gap", session.RetriedStatement{First: 6, Last: 6, Kind: 'i'}, false},
		{"before", session.RetriedStatement{First: 1, Last: 1, Kind: 'i'}, false},
		{"an upsert", session.RetriedStatement{First: 5, Last: 5, Kind: 'i', ID: value.Int32(1)}, false},
		{"an image", session.RetriedStatement{First: 5, Last: 5, Kind: 'i', Image: value.EmptyDoc}, false},
	} {
		if got := insert.Joins(&tt.next); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	h := new(session.RetryHistory)
	h.Add(insert)
	h.Recent = append(h.Recent, insert)
	if s := h.Newest(); s == nil || s.Last != 4 {
		t.Errorf("newest %+v", s)
	}
	odd := session.RetriedStatement{First: 0, Last: 0, Kind: 'u'}
	h.Add(odd)
	h.Recent = append(h.Recent, odd)
	if s := h.Newest(); s != nil {
		t.Errorf("one out of order is joined: %+v", s)
	}
}

// What is stored of an outcome is read again.
func TestStoredStatements(t *testing.T) {
	for _, tt := range []struct {
		s    session.RetriedStatement
		want string
	}{
		{session.RetriedStatement{First: 1, Last: 3, Kind: 'd'}, `{first: 1, last: 3, op: "d"}`},
		{session.RetriedStatement{First: 1, Last: 1, Kind: 'u', ID: value.String("x")}, `{first: 1, last: 1, op: "u", id: "x"}`},
		{session.RetriedStatement{First: 0, Last: 0, Kind: 'u', Image: harness.Relaxed(`{a: 1}`)}, `{first: 0, last: 0, op: "u", image: {a: 1}}`},
	} {
		b := value.NewBuilder()
		b.StartArray("statements")
		tt.s.Append(b)
		stored := b.End().Doc().Lookup("statements").Doc().Index(0).Doc()
		if stored.JSON() != harness.Relaxed(tt.want).JSON() {
			t.Errorf("stored %s, want %s", stored, tt.want)
		}
		got := session.ReadStatement(stored)
		if got.First != tt.s.First || got.Last != tt.s.Last || got.Kind != tt.s.Kind || !value.Equal(got.ID, tt.s.ID) || string(got.Image) != string(tt.s.Image) {
			t.Errorf("read %+v, want %+v", got, tt.s)
		}
	}
	if got := session.ReadStatement(value.EmptyDoc); got.Kind != 0 || got.Image != nil {
		t.Errorf("of nothing: %+v", got)
	}
}
