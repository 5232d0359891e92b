package storagetest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/duskdb/duskdb/storage"
)

// register is an operation on one record: a read, a write, or an increment
// in an Update.
type register struct {
	record storage.RecordID
	kind   string
	value  int32
}

// registers is the sequential specification: records are independent, and
// hold numbers that start at 0.
var registers = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byRecord := map[storage.RecordID][]porcupine.Operation{}
		for _, op := range history {
			id := op.Input.(register).record
			byRecord[id] = append(byRecord[id], op)
		}
		return slices.Collect(maps.Values(byRecord))
	},
	Init: func() any { return int32(0) },
	Step: func(state, input, output any) (bool, any) {
		in := input.(register)
		switch in.kind {
		case "write":
			return true, in.value
		case "add":
			return output == state.(int32)+in.value, output
		}
		return output == state, state
	},
}

// testLinearizable checks a history of concurrent operations.
func testLinearizable(t *testing.T, open Opener) {
	const clients, rounds, records = 4, 60, 3
	s := startWith(t, open, UniqueSpec("_id"))
	for i := range int32(records) {
		s.insert(doc(i, 0))
	}
	var (
		tick    atomic.Int64
		mu      sync.Mutex
		history []porcupine.Operation
		wg      sync.WaitGroup
	)
	for client := range clients {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(client), 2))
			for range rounds {
				in := register{
					record: storage.RecordID(rnd.IntN(records) + 1),
					kind:   []string{"read", "write", "add"}[rnd.IntN(3)],
					value:  rnd.Int32N(1000),
				}
				called := tick.Add(1)
				out := s.do(in)
				op := porcupine.Operation{
					ClientId: client, Input: in, Call: called, Output: out, Return: tick.Add(1),
				}
				mu.Lock()
				history = append(history, op)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if res := porcupine.CheckOperationsTimeout(registers, history, 20*time.Second); res == porcupine.Illegal {
		t.Error("the history is not linearizable")
	}
}

func (s *session) do(in register) (out int32) {
	get := func(c storage.Collection) int32 {
		r, _ := Get(c, in.record)
		return r.Doc.Lookup("a").Int32()
	}
	run := s.View
	if in.kind != "read" {
		run = s.Update
	}
	err := run(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(NS)
		if err != nil {
			return err
		}
		switch in.kind {
		case "read":
			out = get(c)
			return nil
		case "write":
			out = in.value
		case "add":
			out = get(c) + in.value
		}
		return Done(c.Update(in.record, doc(int32(in.record-1), out), 1))
	})
	if err != nil {
		s.Error(err)
	}
	return out
}
