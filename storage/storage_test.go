package storage

import (
	"errors"
	"fmt"
	"testing"
)

func TestNamespaceString(t *testing.T) {
	for want, ns := range map[string]Namespace{
		"db.coll":      {"db", "coll"},
		"db.a.b":       {"db", "a.b"},
		"db.system.js": {"db", "system.js"},
	} {
		if got := ns.String(); got != want {
			t.Errorf("%#v: got %s, want %s", ns, got, want)
		}
	}
}

func TestInfoIndex(t *testing.T) {
	i := &Info{Indexes: []IndexInfo{{IndexSpec: IndexSpec{Name: "a"}}, {IndexSpec: IndexSpec{Name: "b"}}}}
	if x := i.Index("b"); x != &i.Indexes[1] {
		t.Errorf("b: got %v", x)
	}
	if x := i.Index("c"); x != nil {
		t.Errorf("c: got %v", x)
	}
}

func TestDuplicateKeyError(t *testing.T) {
	err := fmt.Errorf("insert: %w", &DuplicateKeyError{Namespace: Namespace{"db", "c"}, Index: "_id_", Existing: 7})
	var dup *DuplicateKeyError
	if !errors.As(err, &dup) || dup.Existing != 7 {
		t.Fatalf("got %v", err)
	}
	if want := "insert: duplicate key in index _id_ of db.c"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}
