package bunt

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
)

func TestHeadRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := head{
			seq:    rapid.Uint64().Draw(t, "seq"),
			synced: rapid.Uint64().Draw(t, "synced"),
			ops:    rapid.Uint32().Draw(t, "ops"),
			sum:    rapid.Uint32().Draw(t, "sum"),
		}
		nonce := rapid.Uint64().Draw(t, "nonce")
		b := make([]byte, headSize)
		h.put(b, nonce)
		if got, ok := parseHead(b, nonce); !ok || got != h {
			t.Fatalf("got %+v, %v", got, ok)
		}
		if _, ok := parseHead(b, nonce+1); ok {
			t.Fatal("accepted the head of another log")
		}
		b[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if _, ok := parseHead(b, nonce); ok {
			t.Fatal("accepted a changed head")
		}
	})
}

func TestHeader(t *testing.T) {
	want := header{nonce: 42, number: 1, next: 2, after: 3, followed: true}
	h := want.encode()
	if got, ok := decodeHeader(h); !ok || got != want {
		t.Errorf("got %+v, %v", got, ok)
	}
	newer := strings.Replace(h, "-4\n", "-5\n", 1)
	for _, s := range []string{"", h[:len(h)-1], h + "\x00", newer} {
		if _, ok := decodeHeader(s); ok {
			t.Errorf("accepted %q", s)
		}
	}
}

// genOp draws operations of all kinds.
var genOp = rapid.Custom(func(t *rapid.T) op {
	o := op{kind: rapid.SampledFrom([]byte{opCatalog, opHeader, opStats, opRecord}).Draw(t, "kind"), del: rapid.Bool().Draw(t, "del")}
	if o.kind != opHeader {
		o.num = rapid.Uint32().Draw(t, "num")
	}
	if o.kind == opRecord {
		o.id = storage.RecordID(rapid.Int64Range(1, math.MaxInt64).Draw(t, "id"))
	}
	if !o.del {
		o.value = string(rapid.SliceOf(rapid.Byte()).Draw(t, "value"))
	}
	return o
})

// sameOp reports whether two operations do the same, whether one quotes or not.
func sameOp(a, b op) bool {
	return a.kind == b.kind && a.del == b.del && a.num == b.num && a.id == b.id && a.value == b.value
}

// TestOps: a group is read as it was written, and not if it is cut short.
func TestOps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := rapid.SliceOf(genOp).Draw(t, "ops")
		var b []byte
		for i := range ops {
			b = ops[i].encode(b)
		}
		got, err := decodeOps(nil, b, uint32(len(ops)), new([]byte))
		if err != nil || !slices.EqualFunc(got, ops, sameOp) {
			t.Fatalf("got %v, %v; want %v", got, err, ops)
		}
		if len(b) > 0 {
			if _, err := decodeOps(nil, b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")], uint32(len(ops)), new([]byte)); err == nil {
				t.Fatal("accepted a group that is cut short")
			}
		}
		if _, err := decodeOps(nil, append(b, 0), uint32(len(ops)), new([]byte)); err == nil {
			t.Fatal("accepted a group that other bytes follow")
		}
	})
}

func TestUnknownOp(t *testing.T) {
	if _, _, err := decodeOp([]byte("?\x01\x00"), nil, new([]byte)); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("error %v", err)
	}
}
