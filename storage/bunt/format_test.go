package bunt

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
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
	h := encodeHeader(42)
	if nonce, format, ok := decodeHeader(h); !ok || nonce != 42 || format != newestFormat {
		t.Errorf("got %d, %d, %v", nonce, format, ok)
	}
	newer := strings.Replace(h, "-3\n", "-4\n", 1)
	for _, s := range []string{"", h[:len(h)-1], h + "\x00", newer} {
		if _, _, ok := decodeHeader(s); ok {
			t.Errorf("accepted %q", s)
		}
	}
}

// genOp draws operations of all kinds.
var genOp = rapid.Custom(func(t *rapid.T) op {
	o := op{kind: rapid.SampledFrom([]byte{opCatalog, opHeader, opLastID, opRecord}).Draw(t, "kind"), del: rapid.Bool().Draw(t, "del")}
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

func TestStored(t *testing.T) {
	d := value.NewDoc("a", value.Int32(1))
	for _, ts := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		r := record(5, makeStored(d, ts))
		if r.ID != 5 || r.TS != ts || !bytes.Equal(r.Doc, d) {
			t.Errorf("%d: got %+v", ts, r)
		}
	}
}

func TestCatalogRoundTrip(t *testing.T) {
	in := &storage.Info{
		Namespace: storage.Namespace{DB: "db", Coll: "a.b"},
		UUID:      [16]byte{1, 2, 3, 15: 16},
		Options:   value.NewDoc("capped", value.Bool(true)),
		Indexes: []storage.IndexInfo{
			{IndexSpec: storagetest.UniqueSpec("_id")},
			{IndexSpec: storage.IndexSpec{Name: "empty"}},
		},
	}
	out, err := parseCatalog(catalogDoc(in))
	must(t, err)
	if out.Namespace != in.Namespace || out.UUID != in.UUID || !bytes.Equal(out.Options, in.Options) ||
		len(out.Indexes) != 2 || !bytes.Equal(out.Indexes[0].Spec, in.Indexes[0].Spec) ||
		out.Indexes[1].Name != "empty" || !out.Indexes[1].Spec.IsEmpty() {
		t.Errorf("got %+v", out)
	}
	in.Options = nil
	if out, err = parseCatalog(catalogDoc(in)); err != nil || out.Options != nil {
		t.Errorf("no options: got %v, %v", out.Options, err)
	}
	if _, err := parseCatalog("garbage"); err == nil {
		t.Error("accepted garbage")
	}
}

// wholeKeys is an index whose entries are ordered by their whole keys.
type wholeKeys struct{ storage.Index }

func (wholeKeys) Order(key []byte) []byte { return key }

// TestNonPrefixKeys: entries are ordered by key, then by id, also where one
// key is a prefix of another.
func TestNonPrefixKeys(t *testing.T) {
	x := &index{entries: newEntries(), maker: wholeKeys{}}
	keys := []string{"", "a", "a\x00", "a\x00\x00\x00\x00\x00\x00\x00\x00\x01", "a\xff", "b"}
	for i := len(keys) - 1; i >= 0; i-- {
		for id := storage.RecordID(3); id > 0; id-- {
			x.add(entry{keys[i], id})
		}
	}
	var got []entry
	scanEntries(x.entries, storage.KeyRange{}, func(k []byte, id storage.RecordID) bool {
		got = append(got, entry{string(k), id})
		return true
	})
	for i, e := range got {
		if want := (entry{keys[i/3], storage.RecordID(i%3 + 1)}); e != want {
			t.Errorf("entry %d is %v, want %v", i, e, want)
		}
	}
	for _, k := range keys {
		if id, ok := x.find([]byte(k)); !ok || id != 1 {
			t.Errorf("find %q: %d, %v", k, id, ok)
		}
	}
	if _, ok := x.find([]byte("a\x00\x00")); ok {
		t.Error("found a key that is not there")
	}
	for _, e := range got {
		x.remove(e)
	}
	if x.bytes != 0 || x.entries.Len() != 0 {
		t.Errorf("%d bytes, %d entries left", x.bytes, x.entries.Len())
	}
}

// TestBuildIndex: an index built in parallel is the one that was written
// record by record.
func TestBuildIndex(t *testing.T) {
	e := openAt(t, Memory)
	create(t, e, storagetest.Spec("a"))
	must(t, inColl(e, ns, func(c storage.Collection) error {
		for i := range 10_000 {
			var a value.Value
			switch i % 3 {
			case 0:
				a = value.Int32(int32(i * 7919 % 1000))
			case 1:
				a = value.NewArray(value.Int32(int32(i%50)), value.String("x"), value.Int32(int32(i%50)))
			}
			if _, err := c.Insert(value.NewDoc("a", a), 1); err != nil {
				return err
			}
		}
		return nil
	}))
	c := e.root.Load().get(ns)
	built, err := buildIndex(ctx, ns, "a", c.info.Indexes[0].Index, c.records)
	must(t, err)
	written := c.indexes[0]
	if !slices.Equal(entryList(built.entries), entryList(written.entries)) {
		t.Error("the entries are different")
	}
	if built.bytes != written.bytes || built.multikey != written.multikey {
		t.Errorf("built %d bytes, multikey %v; written %d, %v", built.bytes, built.multikey, written.bytes, written.multikey)
	}
}
