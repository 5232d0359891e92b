package keydiff_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
	"github.com/duskdb/duskdb/value"
)

var errKeys = errors.New("cannot be indexed")

// words is an index with the words of a document's text as keys, in its order and as often
// as they are there. It fails if "!" is among them.
type words struct{ storage.Index }

func (words) Keys(dst [][]byte, r storage.Record) ([][]byte, storage.Multikey, error) {
	list := strings.Fields(r.Doc.Lookup("text").Str())
	for _, w := range list {
		if w == "!" {
			return dst, 0, errKeys
		}
		dst = append(dst, []byte(w))
	}
	var multi storage.Multikey
	if len(list) > 1 {
		multi = 1
	}
	return dst, multi, nil
}

func record(id storage.RecordID, text string) storage.Record {
	return storage.Record{ID: id, Doc: value.NewDoc("text", value.String(text))}
}

func text(keys [][]byte) string {
	var list []string
	for _, k := range keys {
		list = append(list, string(k))
	}
	return strings.Join(list, " ")
}

func TestCompute(t *testing.T) {
	t.Parallel()
	var d keydiff.Change // one for all, as a writer uses it
	for _, tt := range []struct {
		name        string
		old, new    storage.Record
		add, remove string
		multi       storage.Multikey
	}{
		{"insert", storage.Record{}, record(1, "a"), "a", "", 0},
		{"insert of several", storage.Record{}, record(1, "b a"), "a b", "", 1},
		{"insert of equal ones", storage.Record{}, record(1, "b a b"), "a b", "", 1},
		{"insert without a key", storage.Record{}, record(1, ""), "", "", 0},
		{"delete", record(1, "a"), storage.Record{}, "", "a", 0},
		{"delete of equal ones", record(1, "c b c"), storage.Record{}, "", "b c", 0},
		{"same key", record(1, "a"), record(1, "a"), "", "", 0},
		{"other key", record(1, "a"), record(1, "b"), "b", "a", 0},
		{"another order", record(1, "a b"), record(1, "b a"), "", "", 1},
		{"one more", record(1, "a"), record(1, "a b"), "b", "", 1},
		{"one less", record(1, "a b"), record(1, "b"), "", "a", 0},
		{"some of each", record(1, "d a c"), record(1, "c b d e"), "b e", "a", 1},
		{"one key that was there twice", record(1, "a a"), record(1, "a"), "", "", 0},
		{"key gone", record(1, "a"), record(1, ""), "", "a", 0},
		{"nothing", storage.Record{}, storage.Record{}, "", "", 0},
	} {
		if err := d.Compute(words{}, tt.old, tt.new); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if text(d.Add) != tt.add || text(d.Remove) != tt.remove || d.Multikey != tt.multi {
			t.Errorf("%s: adds [%s], removes [%s], multikey %d, want [%s], [%s], %d", tt.name, text(d.Add), text(d.Remove), d.Multikey, tt.add, tt.remove, tt.multi)
		}
	}
}

func TestComputeFails(t *testing.T) {
	t.Parallel()
	var d keydiff.Change
	for _, tt := range []struct{ old, new storage.Record }{
		{storage.Record{}, record(1, "a !")}, {record(1, "!"), storage.Record{}}, {record(1, "!"), record(1, "a")}, {record(1, "a"), record(1, "!")},
	} {
		if err := d.Compute(words{}, tt.old, tt.new); !errors.Is(err, errKeys) {
			t.Errorf("%s to %s: %v", tt.old.Doc, tt.new.Doc, err)
		}
	}
	if err := d.Compute(words{}, record(1, "a"), record(1, "b")); err != nil || text(d.Add) != "b" || text(d.Remove) != "a" {
		t.Errorf("after an error: adds [%s], removes [%s], %v", text(d.Add), text(d.Remove), err)
	}
}

// An index that applies the changes of random writes has the keys of the last document.
func TestChangesAddUp(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var d keydiff.Change
	index := map[string]bool{}
	last := storage.Record{}
	for n := range 2000 {
		next := storage.Record{}
		want := map[string]bool{}
		if r.IntN(5) > 0 {
			var list []string
			for range r.IntN(5) {
				w := string(rune('a' + r.IntN(6)))
				list, want[w] = append(list, w), true
			}
			next = record(1, strings.Join(list, " "))
		}
		if err := d.Compute(words{}, last, next); err != nil {
			t.Fatal(err)
		}
		for _, k := range d.Remove {
			if !index[string(k)] {
				t.Fatalf("write %d removes %q, which is not in the index", n, k)
			}
			delete(index, string(k))
		}
		for _, k := range d.Add {
			if index[string(k)] {
				t.Fatalf("write %d adds %q, which is in the index", n, k)
			}
			index[string(k)] = true
		}
		if fmt.Sprint(index) != fmt.Sprint(want) { // maps are printed in the order of their keys
			t.Fatalf("write %d from %s to %s: the index has %v, want %v", n, last.Doc, next.Doc, index, want)
		}
		last = next
	}
}

func TestSorted(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "a": "a", "b a": "a b", "b a b b a": "a b", "a ab aa": "a aa ab"} {
		var keys [][]byte
		for _, w := range strings.Fields(in) {
			keys = append(keys, []byte(w))
		}
		if got := text(keydiff.Sorted(slices.Clone(keys))); got != want {
			t.Errorf("[%s] gives [%s], want [%s]", in, got, want)
		}
	}
}
