package catalog_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The names of the manual's "Naming Restrictions", with the errors of mongod's
// namespace_string.cpp.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 63)
	for db, ok := range map[string]bool{"a": true, long: true, long + "x": false, "": false, "a/b": false, `a\b`: false, "a.b": false, "a b": false, `a"b`: false, "a$b": false, "a\x00b": false, "ä": true} {
		if err := catalog.CheckDatabase(db); (err == nil) != ok || !ok && shown(err) != "InvalidNamespace: Invalid database name: '"+db+"'" {
			t.Errorf("%q: %q", db, shown(err))
		}
	}
	for coll, want := range map[string]string{
		"c": "", "a.b": "", "a ä": "", "$cmd.aggregate": "", "system.x": "InvalidNamespace: Invalid system namespace: d.system.x",
		"": "InvalidNamespace: Invalid namespace specified 'd.'", ".a": "InvalidNamespace: Invalid namespace specified 'd..a'",
		"a$b": "InvalidNamespace: Invalid namespace specified 'd.a$b'", "a\x00": "InvalidNamespace: Invalid namespace specified 'd.a\x00'",
		"system.js": "", "system.users": "", "system.views": "", "system.profile": "", "system.buckets.s": "", "systemx": "",
		strings.Repeat("c", 253): "", strings.Repeat("c", 254): "InvalidNamespace: Fully qualified namespace is too long. Namespace: d." + strings.Repeat("c", 254) + " Max: 255",
	} {
		ns := storage.Namespace{DB: "d", Coll: coll}
		if got := shown(catalog.CheckUserNamespace(ns)); got != want {
			t.Errorf("%q: %q, want %q", coll, got, want)
		}
		reserved := strings.Contains(want, "system namespace")
		if got := shown(catalog.CheckNamespace(ns)); (got == "") != (want == "" || reserved) {
			t.Errorf("%q can be addressed: %q", coll, got)
		}
		if got := catalog.ValidCollection(coll); got != (want == "" || reserved || strings.Contains(want, "too long")) {
			t.Errorf("%q is valid: %v", coll, got)
		}
	}
	for full, want := range map[string]string{"d.a.b": "", "d": "InvalidNamespace: Invalid namespace specified 'd.'", "d e.c": "InvalidNamespace: Invalid namespace specified 'd e.c'", ".c": "InvalidNamespace: Invalid namespace specified '.c'"} {
		if ns, err := catalog.ParseNamespace(full); shown(err) != want || err == nil && (ns != storage.Namespace{DB: "d", Coll: "a.b"}) {
			t.Errorf("%q: %v, %q, want %q", full, ns, shown(err), want)
		}
	}
	for coll, want := range map[string]bool{"system.x": true, "system.": false, "systemx": false, "": false} {
		if catalog.IsSystem(coll) != want {
			t.Errorf("%q is of the system: %v", coll, !want)
		}
	}
	for ns, want := range map[storage.Namespace]bool{{DB: "admin", Coll: "system.users"}: true, {DB: "admin", Coll: "system.roles"}: true, {DB: "d", Coll: "system.users"}: false, {DB: "admin", Coll: "c"}: false} {
		if catalog.IsPrivilegeCollection(ns) != want {
			t.Errorf("%s has privileges: %v", ns, !want)
		}
	}
	if got := shown(catalog.NotOnView(storage.Namespace{DB: "d", Coll: "v"})); got != "CommandNotSupportedOnView: Namespace d.v is a view, not a collection" {
		t.Error(got)
	}
}

// A database of the same name in another case is refused (13297).
func TestDatabasesDifferInMoreThanCase(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	err := h.Svc.Engine.View(h.Context(), func(tx storage.Tx) error {
		for db, want := range map[string]string{"test": "", "test2": "", "Test": "DatabaseDifferCase: db already exists with different case already have: [test] trying to create [Test]"} {
			if got := shown(catalog.CheckDatabaseCase(tx, db)); got != want {
				t.Errorf("%s: %q, want %q", db, got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// collectionUUID, after jstests/core/collection_uuid_*.js: where it does not match, the
// error names the collection that has it, if that is in the same database.
func TestCheckUUID(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "a"}`)
	h.OK(`{create: "b"}`)
	unknown := catalog.NewUUID()
	if unknown[6]>>4 != 4 || unknown[8]>>6 != 2 || unknown == catalog.NewUUID() {
		t.Errorf("no random UUID of version 4: %x", unknown)
	}
	a := h.UUIDOf("a")
	const mismatch = "CollectionUUIDMismatch: Collection UUID does not match that specified"
	err := h.Svc.Engine.View(h.Context(), func(tx storage.Tx) error {
		for _, tt := range []struct {
			coll   string
			uuid   value.Value
			want   string
			actual value.Value
		}{
			{"a", value.Value{}, "", value.Value{}}, {"a", a, "", value.Value{}},
			{"b", a, mismatch, value.String("a")}, {"none", a, mismatch, value.String("a")}, {"a", value.Binary(4, unknown[:]), mismatch, value.Null()},
			{"a", value.Binary(4, unknown[:3]), "InvalidUUID: uuid must be a 16-byte binary field with UUID (4) subtype", value.Value{}},
		} {
			err := catalog.CheckUUID(tx, storage.Namespace{DB: "test", Coll: tt.coll}, args.UUID(tt.uuid))
			if shown(err) != tt.want {
				t.Errorf("%s, %s: %q, want %q", tt.coll, tt.uuid, shown(err), tt.want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	uuid := harness.JSONOf(a)
	reply := h.Run(`{drop: "b", collectionUUID: ` + uuid + `}`)
	for name, want := range map[string]string{"db": `"test"`, "expectedCollection": `"b"`, "actualCollection": `"a"`, "collectionUUID": uuid} {
		if got := harness.JSONOf(reply.Lookup(name)); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// clusteredIndex, with the errors of mongod's clustered_collection_options.
func TestParseClustered(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		`{key: {_id: 1}, unique: true}`: `{v: 2, key: {_id: 1}, name: "_id_", unique: true}`, `{key: {_id: 1}, unique: 1, v: 2, name: "n"}`: `{v: 2, key: {_id: 1}, name: "n", unique: true}`,
		`{key: {_id: 1}, unique: true, name: null, v: null}`: `{v: 2, key: {_id: 1}, name: "_id_", unique: true}`,
		`{key: 1, unique: true}`:                             "TypeMismatch: *", `{key: {_id: 1}, unique: "x"}`: "TypeMismatch: *", `{key: {_id: 1}, unique: true, name: 1}`: "TypeMismatch: *",
		`{key: {_id: -1}, unique: true}`:      "InvalidIndexSpecificationOption: The clusteredIndex option is only supported for key: {_id: 1}",
		`{key: {a: 1}, unique: true}`:         "InvalidIndexSpecificationOption: The clusteredIndex option is only supported for key: {_id: 1}",
		`{key: {_id: 1, a: 1}, unique: true}`: "InvalidIndexSpecificationOption: The clusteredIndex option is only supported for key: {_id: 1}",
		`{key: {_id: 1}, unique: false}`:      "Location5979700: The clusteredIndex option requires unique: true to be specified",
		`{key: {_id: 1}, unique: true, v: 1}`: "Location5979704: Invalid clusteredIndex specification { key: { _id: 1 }, unique: true, v: 1 }; cannot create a clusteredIndex with v=1",
		`{key: {_id: 1}, unique: true, x: 1}`: "IDLUnknownField: BSON field 'clusteredIndex.x' is an unknown field.",
		`{unique: true}`:                      "IDLFailedToParse: BSON field 'clusteredIndex.key' is missing but a required field",
		`{key: {_id: 1}}`:                     "IDLFailedToParse: BSON field 'clusteredIndex.unique' is missing but a required field",
		`{key: {_id: 1}, unique: null}`:       "IDLFailedToParse: BSON field 'clusteredIndex.unique' is missing but a required field",
	} {
		d, err := catalog.ParseClustered(harness.Relaxed(spec))
		got := shown(err)
		if err == nil {
			got, want = d.JSON(), harness.Relaxed(want).JSON()
		}
		if !harness.Fits(got, want) {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
}
