package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// TestPointReads: reads that come while a trip is under way go with the next one, in their
// order. One that is given up while it waits, or when its turn comes, holds nobody up.
func TestPointReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &pointReads{max: 1}
		first := &pointRead{}
		if done, leading, err := q.join(t.Context(), first); done || !leading || err != nil {
			t.Fatalf("a read alone: %v, %v, %v", done, leading, err)
		}
		const readers = 2*maxTogether + 2
		var reads [readers]*pointRead
		var cancels [readers]context.CancelFunc
		ends := make([]string, readers)
		for i := range reads {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			reads[i], cancels[i] = &pointRead{}, cancel
			go func() {
				done, leading, err := q.join(ctx, reads[i])
				if ends[i] = fmt.Sprint(done, leading, err); !leading {
					return
				}
				group := q.with(reads[i])
				for _, x := range group[1:] {
					x.outcome <- gotAnswer
				}
				ends[i] += fmt.Sprint(" with ", len(group))
				q.leave()
			}()
			synctest.Wait() // it waits
		}
		if group := q.with(first); len(group) != maxTogether || group[0] != first || group[1] != reads[0] {
			t.Fatalf("%d reads go with the first", len(group))
		}
		cancels[0]()           // under way
		cancels[readers-1]()   // waiting
		cancels[maxTogether]() // the third in the line
		synctest.Wait()
		for i := 1; i < maxTogether-1; i++ {
			reads[i].outcome <- gotFailure
		}
		q.leave()
		synctest.Wait()
		for i, want := range map[int]string{
			0: "false false context canceled", readers - 1: "false false context canceled", maxTogether: "false false context canceled",
			1: "false false <nil>", maxTogether - 1: "false true <nil> with 32", maxTogether + 1: "true false <nil>", readers - 2: "false true <nil> with 1",
		} {
			if ends[i] != want {
				t.Errorf("read %d: %q, want %q", i, ends[i], want)
			}
		}
		if q.trips != 0 || len(q.waiting) != 0 {
			t.Errorf("%d trips are under way, %d reads wait", q.trips, len(q.waiting))
		}
	})
}

// TestPointReadsOfStuckDatabase: a read does not wait for ever for trips that do not end.
func TestPointReadsOfStuckDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &pointReads{max: 1, trips: 1}
		if done, leading, err := q.join(t.Context(), &pointRead{}); done || leading || !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("got %v, %v, %v", done, leading, err)
		}
		if len(q.waiting) != 0 {
			t.Error("it still waits")
		}
	})
}

// TestFurtherTrips: a further trip is made if trips take long for the network, if many reads wait,
// and if a read has waited for long; and none beyond the greatest number.
func TestFurtherTrips(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		took    time.Duration // time of each trip
		waiting int
		trips   int // number made at once
	}{
		"the same machine":        {100 * time.Microsecond, 3, 1},
		"another zone":            {1200 * time.Microsecond, 3, 3},
		"another continent":       {100 * time.Millisecond, 20, 4},
		"many reads":              {100 * time.Microsecond, manyWaiting + 1, 1},
		"more than one can carry": {100 * time.Microsecond, manyWaiting + 2, 2},
	} {
		q := &pointReads{max: 4}
		for range window + 1 {
			q.took(tt.took)
			q.took(time.Second) // without a processor
		}
		for range tt.waiting {
			if q.worthwhile() {
				q.trips++
			} else {
				q.waiting = append(q.waiting, &pointRead{})
			}
		}
		if q.trips != tt.trips {
			t.Errorf("%s: %d trips for %d reads, want %d", name, q.trips, tt.waiting, tt.trips)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		q := &pointReads{max: 2, trips: 1}
		began := time.Now()
		done, leading, err := q.join(t.Context(), &pointRead{})
		if waited := time.Since(began); done || !leading || err != nil || waited != patience || q.trips != 2 {
			t.Errorf("beside a trip that is stuck: %v, %v, %v after %v, %d trips", done, leading, err, waited, q.trips)
		}
		if q.leave(); q.trips != 1 {
			t.Errorf("%d trips are left", q.trips)
		}
	})
}

// TestPointReadGivenUp: the right to make the next trip is passed on by a read that was given
// up when it got it.
func TestPointReadGivenUp(t *testing.T) {
	t.Parallel()
	q := &pointReads{max: 1, trips: 1}
	p, next := &pointRead{outcome: make(chan outcome, 1)}, &pointRead{outcome: make(chan outcome, 1)}
	q.waiting = []*pointRead{p, next}
	q.leave()
	q.abandon(p)
	if how := <-next.outcome; how != gotLead || q.trips != 1 {
		t.Errorf("got %v with %d trips", how, q.trips)
	}
	if q.leave(); q.trips != 0 {
		t.Errorf("%d trips are left", q.trips)
	}
}

// TestPointReadOf: which requests are reads of single records.
func TestPointReadOf(t *testing.T) {
	t.Parallel()
	key := kv.AppendRecordKey(nil, 7, 1)
	page := &kvshared.Page{Span: kv.IndexSpan(7, 8), Limit: 1, Joined: true}
	point := []kvshared.Point{{Key: key}}
	for name, tt := range map[string]struct {
		r    kvshared.Request
		want bool
	}{
		"a record":            {kvshared.Request{Points: point}, true},
		"an entry":            {kvshared.Request{Page: page}, true},
		"both":                {kvshared.Request{Points: point, Page: page}, false},
		"two records":         {kvshared.Request{Points: []kvshared.Point{{Key: key}, {Key: key}}}, false},
		"known before":        {kvshared.Request{Points: []kvshared.Point{{Key: key, Seen: 3}}}, false},
		"several entries":     {kvshared.Request{Page: &kvshared.Page{Span: page.Span, Limit: 2, Joined: true}}, false},
		"entries alone":       {kvshared.Request{Page: &kvshared.Page{Span: page.Span, Limit: 1}}, false},
		"the last entry":      {kvshared.Request{Page: &kvshared.Page{Span: page.Span, Limit: 1, Joined: true, Reverse: true}}, false},
		"with statistics":     {kvshared.Request{Points: point, Stats: []uint32{7}}, false},
		"with the catalog":    {kvshared.Request{Points: point, Catalog: true}, false},
		"nothing":             {kvshared.Request{}, false},
		"the end of an index": {kvshared.Request{Ends: []kvshared.End{{Span: page.Span}}}, false},
	} {
		if got := pointReadOf(&tt.r) != nil; got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
