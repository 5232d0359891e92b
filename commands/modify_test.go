package commands

import (
	"context"
	"testing"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// renewing is a source of records that has the collection dropped, and
// perhaps made anew, between finding a record and handing it over.
type renewing struct {
	recordSource
	renew func()
}

func (r *renewing) Next() (storage.Record, bool, error) {
	rec, ok, err := r.recordSource.Next()
	if r.renew != nil {
		r.renew()
		r.renew = nil
	}
	return rec, ok, err
}

// What has been found in a collection that is dropped meanwhile is not
// changed in another one of its name.
func TestModifyDropped(t *testing.T) {
	for name, again := range map[string]bool{"dropped": false, "made anew": true} {
		for _, multi := range []bool{false, true} {
			h := newHarness(t)
			h.ok(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}]}`)
			c := &Call{ctx: context.Background(), svc: h.svc, conn: h.conn, cmd: h.svc.table["update"], DB: "test", Body: relaxed(`{update: "c"}`), now: testStart.UnixMilli()}
			ns := storage.Namespace{DB: "test", Coll: "c"}
			info, err := c.lookup(ns)
			if err != nil {
				t.Fatal(err)
			}
			m := &modification{ns: ns, filter: relaxed(`{a: 1}`), update: relaxed(`{u: {$set: {b: 1}}}`).Lookup("u"), multi: multi, collection: info.UUID}
			if err := c.compileModification(m, info); err != nil {
				t.Fatal(err)
			}
			found, err := c.openRecords(m.exec, info, &m.query)
			if err != nil {
				t.Fatal(err)
			}
			src := &renewing{found, func() {
				h.ok(`{drop: "c"}`)
				if again {
					h.ok(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}]}`)
				}
			}}
			modify := c.modifyFirst
			if multi {
				modify = c.modifyMany
			}
			if _, err := modify(m, src); !mongoerr.Is(err, mongoerr.QueryPlanKilled) {
				t.Errorf("%s, multi %v: %v", name, multi, err)
			}
			src.Close()
			if n := h.ok(`{count: "c", query: {b: 1}}`).Lookup("n").Int32(); n != 0 {
				t.Errorf("%s, multi %v: %d documents of another collection changed", name, multi, n)
			}
		}
	}
}
