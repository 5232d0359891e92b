package agg

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

func TestLargeEventIsSplit(t *testing.T) {
	h := newMemory()
	half := value.String(strings.Repeat("x", 9<<20))
	h.special["$changeStream"] = []value.Doc{
		value.NewDoc("_id", value.Document(value.NewDoc("_data", value.String("82"))), "a", half, "b", half),
		value.NewDoc("_id", value.Document(value.NewDoc("_data", value.String("83"))), "a", value.Int32(1)),
		value.NewDoc("_id", value.Document(value.NewDoc("_data", value.String("84"))), "a", value.String(strings.Repeat("x", 16<<20))),
	}
	got, err := run(t, h, `[{"$changeStream": {}}, {"$changeStreamSplitLargeEvent": {}}]`)
	if err != nil || len(got) != 4 || !got[1].Has("splitEvent") || got[2].Has("splitEvent") || got[3].Has("splitEvent") {
		t.Error(len(got), err)
	}
}
