package kernel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Collection names in commands. Collections that clients cannot write to are refused only
// for writes, and system collections only in transactions.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	inTransaction := false
	for _, tt := range []struct {
		db, coll    string
		read, write string // errors of reading the name, and of writing to it
		txn         string // the same within a transaction
	}{
		{"test", `"c"`, "", "", ""},
		{"test", `"a.b"`, "", "", ""},
		{"test", `1`, "InvalidNamespace: collection name has invalid type int", "", ""},
		{"test", `""`, "InvalidNamespace: *", "", ""},
		{"test", `".c"`, "InvalidNamespace: *", "", ""},
		{"test", `"system.profile"`, "", "InvalidNamespace: cannot write to test.system.profile", "InvalidNamespace: cannot write to test.system.profile"},
		{"test", `"system.views"`, "", "InvalidNamespace: cannot write to test.system.views", "InvalidNamespace: cannot write to test.system.views"},
		{"local", `"oplog.rs"`, "", "InvalidNamespace: cannot write to local.oplog.rs", "InvalidNamespace: cannot write to local.oplog.rs"},
		{"test", `"system.js"`, "", "", "Location50791: Cannot write to system collection test.system.js within a transaction."},
		{"test", `"system.buckets.c"`, "", "", ""},
		{"admin", `"system.users"`, "", "", ""},
	} {
		c := &kernel.Call{Request: kernel.Request{DB: tt.db, Body: harness.Relaxed(`{find: ` + tt.coll + `}`)}}
		_, v := c.Body.First()
		matches := func(err error, want string) bool { return harness.Fits(errorText(err), want) }
		ns, err := c.Namespace()
		if !matches(err, tt.read) || err == nil && ns != (storage.Namespace{DB: tt.db, Coll: v.Str()}) {
			t.Errorf("%s: read %s, %v; want %q", tt.coll, ns, err, tt.read)
		}
		write, txn := tt.write, tt.txn
		if tt.read != "" {
			write, txn = tt.read, tt.read
		}
		if _, err := c.WriteNamespace(v); !matches(err, write) {
			t.Errorf("%s: a write got %v, want %q", tt.coll, err, write)
		}
		c.Generic.Autocommit = &inTransaction
		if _, err := c.WriteNamespace(v); !matches(err, txn) {
			t.Errorf("%s: a write in a transaction got %v, want %q", tt.coll, err, txn)
		}
	}
}

// Some commands also accept names that no collection can have, and find no collection.
func TestLiteralNamespace(t *testing.T) {
	t.Parallel()
	c := &kernel.Call{Request: kernel.Request{DB: "test"}}
	for name, ok := range map[string]bool{"c": true, "a$b": true, "$": true, strings.Repeat("x", 300): true, "": false, ".a": false, "a\x00b": false} {
		if ns, err := c.LiteralNamespace(value.String(name)); (err == nil) != ok || ok && ns.Coll != name {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}

// Database names that MongoDB refuses; $external is allowed for logins.
func TestDatabaseNames(t *testing.T) {
	t.Parallel()
	for db, ok := range map[string]bool{
		"test": true, "$external": true, "a_b-c": true, strings.Repeat("x", 63): true,
		"": false, "a.b": false, "a b": false, "a/b": false, `a\b`: false, `a"b`: false, "a$b": false, "a\x00b": false, strings.Repeat("x", 64): false,
	} {
		c := &kernel.Call{}
		c.SetDatabase(db)
		if err := c.CheckDatabase(); (err == nil) != ok || c.DB != db {
			t.Errorf("%.20q: %v", db, err)
		}
	}
}

func TestExpectedUUID(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	c := &kernel.Call{Svc: h.Svc, Ctx: context.Background()}
	ns := storage.Namespace{DB: "test", Coll: "c"}
	id := h.UUIDOf("c")
	for _, tt := range []struct {
		ns   storage.Namespace
		uuid args.UUID
		ok   bool
	}{
		{ns, args.UUID{}, true}, {ns, args.UUID(id), true}, {ns, args.UUID(value.Binary(4, make([]byte, 16))), false},
		{storage.Namespace{DB: "test", Coll: "d"}, args.UUID(id), false},
	} {
		if err := c.ExpectUUID(tt.ns, tt.uuid); (err == nil) != tt.ok {
			t.Errorf("%s with %s: %v", tt.ns, value.Value(tt.uuid), err)
		}
	}
}
