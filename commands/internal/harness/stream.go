package harness

import (
	"cmp"
	"fmt"
	"time"

	"github.com/duskdb/duskdb/value"
)

// TestStream is an open change stream.
type TestStream struct {
	H    *Harness
	ID   int64
	DB   string // "": test
	Coll string
	Last value.Doc // token
}

// Watch opens a change stream on a collection, or on the database if coll is
// empty. stages follow $changeStream and begin with a comma.
func (h *Harness) Watch(coll, options, stages string) *TestStream {
	h.Helper()
	on := `"` + coll + `"`
	s := &TestStream{H: h, Coll: coll}
	if coll == "" {
		on, s.Coll = "1", "$cmd.aggregate"
	}
	reply := h.OK(fmt.Sprintf(`{"aggregate": %s, "pipeline": [{"$changeStream": %s}%s], "cursor": {"batchSize": 0}}`, on, options, stages))
	cur := reply.Lookup("cursor").Doc()
	s.ID, s.Last = cur.Lookup("id").Int64(), cur.Lookup("postBatchResumeToken").Doc().Clone()
	return s
}

// Events returns the events of one getMore, which does not wait.
func (s *TestStream) Events() (list []value.Doc) {
	s.H.Helper()
	reply := s.H.RunOn(cmp.Or(s.DB, "test"), value.MustJSON(fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "%s", "maxTimeMS": 1}`, s.ID, s.Coll)))
	if !reply.Lookup("ok").Truthy() {
		s.H.Fatal(reply)
	}
	cur := reply.Lookup("cursor").Doc()
	for v := range cur.Lookup("nextBatch").Doc().Values() {
		list = append(list, v.Doc().Clone())
	}
	if id := cur.Lookup("id").Int64(); id == 0 {
		s.ID = 0
	}
	s.Last = cur.Lookup("postBatchResumeToken").Doc().Clone()
	return list
}

// Brief returns an event as JSON without the fields that differ from run to run.
func Brief(d value.Doc) string {
	b := value.NewBuilder()
	for it := d.Iter(); it.Next(); {
		switch it.Key() {
		case "_id", "clusterTime", "wallTime", "collectionUUID", "lsid":
		default:
			b.Raw(it.Element())
		}
	}
	return b.Doc().JSON()
}

// Expect compares the next events, as Brief shows them.
func (s *TestStream) Expect(want ...string) {
	s.H.Helper()
	got := s.Events()
	if len(got) != len(want) {
		s.H.Fatalf("events %v, want %v", got, want)
	}
	for i, d := range got {
		if w := value.MustJSON(want[i]).JSON(); Brief(d) != w {
			s.H.Errorf("event %d is %s, want %s", i, Brief(d), w)
		}
	}
}

// Pass moves the clock and runs an expiry pass.
func (h *Harness) Pass(seconds int64) {
	h.Helper()
	h.Advance(seconds)
	if r := h.Admin(`{"runExpirationPass": 1}`); !r.Lookup("ok").Truthy() {
		h.Fatal(r)
	}
}

// Advance moves the clock by a number of seconds.
func (h *Harness) Advance(seconds int64) {
	h.Helper()
	if err := h.Clock.Advance(time.Duration(seconds) * time.Second); err != nil {
		h.Fatal(err)
	}
}

// Next returns one event.
func (s *TestStream) Next() value.Doc {
	s.H.Helper()
	r := s.H.OK(fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "%s", "batchSize": 1, "maxTimeMS": 1}`, s.ID, s.Coll))
	s.Last = r.Lookup("cursor").Doc().Lookup("postBatchResumeToken").Doc().Clone()
	return r.Lookup("cursor").Doc().Lookup("nextBatch").Doc().Index(0).Doc().Clone()
}
