package bunt

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

func TestMarkerRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := marker{
			seq:    rapid.Uint64().Draw(t, "seq"),
			ops:    rapid.Uint32().Draw(t, "ops"),
			sum:    rapid.Uint64().Draw(t, "sum"),
			synced: rapid.Uint64().Draw(t, "synced"),
		}
		nonce := rapid.Uint64().Draw(t, "nonce")
		b := []byte(m.encode(nonce))
		if got, ok := decodeMarker(b, nonce); !ok || got != m || len(b) != markerSize {
			t.Fatalf("got %+v, %v", got, ok)
		}
		if _, ok := decodeMarker(b, nonce+1); ok {
			t.Fatal("accepted the marker of another log")
		}
		b[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if _, ok := decodeMarker(b, nonce); ok {
			t.Fatal("accepted a changed marker")
		}
	})
}

// TestOpSum: what is different has different checksums, also where key and
// value only meet at another place.
func TestOpSum(t *testing.T) {
	sums := []uint64{
		opSum(false, []byte("a"), []byte("b")),
		opSum(false, []byte("a"), []byte("c")),
		opSum(false, []byte("b"), []byte("a")),
		opSum(false, []byte("a"), nil),
		opSum(true, []byte("a"), nil),
		opSum(true, []byte("b"), nil),
	}
	slices.Sort(sums)
	if n := len(slices.Compact(sums)); n != len(sums) {
		t.Errorf("%d different sums, want %d", n, len(sums))
	}
}

func TestHeader(t *testing.T) {
	h := []byte(encodeHeader(42))
	if nonce, ok := decodeHeader(h); !ok || nonce != 42 {
		t.Errorf("got %d, %v", nonce, ok)
	}
	newer := bytes.Replace(h, []byte("-1\n"), []byte("-2\n"), 1)
	for _, b := range [][]byte{nil, h[:len(h)-1], append(h, 0), newer} {
		if _, ok := decodeHeader(b); ok {
			t.Errorf("accepted %q", b)
		}
	}
}

// TestRecordKeys: keys order records by collection, then by id, so that a
// log is loaded in order.
func TestRecordKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num, id := rapid.Uint32(), rapid.Int64Range(1, math.MaxInt64)
		n1, n2 := num.Draw(t, "n1"), num.Draw(t, "n2")
		i1, i2 := storage.RecordID(id.Draw(t, "i1")), storage.RecordID(id.Draw(t, "i2"))
		k1, k2 := recordKey(n1, i1), recordKey(n2, i2)
		if less := n1 < n2 || n1 == n2 && i1 < i2; less != (k1 < k2) {
			t.Fatalf("%d/%d and %d/%d are in the wrong order", n1, i1, n2, i2)
		}
		if num, id, err := parseRecordKey(k1); err != nil || num != n1 || id != i1 {
			t.Fatalf("parsed %d/%d, %v", num, id, err)
		}
		if c := numberKey(prefixCatalog, n1); c >= k2 {
			t.Fatal("a catalog entry is behind records")
		}
	})
}

func TestBadKeys(t *testing.T) {
	for _, k := range []string{"r", "r123", "r12345678901", "r12345678901234"} {
		if _, _, err := parseRecordKey(k); err == nil {
			t.Errorf("accepted record key %q", k)
		}
	}
	if _, err := parseNumberKey("c123"); err == nil {
		t.Error("accepted a short catalog key")
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

// wholeKeys is an index whose keys have nothing behind their order.
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
