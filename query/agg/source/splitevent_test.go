package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/source"
	"github.com/duskdb/duskdb/value"
)

// An event is cut between its fields, the smallest first, as the manual says of
// $changeStreamSplitLargeEvent; an _id of "n" stands for a token.
func TestSplitEvent(t *testing.T) {
	event := func(sizes ...string) value.Doc {
		b := value.NewBuilder().Document("_id", value.NewDoc("n", value.Int32(0)))
		for _, s := range sizes {
			name, n := s[:1], 0
			_, _ = fmt.Sscan(s[1:], &n)
			b.String(name, strings.Repeat("x", n))
		}
		return b.Doc()
	}
	id := func(n int) value.Doc { return value.NewDoc("n", value.Int32(int32(n))) }
	for _, tt := range []struct {
		event value.Doc
		limit int
		want  string // names of the fields of each fragment
		code  mongoerr.Code
	}{
		{event("a60", "b60"), 250, "ab", 0},
		{event("a60", "b60"), 200, "a b", 0},
		{event("b60", "a60"), 200, "a b", 0},
		{event("c80", "b60", "a1"), 200, "ab c", 0},
		{event("c80", "b60", "a1", "d80"), 200, "ab c d", 0},
		{event("a60", "b600"), 200, "", 7182500},
		{event(), 200, "", 7182502},
	} {
		docs, err := source.SplitEvent(tt.event, tt.limit, id)
		if code := mongoerr.From(err); err != nil && code.Code != tt.code || err == nil && tt.code != 0 {
			t.Errorf("%s: %v, want %d", tt.event, err, tt.code)
			continue
		}
		var got []string
		for i, d := range docs {
			if head := fmt.Sprintf(`{"_id":{"n":%d},"splitEvent":{"fragment":%d,"of":%d},`, i+1, i+1, len(docs)); !strings.HasPrefix(d.JSON(), head) {
				t.Error(d, head)
			}
			names := ""
			for it := d.Iter(); it.Next(); {
				if len(it.Key()) == 1 {
					names += it.Key()
				}
			}
			got = append(got, names)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v, want %s", got, tt.want)
		}
	}
}
