package auth

import (
	"context"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/value"
)

// idIndexer gives indexes on _id, which is all that users and roles need.
type idIndexer struct{}

func (idIndexer) Index(value.Doc, storage.IndexSpec) (storage.Index, error) { return idKeys{}, nil }
func (idIndexer) Attach(*storage.Info) any                                  { return nil }

type idKeys struct{}

func (idKeys) Keys(dst [][]byte, r storage.Record) ([][]byte, storage.Multikey, error) {
	return append(dst, value.AppendKey(nil, r.Doc.Lookup("_id"))), 0, nil
}
func (idKeys) Order(key []byte) []byte { return key }

func (idKeys) Unique() bool { return true }

func (idKeys) Private() bool { return false }

// fixture is a Manager over an engine in memory.
type fixture struct {
	testing.TB
	*Manager
	clock      *clock.Manual
	mechanisms []string
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{TB: tb, clock: clock.NewManual(start), mechanisms: []string{SHA1, SHA256, X509}}
	engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: f.clock, Indexer: idIndexer{}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = engine.Close() })
	f.Manager = New(Options{
		Engine: engine, Clock: f.clock,
		Mechanisms: func() []string { return f.mechanisms },
		Iterations: func(string) int { return 4096 },
	})
	return f
}

// change runs a change of users or roles.
func (f *fixture) change(fn func(*Catalog) error) error {
	return f.options.Engine.Update(context.Background(), func(tx storage.Tx) error { return fn(f.In(tx, 1)) })
}

// update changes what is stored beside the Manager.
func (f *fixture) update(fn func(storage.Tx) error) {
	f.Helper()
	if err := f.options.Engine.Update(context.Background(), fn); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) must(fn func(*Catalog) error) {
	f.Helper()
	if err := f.change(fn); err != nil {
		f.Fatal(err)
	}
}

// user creates a user and reads it back.
func (f *fixture) user(n Name, pwd string, roles ...Name) *User {
	f.Helper()
	u := NewUser{Name: n, Roles: roles}
	if n.DB != External {
		u.Password = &Password{Text: pwd}
	}
	d, err := f.PrepareUser(&u)
	if err != nil {
		f.Fatal(err)
	}
	f.must(func(c *Catalog) error { return c.CreateUser(d) })
	return f.find(n)
}

func (f *fixture) find(n Name) *User {
	f.Helper()
	u, err := f.Find(context.Background(), n)
	if err != nil {
		f.Fatal(err)
	}
	return u
}

// role creates a role; privileges are extended JSON.
func (f *fixture) role(n Name, privileges string, roles ...Name) error {
	list, err := ParsePrivileges(value.MustJSON(`{"p": ` + privileges + `}`).Lookup("p").Doc())
	if err != nil {
		return err
	}
	return f.change(func(c *Catalog) error { return c.CreateRole(&Role{Name: n, Privileges: list, Roles: roles}) })
}

func at(name, db string) Name { return Name{Name: name, DB: db} }
