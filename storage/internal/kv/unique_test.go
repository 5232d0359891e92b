package kv

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
)

// TestRow: the row of an Order gives back its id and its keys.
func TestRow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		order := drawKey(rt, "order")
		id := storage.RecordID(rapid.Int64Range(1, 1<<62).Draw(rt, "id"))
		var keys [][]byte
		for range rapid.IntRange(1, 3).Draw(rt, "keys") {
			keys = append(keys, append(bytes.Clone(order), drawKey(rt, "tail")...))
		}
		row := appendRow(nil, id, len(order), keys)
		got, tails, err := parseRow(row)
		if err != nil || got != id {
			rt.Fatalf("%x is of record %d, %v, want %d", row, got, err, id)
		}
		if len(tails) == 0 {
			if len(keys) != 1 || !bytes.Equal(keys[0], order) {
				rt.Fatalf("%x has no tails, want keys %x of %x", row, keys, order)
			}
			return
		}
		var read rowKeys
		if err := read.read(order, tails); err != nil || len(read.ends) != len(keys) {
			rt.Fatalf("%x has %d keys, %v, want %d", row, len(read.ends), err, len(keys))
		}
		for i, key := range keys {
			if !bytes.Equal(read.at(i), key) {
				rt.Fatalf("key %d of %x is %x, want %x", i, row, read.at(i), key)
			}
		}
	})
}

// TestDamagedRow: bytes that are no row are an error.
func TestDamagedRow(t *testing.T) {
	for _, row := range [][]byte{nil, {}, {0}, {0x80}, bytes.Repeat([]byte{0xff}, 9)} {
		if id, _, err := parseRow(row); err == nil {
			t.Errorf("%x is read as record %d", row, id)
		}
	}
	for _, tails := range [][]byte{{1}, {0x80}, {0, 2, 1}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
		if err := new(rowKeys).read([]byte{7}, tails); err == nil {
			t.Errorf("%x are read as tails", tails)
		}
	}
}
