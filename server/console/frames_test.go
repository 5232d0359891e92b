package console

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// A frame keeps the newest events, of as many as it may have and of a limited size, and counts
// all of them.
func TestFramesAreLimited(t *testing.T) {
	for _, c := range []struct{ events, size, kept int }{
		{5, 100, 5}, {200, 100, 50}, {10, 1 << 20, 3}, {3, frameBytes, 0}, {1, frameBytes + 1, 0},
	} {
		f := &frames{s: &eventStream{}, max: 50}
		for i := range c.events {
			d := value.NewDoc("_id", value.Document(value.NewDoc("_data", value.String(string(rune('a'+i))))), "operationType", value.String("insert"), "x", value.String(strings.Repeat("x", c.size)))
			f.s.events = value.NewArray(value.Document(d)).Doc()
			f.take()
			clear(d) // the batch is overwritten by the next
			clear(f.s.events)
		}
		if len(f.events) != c.kept || f.total != int64(c.events) || f.counts[0] != f.total || f.names[0] != "insert" || f.last != string(rune('a'+c.events-1)) {
			t.Errorf("%+v: %d kept, %d in all, %v %v, last %q", c, len(f.events), f.total, f.names, f.counts, f.last)
		}
		for _, d := range f.events {
			if err := value.Validate(d); err != nil {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
}
