package reserved

import "testing"

// The names are those of MongoDB's manual: "Time Series Collections" and
// "Indexes, Default Index".
func TestBuckets(t *testing.T) {
	if got := Buckets("a.b"); got != "system.buckets.a.b" {
		t.Error(got)
	}
	for coll, want := range map[string]string{"system.buckets.a.b": "a.b", "system.buckets.": "", "system.buckets": "", "a": "", "asystem.buckets.a": ""} {
		if got, ok := Series(coll); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", coll, got, ok)
		}
		if IsBuckets(coll) != (want != "") {
			t.Errorf("%s: %v", coll, IsBuckets(coll))
		}
	}
}
