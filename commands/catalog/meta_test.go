package catalog_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// shown is an error as a reply has it, "" for none.
func shown(err error) string {
	var e *mongoerr.Error
	if errors.As(err, &e) {
		return e.Code.String() + ": " + e.Message
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// on looks at a collection of the database test.
func on(h *harness.Harness, name string, look func(coll storage.Collection, m *catalog.Meta)) {
	h.Helper()
	err := h.Svc.Engine.View(h.Context(), func(tx storage.Tx) error {
		coll, err := tx.Collection(storage.Namespace{DB: "test", Coll: name})
		if err != nil {
			return err
		}
		if _, err = coll.Count(); err == nil { // else the View runs again
			look(coll, catalog.Of(coll.Info()))
		}
		return err
	})
	if err != nil {
		h.Fatalf("%s: %v", name, err)
	}
}

// What the server knows of each sort of collection, as listCollections describes it.
func TestMetaOfKinds(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for _, command := range []string{
		`{create: "plain"}`, `{create: "view", viewOn: "plain", pipeline: [{$match: {a: 1}}]}`,
		`{create: "series", timeseries: {timeField: "t", metaField: "m"}, expireAfterSeconds: 60}`,
		`{create: "capped", capped: true, size: 4096, max: 7}`, `{create: "clustered", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 30}`,
		`{create: "collated", collation: {locale: "de"}}`, `{create: "images", changeStreamPreAndPostImages: {enabled: true}}`,
	} {
		h.OK(command)
	}
	for name, want := range map[string]string{
		"plain": "ordinary fast keys id 1", "view": "view through id 0", "series": "series through id 0", "system.buckets.series": "buckets id 1",
		"capped": "ordinary capped 4096 7 fast keys id 1", "clustered": "ordinary fast keys clustered expires 30 rules id 0",
		"collated": "ordinary keys collated id 1", "images": "ordinary fast keys images id 1",
	} {
		on(h, name, func(_ storage.Collection, m *catalog.Meta) {
			words := []string{map[catalog.Kind]string{catalog.Ordinary: "ordinary", catalog.View: "view", catalog.TimeSeries: "series", catalog.Buckets: "buckets"}[m.Kind]}
			add := func(on bool, format string, args ...any) {
				if on {
					words = append(words, fmt.Sprintf(format, args...))
				}
			}
			add(m.Capped, "capped %d %d", m.CappedLen, m.CappedMax)
			add(m.FastPath(), "fast")
			add(m.KeysSuffice(), "keys")
			add(m.ReadThrough(), "through")
			add(m.Clustered != nil && m.Kind == catalog.Ordinary, "clustered")
			add(m.ExpireAfter != nil && m.Kind == catalog.Ordinary, "expires %d", deref(m.ExpireAfter))
			add(m.Rules != nil && m.Kind == catalog.Ordinary && m.ExpireAfter != nil, "rules")
			add(m.Collator() != nil, "collated")
			add(m.PreImages, "images")
			add(true, "id %d", m.IndexCount())
			if got := strings.Join(words, " "); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
			if m.MayHide() || m.IsQueue || (m.Series != nil) != strings.HasSuffix(name, "series") {
				t.Errorf("%s: %+v", name, m)
			}
		})
	}
	on(h, "view", func(_ storage.Collection, m *catalog.Meta) {
		if m.ViewOn != "plain" || m.Pipeline.JSON() != harness.Relaxed(`{"0": {$match: {a: 1}}}`).JSON() {
			t.Errorf("view on %s of %s", m.ViewOn, m.Pipeline)
		}
	})
	if m := catalog.Of(nil); m != catalog.None || catalog.Of(&storage.Info{Meta: 1}) != catalog.None {
		t.Errorf("of nothing: %+v", m)
	}
}

func deref(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

// A validator judges by level and action, whose defaults are strict and error.
func TestMetaOfValidator(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "none"}`)
	h.OK(`{create: "own", validator: {a: 1}}`)
	h.OK(`{create: "off", validator: {a: 1}, validationLevel: "off"}`)
	h.OK(`{create: "warn", validator: {a: 1}, validationLevel: "moderate", validationAction: "warn"}`)
	for name, want := range map[string]string{"none": "false strict error", "own": "true strict error", "off": "false off error", "warn": "true moderate warn"} {
		on(h, name, func(_ storage.Collection, m *catalog.Meta) {
			if got := fmt.Sprintf("%v %s %s", m.Validator != nil, m.ValidationLevel, m.ValidationAction); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		})
	}
}

// $text is compiled by the collection's index, where there is one.
func TestMetaOfTextIndex(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "none"}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: "text"}, name: "a", default_language: "german", weights: {a: 3}}]}`)
	on(h, "c", func(_ storage.Collection, m *catalog.Meta) {
		if m.Text == nil || m.TextMatcher() == catalog.AnyText("", "") {
			t.Errorf("text index %v", m.Text)
		}
	})
	on(h, "none", func(_ storage.Collection, m *catalog.Meta) {
		if m.Text != nil || m.TextMatcher() != catalog.AnyText("c", "") {
			t.Errorf("text index %v", m.Text)
		}
	})
}

// Which indexes can be named, and dropped.
func TestIndexesByNameAndKey(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}, {key: {a: 1}, name: "part", partialFilterExpression: {b: 1}}, {key: {b: -1}, name: "b"}]}`)
	h.OK(`{create: "clustered", clusteredIndex: {key: {_id: 1}, unique: true, name: "mine"}}`)
	on(h, "c", func(_ storage.Collection, m *catalog.Meta) {
		for name, want := range map[string]string{"a": "", "_id_": "InvalidOptions: cannot drop _id index", "no": "IndexNotFound: index not found with name [no]"} {
			if got, err := m.IndexToDrop(name); shown(err) != want || err == nil && got != name {
				t.Errorf("drop %s: %s, %q", name, got, shown(err))
			}
		}
		for key, want := range map[string]string{
			`{b: -1}`: "b", `{_id: 1}`: "_id_", `{b: 1}`: "IndexNotFound: can't find index with key: { b: 1 }",
			`{a: 1}`: `AmbiguousIndexKeyPattern: 2 indexes found for key: { a: 1 }, identify by name instead. Conflicting indexes: { v: 2, key: { a: 1 }, name: "a" }, { v: 2, key: { a: 1 }, name: "part", partialFilterExpression: { b: 1 } }`,
		} {
			spec, err := m.IndexByKey(harness.Relaxed(key))
			got := shown(err)
			if err == nil {
				got = spec.Name
			}
			if got != want {
				t.Errorf("%s: %s, want %s", key, got, want)
			}
		}
		if m.IndexCount() != 4 || len(m.ConflictCandidates()) != 4 {
			t.Errorf("%d indexes, %d may conflict", m.IndexCount(), len(m.ConflictCandidates()))
		}
	})
	on(h, "clustered", func(_ storage.Collection, m *catalog.Meta) {
		if _, err := m.IndexToDrop("mine"); shown(err) != "Location5979800: cannot drop the clustered index" {
			t.Error(shown(err))
		}
	})
	if !catalog.IsWildcard(value.String("*")) || catalog.IsWildcard(value.String("a")) || catalog.IsWildcard(value.Int32(1)) {
		t.Error("the wildcard is *")
	}
}

// The indexes of a time series are found by what users see of them.
func TestUserIndexOfSeries(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{createIndexes: "s", indexes: [{key: {"m.a": 1}, name: "a"}, {key: {t: -1}, name: "down"}]}`)
	h.OK(`{createIndexes: "s", indexes: [{key: {x: 1}, name: "x1"}, {key: {x: 1}, name: "x2", partialFilterExpression: {m: 1}}]}`)
	var m *catalog.Meta // both are immutable
	on(h, "s", func(_ storage.Collection, series *catalog.Meta) { m = series })
	on(h, "system.buckets.s", func(_ storage.Collection, buckets *catalog.Meta) {
		for key, want := range map[string]string{
			`{"m.a": 1}`: "a", `{t: -1}`: "down", `{y: 1}`: "IndexNotFound: can't find index with key: { y: 1 }",
			`{x: 1}`: "AmbiguousIndexKeyPattern: 2 indexes found for key: { x: 1 }, identify by name instead.*",
		} {
			got, err := m.UserIndex(buckets, harness.Relaxed(key))
			if err != nil {
				got = shown(err)
			}
			if !harness.Fits(got, want) {
				t.Errorf("%s: %s, want %s", key, got, want)
			}
		}
	})
}

// Document TTL (semantics.md §7) hides what has expired and is listed as an index on
// _ts, under a name that no real index has.
func TestMetaOfDocumentTTL(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c", documentTtl: {default: 60, exposeTs: true}}`)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	at := harness.TestStart.UnixMilli()
	on(h, "c", func(coll storage.Collection, m *catalog.Meta) {
		rec, ok, err := coll.Find("_id_", value.AppendKey(nil, value.Int32(1)))
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if !m.MayHide() || m.FastPath() || m.KeysSuffice() || !catalog.ExposesTS(m.DocTTL) {
			t.Errorf("%+v", m)
		}
		for now, want := range map[int64]bool{at: true, at + 59_999: true, at + 60_000: false} {
			if got := m.Visible(&rec, now); got != want {
				t.Errorf("after %d ms visible %v", now-at, got)
			}
		}
		if got := m.Shown(rec.Doc, rec.TS); got.Lookup("_ts").IsMissing() || rec.Doc.Has("_ts") {
			t.Errorf("shown %s of %s", got, rec.Doc)
		}
		if m.Shown(nil, 1) != nil {
			t.Error("no document is shown")
		}
		if m.TSIndex == nil || m.TSIndex.Name != ttl.TSIndexName || m.Listed[len(m.Listed)-1] != m.TSIndex || m.IndexCount() != 2 {
			t.Fatalf("listed %v", m.Listed)
		}
		st, err := m.IndexStats(coll, m.TSIndex)
		if err != nil || st.Entries != 1 || st.Bytes == 0 {
			t.Errorf("statistics %+v, %v", st, err)
		}
		if st, err := m.IndexStats(coll, m.Listed[0]); err != nil || st.Entries != 1 {
			t.Errorf("statistics of _id_ %+v, %v", st, err)
		}
		if n := len(m.ConflictCandidates()); n != len(m.Indexes)+1 {
			t.Errorf("%d indexes may conflict", n)
		}
	})
	h.OK(`{create: "d", documentTtl: {default: 60}}`)
	on(h, "d", func(_ storage.Collection, m *catalog.Meta) {
		d := harness.Relaxed(`{a: 1}`)
		if got := m.Shown(d, 5); string(got) != string(d) {
			t.Errorf("shown %s", got)
		}
	})
}

// The engine's indexer makes sound indexes, and of a repaired collection the one on _id.
func TestIndexer(t *testing.T) {
	t.Parallel()
	x := catalog.NewIndexer()
	specs := catalog.OrphanIndexes()
	if len(specs) != 1 || specs[0].Name != "_id_" || specs[0].Spec.Lookup("key").Doc().JSON() != harness.Relaxed(`{_id: 1}`).JSON() {
		t.Fatalf("indexes of a repaired collection %v", specs)
	}
	if i, err := x.Index(value.EmptyDoc, specs[0]); err != nil || i == nil {
		t.Errorf("%v, %v", i, err)
	}
	if _, err := x.Index(value.EmptyDoc, storage.IndexSpec{Name: "x", Spec: harness.Relaxed(`{key: 1}`)}); err == nil {
		t.Error("an index without a key")
	}
}
