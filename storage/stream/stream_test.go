package stream

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// FuzzLoad: whatever comes in, loading ends without a panic, and only a whole sequence
// succeeds. The engine takes everything and stores nothing.
func FuzzLoad(f *testing.F) {
	head := value.NewDoc("duskdbBackup", value.Int32(1), "collections", value.Int64(0))
	f.Add([]byte(head))
	f.Add(append(bytes.Clone(head), value.NewDoc("records", value.Binary(0, make([]byte, 30)))...))
	f.Add(append(bytes.Clone(head), value.NewDoc("collection", value.Document(value.NewDoc("db", value.String("a"), "name", value.String("b"))))...))
	f.Add(append(bytes.Clone(head), value.NewDoc("end", value.Document(value.NewDoc("records", value.Int64(0))))...))
	f.Fuzz(func(t *testing.T, b []byte) {
		update := func(context.Context, func(storage.Tx) error) error { return nil }
		_, err := Load(t.Context(), bytes.NewReader(b), update, func(int64) {})
		if err == nil && !bytes.Contains(b, []byte("sha256")) {
			t.Error("a sequence without its end was loaded")
		}
	})
}

// A record whose length leads beyond its chunk is refused, as is one that is no document.
func TestBrokenChunks(t *testing.T) {
	l := loader{ctx: t.Context(), update: func(context.Context, func(storage.Tx) error) error { return nil }, step: func(int64) {}}
	doc := value.NewDoc("_id", value.Int32(1))
	whole := append(make([]byte, frame), doc...)
	if err := l.fill(whole); err != nil {
		t.Error(err)
	}
	for name, b := range map[string][]byte{
		"short": whole[:frame+3], "cut": whole[:len(whole)-1], "too long": append(append(make([]byte, frame), 0xff, 0xff, 0, 0), doc[4:]...),
		"no document": append(make([]byte, frame), 5, 0, 0, 0, 1),
	} {
		if err := l.fill(b); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
