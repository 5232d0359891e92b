// Package storagetest is the conformance suite of storage engines: every
// guarantee of package storage as a test. An engine's own tests call [Run]:
//
//	func TestConformance(t *testing.T) {
//		storagetest.Run(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
//			…
//		})
//	}
//
// Beside tests of single guarantees there is a simulation that compares an
// engine, under random operations, with a naive [Model].
//
// # Stability
//
// The package is a preview for those who write an engine: it may still change
// between versions, and CHANGELOG.md says so when it does.
package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Opener opens an engine over a directory. Opened again after Close, it must
// hold what it held. The suite closes the engine.
type Opener func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine

// Run runs the suite.
func Run(t *testing.T, open Opener) {
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) { s.test(t, open) })
	}
}

// RunSome runs parts of the suite, by their names.
func RunSome(t *testing.T, open Opener, names ...string) {
	for _, name := range names {
		i := slices.IndexFunc(suites, func(s suite) bool { return s.name == name })
		if i < 0 {
			t.Fatalf("there is no part %s", name)
		}
		t.Run(name, func(t *testing.T) { suites[i].test(t, open) })
	}
}

// RunBut runs the suite without some of its parts, for a first look at an engine to which each
// operation is a round trip.
func RunBut(t *testing.T, open Opener, without ...string) {
	for _, s := range suites {
		if !slices.Contains(without, s.name) {
			t.Run(s.name, func(t *testing.T) { s.test(t, open) })
		}
	}
}

// suite is a part of the suite.
type suite struct {
	name string
	test func(t *testing.T, open Opener)
}

var suites = []suite{
	{"Catalog", testCatalog},
	{"CatalogErrors", testCatalogErrors},
	{"CatalogPersists", testCatalogPersists},
	{"CatalogUUIDs", testCatalogUUIDs},
	{"CatalogUUIDsOfTransactions", testTxnUUIDs},
	{"Records", testRecords},
	{"RecordErrors", testRecordErrors},
	{"LastID", testLastID},
	{"Restore", testRestore},
	{"Immutable", testImmutable},
	{"GetMany", testGetMany},
	{"ScanRecords", testScanRecords},
	{"Written", testWritten},
	{"DeleteRange", testDeleteRange},
	{"DeleteRangeFails", testDeleteRangeFails},
	{"DeleteRangeBusy", testDeleteRangeBusy},
	{"DeleteRangeOfATransaction", testDeleteRangeInSnapshot},
	{"Versions", testVersions},
	{"Alone", testJobs},
	{"CommitStamps", testCommitStamps},
	{"Scan", testScan},
	{"ScanIndex", testScanIndex},
	{"ScanResumed", testScanResumed},
	{"ScanDuringWrites", testScanDuringWrites},
	{"Unique", testUnique},
	{"UniqueKeys", testUniqueKeys},
	{"Multikey", testMultikey},
	{"IndexBuild", testIndexBuild},
	{"Truncate", testTruncate},
	{"Rollback", testRollback},
	{"FailedOperation", testFailedOperation},
	{"ReadOnly", testReadOnly},
	{"Lifetime", testLifetime},
	{"Context", testContext},
	{"Reopen", testReopen},
	{"SyncAndCompact", testSyncAndCompact},
	{"Close", testClose},
	{"Stats", testStats},
	{"Stamps", testStamps},
	{"Changed", testChanged},
	{"ChangedByMany", testChangedByMany},
	{"Snapshot", testSnapshot},
	{"SnapshotConflicts", testSnapshotConflicts},
	{"SnapshotKeys", testSnapshotKeys},
	{"SnapshotCatalog", testSnapshotCatalog},
	{"SnapshotAbort", testSnapshotAbort},
	{"SnapshotOrder", testSnapshotOrder},
	{"Concurrent", testConcurrent},
	{"Transfers", testTransfers},
	{"Linearizable", testLinearizable},
	{"Shared", testShared},
	{"SharedPanic", testSharedPanic},
	{"SharedFailure", testSharedFailure},
	{"Simulation", testSimulation},
}

// ctx is the context of all tests that do not test contexts.
var ctx = context.Background()

// NS is the collection that the helpers below work on.
var NS = storage.Namespace{DB: "db", Coll: "coll"}

// session is an engine under test that can be reopened.
type session struct {
	testing.TB
	dir  string
	open Opener
	storage.Engine
}

func start(t testing.TB, open Opener) *session {
	t.Helper()
	s := &session{TB: t, dir: t.TempDir(), open: open}
	s.Engine = open(t, s.dir, Indexer{})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// startWith starts with the collection NS and its indexes.
func startWith(t testing.TB, open Opener, indexes ...storage.IndexSpec) *session {
	t.Helper()
	s := start(t, open)
	s.update(func(tx storage.Tx) error {
		_, err := tx.Create(NS, nil, indexes)
		return err
	})
	return s
}

func (s *session) reopen() {
	s.Helper()
	s.must(s.Close())
	s.Engine = s.open(s.TB, s.dir, Indexer{})
}

func (s *session) must(err error) {
	s.Helper()
	if err != nil {
		fail(s.TB, "%v", err)
	}
}

func (s *session) update(fn func(storage.Tx) error) {
	s.Helper()
	s.must(s.Update(ctx, fn))
}

// write runs fn on NS in an Update that must succeed.
func (s *session) write(fn func(c storage.Collection) error) {
	s.Helper()
	s.must(s.tryWrite(fn))
}

func (s *session) tryWrite(fn func(c storage.Collection) error) error {
	return s.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(NS)
		if err != nil {
			return err
		}
		return fn(c)
	})
}

// read runs fn on NS in a View.
func (s *session) read(fn func(c storage.Collection)) {
	s.Helper()
	s.must(s.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(NS)
		if err == nil {
			fn(c)
		}
		return err
	}))
}

// insert stores documents in one Update and returns their ids.
func (s *session) insert(docs ...value.Doc) (ids []storage.RecordID) {
	s.Helper()
	s.write(func(c storage.Collection) error {
		ids = ids[:0]
		for _, d := range docs {
			id, err := c.Insert(d, 1)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	return ids
}

func (s *session) wantErr(err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		fail(s.TB, "error is %v, want %v", err, want)
	}
}

func (s *session) wantDup(err error, index string, existing storage.RecordID) {
	s.Helper()
	var dup *storage.DuplicateKeyError
	if !errors.As(err, &dup) {
		fail(s.TB, "error is %v, want a duplicate key", err)
	}
	if dup.Index != index || dup.Existing != existing || dup.Namespace != NS {
		fail(s.TB, "duplicate key error %+v, want index %s and record %d", dup, index, existing)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		fail(t, "%s: got %v, want %v", what, got, want)
	}
}

// doc makes {_id: id, a: a}.
func doc(id, a int32) value.Doc {
	return value.NewDoc("_id", value.Int32(id), "a", value.Int32(a))
}

// key is the index key of a number.
func key(n int32) []byte { return value.AppendKey(nil, value.Int32(n)) }

// scanIDs lists the ids of a scan.
func scanIDs(c storage.Collection, r storage.Range) []storage.RecordID {
	ids := []storage.RecordID{}
	_ = c.Scan(r, func(r storage.Record) bool {
		ids = append(ids, r.ID)
		return true
	})
	return ids
}

// entries lists an index scan as "key/id" with short keys.
func entries(t testing.TB, c storage.Collection, index string, r storage.KeyRange) []string {
	t.Helper()
	list := []string{}
	err := c.ScanIndex(index, r, func(k []byte, id storage.RecordID) bool {
		list = append(list, fmt.Sprintf("%x/%d", k, id))
		return true
	})
	if err != nil {
		fail(t, "%v", err)
	}
	return list
}

// find returns the document with a key.
func find(t testing.TB, c storage.Collection, index string, k []byte) (value.Doc, bool) {
	t.Helper()
	r, ok, err := c.Find(index, k)
	if err != nil {
		fail(t, "%v", err)
	}
	return r.Doc, ok
}

func wantDoc(t testing.TB, c storage.Collection, id storage.RecordID, want value.Doc) {
	t.Helper()
	r, ok := Get(c, id)
	if !ok || r.ID != id || !bytes.Equal(r.Doc, want) {
		fail(t, "record %d is %v (%v), want %v", id, r.Doc, ok, want)
	}
}
