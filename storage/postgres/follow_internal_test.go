package postgres

import (
	"context"
	"errors"
	"testing"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// quiet is a store that hears of the commits of other servers only when the test says so.
type quiet struct {
	*store
	follow func(kvshared.Head, []kvshared.StatsRow) (bool, error)
}

func (q *quiet) Follow(fn func(kvshared.Head, []kvshared.StatsRow) (bool, error)) { q.follow = fn }

// TestFollowNewerStatistics: the statements of a heartbeat do not read one state. Another
// server that adds an index between the one for the head and the one for the statistics
// makes these have more than the catalog that belongs to the head.
func TestFollowNewerStatistics(t *testing.T) {
	t.Parallel()
	ctx, ns := context.Background(), storage.Namespace{DB: "db", Coll: "c"}
	opts := Options{URI: pgtest.URI(t), Schema: pgtest.Schema(t.TempDir()), Indexer: storagetest.Indexer{}, Logger: t.Logf}
	other, err := Open(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	update := func(fn func(tx storage.Tx) error) {
		t.Helper()
		if err := other.Update(ctx, fn); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx storage.Tx) error { _, err := tx.Create(ns, nil, nil); return err })
	s, err := openStore(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	q := &quiet{store: s}
	e, err := kvshared.Open(ctx, q, kv.Options{Name: "postgres", Indexer: opts.Indexer})
	if err != nil {
		t.Fatal(errors.Join(err, s.Close()))
	}
	defer e.Close()
	s.members.leave() // nobody waits until it has seen anything

	head, _, err := s.Catalog(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	update(func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		if _, err := c.Insert(value.NewDoc("_id", value.Int32(1), "k", value.String("a")), 1); err != nil {
			return err
		}
		return tx.CreateIndex(ns, storagetest.Spec("k"))
	})
	now, rows, err := s.Catalog(ctx, 0)
	if err != nil || len(rows) != 1 {
		t.Fatal(err, len(rows))
	}
	stats := []kvshared.StatsRow{rows[0].Stats}
	if news, err := q.follow(head, stats); err != nil || news {
		t.Errorf("statistics that are newer than the head: news %v, error %v", news, err)
	}
	if news, err := q.follow(now, stats); err != nil || !news {
		t.Errorf("the head that belongs to them: news %v, error %v", news, err)
	}
}
