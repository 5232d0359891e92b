package write_test

import (
	"context"
	"testing"

	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// renewing is a source of records that has the collection dropped, and
// perhaps made anew, between finding a record and handing it over.
type renewing struct {
	exec.RecordSource
	renew func()
}

func (r *renewing) Next() (storage.Record, bool, error) {
	rec, ok, err := r.RecordSource.Next()
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
			h := harness.New(t)
			h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}]}`)
			c := &kernel.Call{Ctx: context.Background(), Svc: h.Svc, Conn: h.Conn, Cmd: h.Svc.Table["update"], Now: harness.TestStart.UnixMilli(), Request: kernel.Request{DB: "test", Body: harness.Relaxed(`{update: "c"}`)}}
			ns := storage.Namespace{DB: "test", Coll: "c"}
			info, err := exec.Lookup(c, ns)
			if err != nil {
				t.Fatal(err)
			}
			m := &write.Modification{NS: ns, Filter: harness.Relaxed(`{a: 1}`), Update: harness.Relaxed(`{u: {$set: {b: 1}}}`).Lookup("u"), Multi: multi}
			run, err := write.Compile(c, m, info)
			if err != nil {
				t.Fatal(err)
			}
			found, err := exec.OpenRecords(c, run.Exec, info, &run.Query)
			if err != nil {
				t.Fatal(err)
			}
			src := &renewing{found, func() {
				h.OK(`{drop: "c"}`)
				if again {
					h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}]}`)
				}
			}}
			if multi {
				_, err = write.ModifyMany(c, run, src)
			} else {
				_, _, err = write.ModifyFirst(c, run, src)
			}
			if !mongoerr.Is(err, mongoerr.QueryPlanKilled) {
				t.Errorf("%s, multi %v: %v", name, multi, err)
			}
			src.Close()
			if n := h.OK(`{count: "c", query: {b: 1}}`).Lookup("n").Int32(); n != 0 {
				t.Errorf("%s, multi %v: %d documents of another collection changed", name, multi, n)
			}
		}
	}
}
