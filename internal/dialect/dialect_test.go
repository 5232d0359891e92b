package dialect_test

import (
	"slices"
	"testing"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// Every version can be spoken by its name, and has its own feature compatibility version.
func TestSpeak(t *testing.T) {
	for _, release := range dialect.Releases() {
		d, ok := dialect.Speak(release)
		if !ok || d.Release() != release || d.FeatureVersion() != release || d.Version()[:len(release)] != release {
			t.Errorf("%s: %s with %s, %v", release, d.Version(), d.FeatureVersion(), ok)
		}
		for _, feature := range d.FeatureVersions() {
			if as, ok := d.As(feature); ok && (as.Version() != d.Version() || as.FeatureVersion() != feature || as.WireVersion() != d.WireVersion()) {
				t.Errorf("%s as %s: %s with %s", release, feature, as.Version(), as.FeatureVersion())
			}
		}
	}
	if d, ok := dialect.Speak(""); !ok || d.Release() != dialect.Newest || d.Version() != dialect.NewestFull {
		t.Errorf("the newest is %s, %v", d.Version(), ok)
	}
	for _, none := range []string{"8", "8.1", "8.2.4", "7.0", " 8.2"} {
		if _, ok := dialect.Speak(none); ok {
			t.Errorf("%q is spoken", none)
		}
	}
}

// A change is in effect from its version on, and if it is guarded, with that version's
// feature compatibility version only.
func TestHas(t *testing.T) {
	for c := range dialect.Change(len(dialect.Changes)) {
		row := dialect.Changes[c]
		if c == dialect.Always {
			if !dialect.Mongo80.Has(c) || !dialect.Mongo82.Has(c) || !dialect.Mongo82As80.Has(c) {
				t.Error("what is no change is not always there")
			}
			continue
		}
		if row.What == "" || !slices.Contains([]string{"8.1", "8.2"}, row.Since) {
			t.Errorf("change %d is %+v", c, row)
		}
		if dialect.Mongo80.Has(c) || !dialect.Mongo82.Has(c) || dialect.Mongo82As80.Has(c) == row.Guarded {
			t.Errorf("%s: %v, %v, %v", row.What, dialect.Mongo80.Has(c), dialect.Mongo82As80.Has(c), dialect.Mongo82.Has(c))
		}
	}
}

func TestError(t *testing.T) {
	e := &dialect.Error{Since: "8.2", Before: dialect.Text{Code: mongoerr.BadValue, Format: "old %s"}, Now: dialect.Text{Code: mongoerr.TypeMismatch, Format: "new %s"}}
	for d, want := range map[dialect.Dialect]string{dialect.Mongo80: "BadValue: old x", dialect.Mongo82As80: "TypeMismatch: new x", dialect.Mongo82: "TypeMismatch: new x"} {
		if got := d.Error(e, "x").Error(); got != want {
			t.Errorf("%s: %s, want %s", d.Version(), got, want)
		}
	}
}
