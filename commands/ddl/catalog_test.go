package ddl_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// listed returns the names that listCollections shows.
func listed(h *harness.Harness, command string) string {
	h.Helper()
	var names []string
	for _, d := range harness.Docs(h.OK(command)) {
		names = append(names, d.Lookup("name").Str())
	}
	return strings.Join(names, " ")
}

// The reply of drop has the collection's name and the number of its indexes. Dropping a
// collection that does not exist succeeds without these fields (the manual's page on
// drop, for 7.0 and later).
func TestDrop(t *testing.T) {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`)
	h.OK(`{create: "k", clusteredIndex: {key: {_id: 1}, unique: true}}`)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	runSteps(h, "", []step{
		{command: `{drop: "none"}`, reply: `{}`},
		{command: `{drop: "c"}`, reply: `{nIndexesWas: 2, ns: "test.c"}`},
		{command: `{drop: "c"}`, reply: `{}`},
		{command: `{drop: "k"}`, reply: `{nIndexesWas: 0, ns: "test.k"}`},
		{command: `{drop: "v"}`, reply: `{ns: "test.v"}`},
		{command: `{drop: "system.views"}`, reply: `{}`},
	})
	h.OK(`{drop: "s"}`)
	if names := listed(h, `{listCollections: 1}`); names != "" {
		t.Errorf("%s are left", names)
	}
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{drop: "system.version"}`, Code: 20},
		{DB: "test", Command: `{drop: ""}`, Code: 73},
		{DB: "test", Command: `{drop: 1}`, Code: 73},
		{DB: "test", Command: `{drop: "c", fly: 1}`, Code: 40415},
	})
	if !h.Svc.InCluster() {
		h.Refuses([]harness.Refusal{{DB: "local", Command: `{drop: "oplog.rs"}`, Code: 5255001, Text: "can't drop oplog on storage engines that support replSetResizeOplog command"}})
	}
	m := harness.New(t).AsMember()
	m.Refuses([]harness.Refusal{
		{DB: "local", Command: `{drop: "oplog.rs"}`, Code: 5255000, Text: "can't drop live oplog while replicating"},
		{DB: "local", Command: `{dropDatabase: 1}`, Code: 20, Text: "Cannot drop 'local' database while replication is active"},
		{DB: "admin", Command: `{dropDatabase: 1}`, Code: 20, Text: "Dropping the 'admin' database is prohibited."},
	})
}

func TestDropDatabase(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	h.OK(`{create: "q", messageQueue: {}}`)
	h.OK(`{create: "s", timeseries: {timeField: "t"}}`)
	runSteps(h, "", []step{
		{command: `{dropDatabase: 1}`, reply: `{}`},
		{command: `{dropDatabase: 1}`, reply: `{}`},
	})
	if !h.Svc.InCluster() {
		h.Refuses([]harness.Refusal{{DB: "local", Command: `{dropDatabase: 1}`, Code: 20, Text: "Dropping the 'local' database is prohibited."}})
	}
	if dbs := h.Admin(`{listDatabases: 1, filter: {name: "test"}}`).Lookup("databases").Doc(); !dbs.IsEmpty() {
		t.Errorf("listed: %s", dbs)
	}
}

// The filter applies to the listed documents, which are those of the manual's page on
// listCollections.
func TestListCollections(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", capped: true, size: 4096}`)
	h.OK(`{create: "k", clusteredIndex: {key: {_id: 1}, unique: true}}`)
	h.OK(`{create: "s", timeseries: {timeField: "t"}}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	for command, want := range map[string]string{
		`{listCollections: 1}`:                                                   "c k s system.buckets.s v system.views",
		`{listCollections: 1, filter: {type: "view"}}`:                           "v",
		`{listCollections: 1, filter: {type: "timeseries"}}`:                     "s",
		`{listCollections: 1, filter: {"options.capped": true}}`:                 "c",
		`{listCollections: 1, nameOnly: true, filter: {"options.capped": true}}`: "",
		`{listCollections: 1, filter: {"info.readOnly": true}}`:                  "v",
		`{listCollections: 1, filter: {idIndex: {$exists: true}}}`:               "c system.views",
		`{listCollections: 1, filter: {name: {$regex: "^s"}}}`:                   "s system.buckets.s system.views",
	} {
		if got := listed(h, command); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	cursor := h.OK(`{listCollections: 1, cursor: {batchSize: 4}}`).Lookup("cursor").Doc()
	if ns := cursor.Lookup("ns").Str(); ns != "test.$cmd.listCollections" {
		t.Errorf("the cursor reads %s", ns)
	}
	rest := h.OK(`{getMore: ` + harness.JSONOf(cursor.Lookup("id")) + `, collection: "$cmd.listCollections"}`).Lookup("cursor").Doc()
	if rest.Lookup("nextBatch").Doc().Len() != 2 || rest.Lookup("id").Int64() != 0 {
		t.Errorf("getMore answered %s", rest)
	}
	first := harness.Docs(h.OK(`{listCollections: 1, nameOnly: true, filter: {name: "c"}}`))[0]
	if first.String() != `{ name: "c", type: "collection" }` {
		t.Errorf("a name is listed as %s", first)
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{listCollections: 1, filter: {$fly: 1}}`, Code: 2},
		{DB: "test", Command: `{listCollections: 1, filter: {$expr: {$divide: ["$name", 1]}}}`, Code: 14},
		{DB: "test", Command: `{listCollections: 1, cursor: {batchSize: -1}}`, Code: 2},
		{DB: "test", Command: `{listCollections: 1, fly: 1}`, Code: 40415},
		{DB: "admin", Command: `{listDatabases: 1, filter: {$fly: 1}}`, Code: 2},
		{DB: "admin", Command: `{listDatabases: 1, fly: 1}`, Code: 40415},
		{DB: "test", Command: `{listDatabases: 1}`, Code: 13, Text: "listDatabases may only be run against the admin database."},
	})
	d := h.Admin(`{listDatabases: 1, filter: {name: "test"}}`)
	if one := d.Lookup("databases").Doc().Index(0).Doc(); one.Lookup("name").Str() != "test" || one.Lookup("sizeOnDisk").IsMissing() || one.Lookup("empty").Bool() || harness.JSONOf(d.Lookup("totalSize")) != harness.JSONOf(one.Lookup("sizeOnDisk")) {
		t.Errorf("listDatabases answered %s", d)
	}
}

// Renames that mongod refuses (rename_collection.cpp), and one that drops its target.
func TestRenameTargets(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.OK(`{insert: "d", documents: [{_id: 2}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	const u = `{$uuid: "00000000-0000-4000-8000-000000000001"}`
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.c"}`, Code: 20, Text: "Can't rename a collection to itself"},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.d"}`, Code: 48, Text: "target namespace exists"},
		{DB: "admin", Command: `{renameCollection: "test.none", to: "test.e"}`, Code: 26, Text: "Source collection test.none does not exist"},
		{DB: "admin", Command: `{renameCollection: "test.v", to: "test.e"}`, Code: 166, Text: "cannot rename view: test.v"},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.v", dropTarget: true}`, Code: 48, Text: "a view already exists with that name: test.v"},
		{DB: "admin", Command: `{renameCollection: "local.oplog.rs", to: "test.e"}`, Code: 20},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "local.oplog.rs"}`, Code: 20},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "other.c", collectionUUID: ` + u + `}`, Code: 72},
		{DB: "admin", Command: `{renameCollection: "c", to: "test.e"}`, Code: 73},
		{DB: "test", Command: `{renameCollection: "test.c", to: "test.e"}`, Code: 13, Text: "renameCollection may only be run against the admin database."},
	})
	if r := h.Admin(`{renameCollection: "test.c", to: "test.d", dropTarget: true}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	h.Holds("d", `{_id: 1}`)
	if names := listed(h, `{listCollections: 1, filter: {type: "collection"}}`); names != "d system.views" {
		t.Errorf("there are %s", names)
	}
}

// Each action requires the privileges of the commands that do the same.
func TestMayCustomAction(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("test", `{"insert": "c", "documents": [{"_id": 1}]}`)
	users := map[string]*auth.User{"read": h.User("r", "read@test"), "readWrite": h.User("rw", "readWrite@test"), "dbAdmin": h.User("adm", "dbAdmin@test"), "none": h.User("n")}
	for command, who := range map[string]string{
		`{"customAction": "GetDatabase"}`:                                  "read readWrite dbAdmin",
		`{"customAction": "GetCollection", "collection": "c"}`:             "read readWrite dbAdmin",
		`{"customAction": "CreateCollection", "collection": "d"}`:          "readWrite dbAdmin",
		`{"customAction": "UpdateCollection", "collection": "c"}`:          "dbAdmin",
		`{"customAction": "UpdateDatabase"}`:                               "dbAdmin",
		`{"customAction": "CreateDatabase"}`:                               "readWrite dbAdmin",
		`{"customAction": "GetChangeStreamTokens", "collection": "c"}`:     "read readWrite",
		`{"customAction": "GetChangeStreamTokens", "collection": "other"}`: "read readWrite",
	} {
		for role, u := range users {
			err := h.Gate(u, "test", command)
			if err != nil && !mongoerr.Is(err, mongoerr.Unauthorized) {
				t.Errorf("%s as %s: %v", command, role, err)
			}
			if want := strings.Contains(" "+who+" ", " "+role+" "); (err == nil) != want {
				t.Errorf("%s as %s: %v, allowed should be %v", command, role, err, want)
			}
		}
	}
}
