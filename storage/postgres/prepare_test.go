package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// fields makes {_id: id, a: id modulo 10, u: u}.
func fields(id, u int32) value.Doc {
	return value.NewDoc("_id", value.Int32(id), "a", value.NewArray(value.Int32(id%10), value.Int32(id%3)), "u", value.Int32(u))
}

// filled inserts n documents.
func filled(tb testing.TB, e *postgres.Engine, n int32) {
	tb.Helper()
	create(tb, e, ns, storagetest.UniqueSpec("_id"))
	must(tb, plain(e, func(c storage.Collection) (err error) {
		for id := int32(1); id <= n && err == nil; id++ {
			_, err = c.Insert(fields(id, id), 1)
		}
		return err
	}))
}

// rowsIn counts the rows of a schema.
func rowsIn(tb testing.TB, schema string) string {
	tb.Helper()
	c, err := pgconn.Connect(ctx, pgtest.URI(tb))
	must(tb, err)
	defer func() { _ = c.Close(ctx) }()
	r, err := c.Exec(ctx, "select count(*) from "+schema+".kv").ReadAll()
	must(tb, err)
	return string(r[0].Rows[0][0])
}

// TestPrepared: an index that is built while several servers write has the entries of one
// that is built at once, and its statistics are exact.
func TestPrepared(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]storage.IndexSpec{"several keys": storagetest.Spec("a"), "unique": storagetest.UniqueSpec("u")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := servers(t, 2)
			filled(t, all[0], 3500)
			stop := make(chan struct{})
			var wg sync.WaitGroup
			for w, e := range all {
				wg.Go(func() {
					for i := int32(0); ; i++ {
						select {
						case <-stop:
							return
						default:
						}
						id := 1 + (i*611+int32(w)*17)%3400
						fresh := 10_000 + 2*i + int32(w)
						err := plain(e, func(c storage.Collection) error {
							r, ok, err := c.Get(storage.RecordID(id))
							if err != nil || !ok {
								return err
							}
							if i%5 == 0 {
								_, err = c.Delete(r.ID)
								return err
							}
							_, err = c.Insert(fields(fresh, fresh), 2)
							return errors.Join(err, storagetest.Done(c.Update(r.ID, fields(r.Doc.Lookup("_id").Int32(), -fresh), 2)))
						})
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			release, err := all[0].PrepareIndex(ctx, ns, spec)
			must(t, err)
			again := spec
			again.Name = "again"
			must(t, all[1].Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(ns, spec) }))
			release()
			close(stop)
			wg.Wait()
			must(t, all[1].Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(ns, again) }))
			must(t, all[0].View(ctx, func(tx storage.Tx) error {
				return within(tx, func(c storage.Collection) error {
					got, want := entriesOf(t, c, spec.Name), entriesOf(t, c, "again")
					if !slices.Equal(got, want) || len(got) == 0 {
						t.Errorf("%d entries that differ from the %d of an index that was built at once", len(got), len(want))
					}
					_, err := c.Count() // so that the statistics are read
					return err
				})
			}))
			must(t, all[1].Update(ctx, func(tx storage.Tx) error {
				return within(tx, func(c storage.Collection) error {
					a, err := c.IndexStats(spec.Name)
					b, berr := c.IndexStats("again")
					a.Estimate, b.Estimate = false, false
					if a != b {
						t.Errorf("statistics %+v, want %+v", a, b)
					}
					return errors.Join(err, berr)
				})
			}))
		})
	}
}

func entriesOf(tb testing.TB, c storage.Collection, index string) (list []string) {
	tb.Helper()
	must(tb, c.ScanIndex(index, storage.KeyRange{}, func(key []byte, id storage.RecordID) bool {
		list = append(list, fmt.Sprintf("%x/%d", key, id))
		return true
	}))
	return list
}

// TestPreparedInVain: what is left of an index that nobody creates, that cannot be built
// or whose server has died, is removed. Until then it harms nobody.
func TestPreparedInVain(t *testing.T) {
	t.Parallel()
	schema := pgtest.Schema(t.TempDir())
	all := serversIn(t, schema, 2)
	filled(t, all[0], 1500)
	before := rowsIn(t, schema)
	release, err := all[0].PrepareIndex(ctx, ns, storagetest.Spec("a"))
	must(t, err)
	if rowsIn(t, schema) == before {
		t.Error("nothing was prepared")
	}
	if _, err := all[1].PrepareIndex(ctx, ns, storagetest.Spec("a")); !errors.Is(err, storage.ErrExists) {
		t.Errorf("an index that another server builds: %v", err)
	}
	release()
	release()
	if n := rowsIn(t, schema); n != before {
		t.Errorf("%s rows after release, %s before", n, before)
	}
	must(t, plain(all[1], adds(2000)))
	must(t, plain(all[1], func(c storage.Collection) error {
		_, err := c.Insert(fields(3000, 7), 1)
		return err
	}))
	before = rowsIn(t, schema)
	var dup *storage.DuplicateKeyError
	if _, err := all[0].PrepareIndex(ctx, ns, storagetest.UniqueSpec("u")); !errors.As(err, &dup) {
		t.Errorf("a unique index with duplicates: %v", err)
	}
	if n := rowsIn(t, schema); n != before {
		t.Errorf("%s rows after a failure, %s before", n, before)
	}
	if _, err := all[0].PrepareIndex(ctx, storage.Namespace{DB: "no", Coll: "no"}, storagetest.Spec("a")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("no collection: %v", err)
	}
	_, err = all[0].PrepareIndex(ctx, ns, storagetest.Spec("a"))
	must(t, err)
	must(t, all[0].Close()) // and nothing is released
	must(t, plain(all[1], adds(2001)))
	third := serversIn(t, schema, 1)[0]
	must(t, third.Update(ctx, func(tx storage.Tx) error {
		return within(tx, func(c storage.Collection) error { return storagetest.Done(c.Delete(1502)) })
	}))
	if n := rowsIn(t, schema); n != before {
		t.Errorf("%s rows after the server has died, %s before", n, before)
	}
}
