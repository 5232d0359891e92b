package commands

import "testing"

// TestForecastOfQueues counts the messages that will expire.
func TestForecastOfQueues(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "q", "messageQueue": {"defaultMessageTimeToLive": "PT1M"}}`)
	h.ok(`{"insert": "q", "documents": [{"_id": 1}, {"_id": 2}]}`)
	reply := h.ok(`{"expirationStats": "q", "horizonSeconds": 120, "buckets": 2}`)
	pending := int64(0)
	for c := range reply.Lookup("collections").Doc().Values() {
		for p := range c.Doc().Lookup("policies").Doc().Values() {
			pending += p.Doc().Lookup("pending").Int64()
		}
	}
	if pending != 2 {
		t.Errorf("%s\n%d messages are pending, want 2", reply, pending)
	}
}

// TestLeftOversOfOut drops what a crash left of an $out.
func TestLeftOversOfOut(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "tmp.agg_out.7"}`)
	h.ok(`{"create": "kept"}`)
	if err := h.svc.dropLeftOvers(); err != nil {
		t.Fatal(err)
	}
	list := docs(h.ok(`{"listCollections": 1, "nameOnly": true}`))
	if len(list) != 1 || list[0].Lookup("name").Str() != "kept" {
		t.Errorf("left are %v", list)
	}
}
