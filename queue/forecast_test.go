package queue

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

func TestForecast(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"lockDuration": 15, "autoDeleteOnIdle": 300}`)
	for i := range 4 {
		e.sendFor(i, float64(10*(i+1)))
	}
	e.at(10)
	e.one("q") // the second message, as the first has expired
	e.at(20)
	e.must(e.engine.View(e.ctx, func(tx storage.Tx) error {
		list, st, err := e.broker.Forecast(tx, ns("q"), ttl.Horizon{Now: e.now(), Length: 20_000, Parts: 2})
		e.must(err)
		var got []string
		for _, f := range list {
			got = append(got, fmt.Sprint(f.Lane, " ", f.Pending, " ", f.Overdue, " ", (f.Next-t0)/1000, " ", f.Buckets))
		}
		want := "[expiry 2 0 30 [1 1] lock 1 0 25 [1 0] schedule 0 0 " + fmt.Sprint(-t0/1000) + " [] idle 1 0 310 []]"
		if fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
		if st.Active != 2 || st.Locked != 1 || st.IdleDeadline != t0+310_000 {
			t.Errorf("%+v", st)
		}
		return nil
	}))
}
