package commands_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/value"
)

// touchedEngine records which collections are opened, created, dropped or renamed.
type touchedEngine struct {
	storage.Engine
	touched map[string]bool
}

func (e *touchedEngine) View(ctx context.Context, fn func(storage.Tx) error) error {
	return e.Engine.View(ctx, func(tx storage.Tx) error { return fn(&touchedTx{tx, e}) })
}

func (e *touchedEngine) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return e.Engine.Update(ctx, func(tx storage.Tx) error { return fn(&touchedTx{tx, e}) })
}

type touchedTx struct {
	storage.Tx
	engine *touchedEngine
}

func (t *touchedTx) note(ns storage.Namespace) { t.engine.touched[ns.String()] = true }

func (t *touchedTx) Collection(ns storage.Namespace) (storage.Collection, error) {
	t.note(ns)
	return t.Tx.Collection(ns)
}

func (t *touchedTx) Create(ns storage.Namespace, options value.Doc, indexes []storage.IndexSpec) (storage.Collection, error) {
	t.note(ns)
	return t.Tx.Create(ns, options, indexes)
}

func (t *touchedTx) CreateAs(ns storage.Namespace, id [16]byte, options value.Doc, indexes []storage.IndexSpec) (storage.Collection, error) {
	t.note(ns)
	return t.Tx.CreateAs(ns, id, options, indexes)
}

func (t *touchedTx) Drop(ns storage.Namespace) error {
	t.note(ns)
	return t.Tx.Drop(ns)
}

func (t *touchedTx) Rename(from, to storage.Namespace) error {
	t.note(from)
	t.note(to)
	return t.Tx.Rename(from, to)
}

func (t *touchedTx) SetOptions(ns storage.Namespace, options value.Doc) error {
	t.note(ns)
	return t.Tx.SetOptions(ns, options)
}

// newTouchedHarness has collections, a queue, a view and a time series in two
// databases.
func newTouchedHarness(t *testing.T) (*harness.Harness, *touchedEngine) {
	t.Helper()
	manual := clock.NewManual(harness.TestStart)
	inner, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	engine := &touchedEngine{Engine: inner, touched: map[string]bool{}}
	svc, err := harness.NewService(kernel.Options{Log: zerolog.Nop(), Engine: engine, Clock: manual, TempDir: t.TempDir(), TestClock: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		housekeeping.Close(svc)
		_ = inner.Close()
	})
	h := &harness.Harness{TB: t, Svc: svc, Clock: manual, Conn: svc.NewConn("127.0.0.1:1", "127.0.0.1:27017")}
	for _, db := range []string{"test", "other"} {
		for _, command := range []string{
			`{insert: "x", documents: [{_id: 1, a: 1}]}`, `{insert: "y", documents: [{_id: 1, a: 1}]}`, `{insert: "z", documents: [{_id: 1, a: 1}]}`,
			`{insert: "fs.chunks", documents: [{_id: 1, files_id: 1, n: 0}]}`, `{create: "moves", onExpire: {deadLetterTo: "dead"}}`,
		} {
			h.RunOn(db, harness.Relaxed(command))
		}
	}
	h.OK(`{create: "q", messageQueue: {}}`)
	h.OK(`{create: "v", viewOn: "x"}`)
	return h, engine
}

// allowed reports whether the privileges of a line include a namespace, or the
// namespace is the server's own.
func (line touches) allowed(ns string) bool {
	db, coll, _ := strings.Cut(ns, ".")
	if strings.HasPrefix(coll, "$") || db == "config" || db == "local" || db == "admin" && strings.HasPrefix(coll, "system.") {
		return true
	}
	return slices.ContainsFunc(strings.Split(line.rights, ", "), func(right string) bool {
		_, on, _ := strings.Cut(right, " ")
		return on == ns || on == db || on == "any" || on == "cluster" || ns == on+".deadletterqueue" // which belongs to its queue
	})
}

// touchedUnseen are the commands that read more than they return.
var touchedUnseen = map[string]string{
	"convertToCapped": "a collection of its own, which takes the name of the other",
	"create":          "a view's collection, to refuse circles of views",
	"mapReduce":       "the stored functions of its database, and the collection in which its output is gathered",
	"expirationStats": "all databases, of which it leaves out those whose statistics the user may not see",
	"listDatabases":   "all collections for their sizes, of which it leaves out those of databases that are not shown",
}

// TestNothingElseIsTouched runs the lines of the sweep and checks that each command
// opens only collections on which it requires a privilege.
func TestNothingElseIsTouched(t *testing.T) {
	for _, line := range sweep {
		name, _ := harness.Relaxed(line.command).First()
		if name == "shutdown" || name == "duskBackup" || name == "fsync" || touchedUnseen[name] != "" {
			continue
		}
		h, engine := newTouchedHarness(t)
		clear(engine.touched)
		h.RunOn(line.db, harness.Relaxed(line.command))
		for ns := range engine.touched {
			if !line.allowed(ns) {
				t.Errorf("%s on %s touches %s, and asks for %q", line.command, line.db, ns, line.rights)
			}
		}
	}
}
