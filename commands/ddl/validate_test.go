package ddl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The reply for a valid collection, with the fields of the manual's page on validate.
func TestValidateSound(t *testing.T) {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}, {key: {b: 1}, name: "b_1", sparse: true}]}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: [1, 2, 2]}, {_id: 2, a: 1, b: 1}]}`)
	const spec = `spec: {v: 2, key: `
	got := harness.Plain(h.OK(`{validate: "c"}`))
	if u := got.Lookup("uuid"); harness.JSONOf(u) != harness.JSONOf(h.UUIDOf("c")) {
		t.Errorf("uuid %s", u)
	}
	want := harness.Relaxed(`{ns: "test.c", nInvalidDocuments: 0, nNonCompliantDocuments: 0, nrecords: 2, nIndexes: 3, keysPerIndex: {_id_: 2, a_1: 3, b_1: 1},
		indexDetails: {_id_: {valid: true, ` + spec + `{_id: 1}, name: "_id_"}}, a_1: {valid: true, ` + spec + `{a: 1}, name: "a_1"}}, b_1: {valid: true, ` + spec + `{b: 1}, name: "b_1", sparse: true}}},
		valid: true, repaired: false, repairMode: "None", warnings: [], errors: [], extraIndexEntries: [], missingIndexEntries: [], corruptRecords: []}`)
	if without(got, "ok", "uuid") != want.CanonicalJSON() {
		t.Errorf("validate answered\n%s, want\n%s", without(got, "ok", "uuid"), want.CanonicalJSON())
	}
}

// Documents that the validator would refuse do not make a collection invalid: the reply
// has their number and a warning.
func TestValidateCountsNonCompliant(t *testing.T) {
	h := harness.New(t)
	const schema = `{$jsonSchema: {properties: {a: {bsonType: "string"}}}}`
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: "x"}, {_id: 3}]}`)
	h.OK(`{collMod: "c", validator: ` + schema + `}`)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{insert: "s", documents: [{t: {"$date": "2026-01-01T00:00:00Z"}, m: 1}, {t: {"$date": "2026-01-01T00:00:00Z"}, m: 2}]}`)
	for coll, want := range map[string][3]int64{"c": {3, 1, 1}, "s": {2, 0, 0}} {
		r := h.OK(`{validate: "` + coll + `"}`)
		got := [3]int64{r.Lookup("nrecords").SafeInt64(), r.Lookup("nNonCompliantDocuments").SafeInt64(), int64(r.Lookup("warnings").Doc().Len())}
		if got != want || !r.Lookup("valid").Truthy() {
			t.Errorf("%s answered %s", coll, r)
		}
		if coll == "c" && r.Lookup("warnings").Doc().Index(0).Str() != "Detected one or more documents not compliant with the collection's schema. Check logs for log id 5363500." {
			t.Errorf("warnings %s", r.Lookup("warnings"))
		}
	}
	if r := h.OK(`{validate: "s"}`); r.Lookup("ns").Str() != "test.s" {
		t.Errorf("ns %s", r.Lookup("ns"))
	}
}

// validate finds damage in the storage: a record that is not valid BSON, and indexes with
// missing or wrong keys.
func TestValidateFindsDamage(t *testing.T) {
	harness.SkipHostile(t, "names ids of records")
	ns := storage.Namespace{DB: "test", Coll: "c"}
	broken := value.Doc("\x11\x00\x00\x00\x10_id\x00\x09\x00\x00\x00\x77x\x00") // ends in an unknown type
	for name, tt := range map[string]struct {
		damage  func(tx storage.Tx) error
		invalid int64
		problem string
	}{
		"record": {func(tx storage.Tx) error {
			coll, err := tx.Collection(ns)
			if err != nil {
				return err
			}
			_, err = coll.Insert(broken, 1)
			return err
		}, 1, "record 3: "},
		"index": {func(tx storage.Tx) error {
			spec, err := index.Load(harness.Relaxed(`{v: 2, key: {b: 1}, name: "a_1"}`))
			if err != nil {
				return err
			}
			return tx.SetIndex(ns, spec.Stored())
		}, 0, "record 1: missing from index a_1"},
		"sparse": {func(tx storage.Tx) error {
			spec, err := index.Load(harness.Relaxed(`{v: 2, key: {b: 1}, name: "a_1", sparse: true}`))
			if err != nil {
				return err
			}
			return tx.SetIndex(ns, spec.Stored())
		}, 0, "index a_1 has 2 entries too many"},
	} {
		h := harness.New(t)
		h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
		h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2}]}`)
		if err := h.Svc.Engine.Update(context.Background(), tt.damage); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := h.OK(`{validate: "c"}`)
		first := r.Lookup("errors").Doc().Index(0).Str()
		if r.Lookup("valid").Truthy() || r.Lookup("nInvalidDocuments").SafeInt64() != tt.invalid || !strings.HasPrefix(first, tt.problem) {
			t.Errorf("%s: validate answered %s", name, r)
		}
		if r.Lookup("indexDetails").Doc().Lookup("a_1").Doc().Lookup("valid").Truthy() {
			t.Errorf("%s: the index is said to be valid: %s", name, r)
		}
	}
}

// With metadata no document is read, and nothing is counted (manual, validate).
func TestValidateMetadata(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	r := h.OK(`{validate: "c", metadata: true}`)
	for _, name := range []string{"nrecords", "nInvalidDocuments", "nNonCompliantDocuments", "keysPerIndex"} {
		if r.Has(name) {
			t.Errorf("metadata alone has %s: %s", name, r)
		}
	}
	if r.Lookup("nIndexes").Int32() != 2 || !r.Lookup("valid").Truthy() || r.Lookup("indexDetails").Doc().Lookup("a_1").Doc().Lookup("spec").Kind() != value.KindDocument {
		t.Errorf("metadata: %s", r)
	}
}

func TestValidateRefusals(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{validate: "none"}`, Code: 26, Text: "Collection 'test.none' does not exist to validate."},
		{DB: "test", Command: `{validate: "v"}`, Code: 166, Text: "Cannot validate a view: test.v"},
		{DB: "test", Command: `{validate: ""}`, Code: 73},
		{DB: "test", Command: `{validate: 1}`, Code: 73},
		{DB: "test", Command: `{validate: null}`, Code: 73},
		{DB: "test", Command: `{validate: "c", metadata: true, full: true}`, Code: 72},
		{DB: "test", Command: `{validate: "c", checkBSONConformance: true, repair: true}`, Code: 72},
	})
	b, e := harness.NewBreakable(t, kernel.Options{})
	b.OK(`{create: "c"}`)
	e.Broken = storage.Namespace{DB: "test", Coll: "c"}
	if r := b.Run(`{validate: "c"}`); r.Lookup("ok").Truthy() || !strings.Contains(r.Lookup("errmsg").Str(), harness.ErrBroken.Error()) {
		t.Errorf("an unreadable collection answered %s", r)
	}
}
