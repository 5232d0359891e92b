package oplog_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/value"
)

// FuzzCheckDiff applies every diff that passes the check: the result must be a valid
// document.
func FuzzCheckDiff(f *testing.F) {
	for _, seed := range []string{
		`{d: {a: false}, u: {b: 1}, i: {c: 1}, sd: {i: {x: 1}}}`, `{se: {a: true, l: 1, u0: 1}}`,
		`{se: {a: true, s0: {u: {x: 1}}, u5: 2}}`, `{sa: {u: {x: 1}}}`, `{x: 1}`, `{a: true, l: 0}`,
	} {
		f.Add([]byte(harness.Relaxed(seed)))
	}
	old := harness.Relaxed(`{_id: 1, a: 1, b: 2, d: {y: 1}, e: [{x: 0}, 2, 3]}`)
	f.Fuzz(func(t *testing.T, raw []byte) {
		diff := value.Doc(raw)
		if len(raw) > 4096 || value.Validate(diff) != nil || oplog.CheckDiff(diff) != nil {
			return
		}
		if err := value.Validate(oplog.ApplyDiff(old, diff)); err != nil {
			t.Errorf("%s makes %v", diff, err)
		}
	})
}

func TestCheckDiff(t *testing.T) {
	tests := []struct {
		diff string
		ok   bool
	}{
		{`{}`, true},
		{`{d: {a: false}, u: {b: 1}, i: {c: 1}, ssub: {u: {x: 1}}}`, true},
		{`{slist: {a: true, l: 3, u0: 1, s1: {i: {x: 1}}}}`, true},
		{`{x: {}}`, false},
		{`{d: 1}`, false},
		{`{ssub: 1}`, false},
		{`{ssub: {y: {}}}`, false},
		{`{slist: {a: true, l: -1}}`, false},
		{`{slist: {a: true, l: "x"}}`, false},
		{`{slist: {a: true, ux: 1}}`, false},
		{`{slist: {a: true, u99999999: 1}}`, false},
		{`{slist: {a: true, s0: 1}}`, false},
		{`{slist: {a: true, z: 1}}`, false},
	}
	for _, tt := range tests {
		if err := oplog.CheckDiff(harness.Relaxed(tt.diff)); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.diff, err)
		}
	}
}
