package crash

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

func doc(text string) value.Value { return value.Document(value.MustJSON(text)) }

// TestEngineInUse takes a server of each engine through what a user does with
// it, on a directory and in memory.
func TestEngineInUse(t *testing.T) {
	for _, name := range storageEngines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := start(t, dir, "--storageEngine", name)
			c := connect(t, p)
			expires(t, c)
			refusesDuplicates(t, c)
			transacts(t, c)
			c.must(t, "compact", value.String("c"))
			hash := dataHash(t, c)
			backup := filepath.Join(t.TempDir(), "backup")
			if text, ok := duskdb("backup", "--uri", "mongodb://"+p.Addr()+"/", "--out", backup); !ok {
				t.Fatalf("backup: %s", text)
			}
			p.Stop(t)
			if text, sound := check(dir); !sound || !strings.Contains(text, "storage engine "+name) {
				t.Errorf("check: %s", text)
			}
			p = start(t, dir, "--storageEngine", name)
			c = connect(t, p)
			if got := dataHash(t, c); got != hash {
				t.Errorf("after a restart the hash is %s, want %s", got, hash)
			}
			c.must(t, "insert", value.String("c"), "documents", value.NewArray(doc(`{"_id": 100}`)))
			p.Stop(t)
			restored := filepath.Join(t.TempDir(), "restored")
			if text, ok := duskdb("restore", backup, "--dbpath", restored); !ok {
				t.Fatalf("restore: %s", text)
			}
			c = connect(t, start(t, restored, "--storageEngine", name))
			if got := dataHash(t, c); got != hash {
				t.Errorf("after a restore the hash is %s, want %s", got, hash)
			}
			if r := c.must(t, "validate", value.String("c"), "full", value.Bool(true)); !r.Lookup("valid").Truthy() {
				t.Errorf("validate: %s", r)
			}
		})
		t.Run(name+" in memory", func(t *testing.T) {
			t.Parallel()
			p := start(t, ":memory:", "--storageEngine", name)
			c := connect(t, p)
			expires(t, c)
			refusesDuplicates(t, c)
			transacts(t, c)
			c.must(t, "compact", value.String("c"))
			if r := c.must(t, "validate", value.String("c"), "full", value.Bool(true)); !r.Lookup("valid").Truthy() {
				t.Errorf("validate: %s", r)
			}
			backup, hash := filepath.Join(t.TempDir(), "backup"), dataHash(t, c)
			if text, ok := duskdb("backup", "--uri", "mongodb://"+p.Addr()+"/", "--out", backup); !ok {
				t.Fatalf("backup: %s", text)
			}
			p.Stop(t)
			if got := dataHash(t, connect(t, start(t, backup, "--storageEngine", name))); got != hash {
				t.Errorf("the backup has the hash %s, want %s", got, hash)
			}
		})
	}
}

// expires moves the clock of the server past the time of two documents of three.
func expires(t *testing.T, c *client) {
	t.Helper()
	c.must(t, "createIndexes", value.String("e"), "indexes", value.NewArray(doc(`{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 60}`)))
	const began = 1_900_000_000_000
	at := func(seconds int64) value.Value {
		return value.Document(value.NewDoc("at", value.DateTime(began+seconds*1000)))
	}
	c.must(t, "insert", value.String("e"), "documents", value.NewArray(at(0), at(1), at(3600)))
	c.must(t, "testClock", value.Int32(1), "set", value.DateTime(began+62_000), "$db", value.String("admin"))
	if n := c.must(t, "count", value.String("e")).Lookup("n").SafeInt64(); n != 1 {
		t.Errorf("%d documents have not expired", n)
	}
}

// refusesDuplicates violates a unique index.
func refusesDuplicates(t *testing.T, c *client) {
	t.Helper()
	c.must(t, "createIndexes", value.String("c"), "indexes", value.NewArray(doc(`{"key": {"k": 1}, "name": "k_1", "unique": true}`)))
	c.must(t, "insert", value.String("c"), "documents", value.NewArray(doc(`{"_id": 1, "k": 1}`), doc(`{"_id": 2, "k": 2}`)))
	reply, err := c.run("insert", value.String("c"), "documents", value.NewArray(doc(`{"_id": 3, "k": 1}`)))
	if code := reply.Lookup("writeErrors").Doc().Index(0).Doc().Lookup("code").Int32(); err == nil || code != 11000 {
		t.Errorf("a duplicate was answered with %s", reply)
	}
}

// transacts aborts a transaction and commits one.
func transacts(t *testing.T, c *client) {
	t.Helper()
	session := value.Document(value.NewDoc("id", value.Binary(4, []byte("the smoke tests."))))
	for txn, end := range []string{"abortTransaction", "commitTransaction"} {
		in := []any{"lsid", session, "txnNumber", value.Int64(int64(txn)), "autocommit", value.Bool(false)}
		d := value.Document(value.NewDoc("_id", value.Int32(int32(10+txn)), "k", value.Int32(int32(10+txn))))
		c.must(t, append([]any{"insert", value.String("c"), "documents", value.NewArray(d), "startTransaction", value.Bool(true)}, in...)...)
		if n := c.must(t, "count", value.String("c")).Lookup("n").SafeInt64(); n != 2 {
			t.Errorf("%d documents are seen from outside the transaction", n)
		}
		c.must(t, append([]any{end, value.Int32(1), "$db", value.String("admin")}, in...)...)
	}
	if n := c.must(t, "count", value.String("c")).Lookup("n").SafeInt64(); n != 3 {
		t.Errorf("%d documents after the transactions", n)
	}
}

// dataHash is the hash of all collections of the database.
func dataHash(t *testing.T, c *client) string {
	t.Helper()
	return c.must(t, "dbHash", value.Int32(1)).Lookup("collections").Doc().String()
}
