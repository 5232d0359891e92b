package storagetest

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/internal/linear"
	"github.com/duskdb/duskdb/storage"
)

// testLinearizable checks a history of concurrent operations.
func testLinearizable(t *testing.T, open Opener) {
	const clients, rounds, records = 4, 60, 3
	s := startWith(t, open, UniqueSpec("_id"))
	for i := range int32(records) {
		s.insert(doc(i, 0))
	}
	var history linear.History
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(client), 2))
			for range rounds {
				if err := history.Do(client, linear.Random(rnd, records), s.do); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	history.Check(t)
}

// do runs an operation in a View or an Update. The records 1, 2, ... are the numbers 0, 1, ...
func (s *session) do(in linear.Operation) (out int64, err error) {
	id := storage.RecordID(in.Number + 1)
	get := func(c storage.Collection) int64 {
		r, _ := Get(c, id)
		return int64(r.Doc.Lookup("a").Int32())
	}
	run := s.View
	if in.Kind != linear.Read {
		run = s.Update
	}
	err = run(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(NS)
		if err != nil {
			return err
		}
		switch in.Kind {
		case linear.Read:
			out = get(c)
			return nil
		case linear.Write:
			out = in.Value
		case linear.Add:
			out = get(c) + in.Value
		}
		return Done(c.Update(id, doc(int32(in.Number), int32(out)), 1))
	})
	return out, err
}
