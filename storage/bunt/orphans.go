package bunt

import (
	"context"
	"slices"
	"sync"

	"github.com/duskdb/duskdb/storage"
)

// orphans are the records of collections that were dropped or truncated.
// Dropping writes one key; the records leave the log in small steps.
type orphans struct {
	mu    sync.Mutex
	colls []*coll
}

func (o *orphans) add(colls ...*coll) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range colls {
		if c.records.Len() > 0 {
			o.colls = append(o.colls, &coll{num: c.num, records: c.records.fork()})
		}
	}
}

func (o *orphans) first() *coll {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.colls) == 0 {
		return nil
	}
	return o.colls[0]
}

func (o *orphans) list() []*coll {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.colls)
}

// done removes collections whose records are gone from the log.
func (o *orphans) done(gone ...*coll) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.colls = slices.DeleteFunc(o.colls, func(c *coll) bool { return slices.Contains(gone, c) })
}

// retire takes over collections that a commit has dropped.
func (e *Engine) retire(colls []*coll) {
	if len(colls) > 0 {
		e.orphans.add(colls...)
		e.wakeJanitor()
	}
}

// sweepStep is how many orphans are removed in one commit.
const sweepStep = 500

// sweep removes the records of all dropped collections from the log.
func (e *Engine) sweep(ctx context.Context) error {
	e.maintenance.Lock()
	defer e.maintenance.Unlock()
	for c := e.orphans.first(); c != nil; c = e.orphans.first() {
		if err := e.sweepOne(ctx, c); err != nil {
			return err
		}
		e.orphans.done(c)
	}
	return nil
}

func (e *Engine) sweepOne(ctx context.Context, c *coll) error {
	for c.records.Len() > 0 {
		var ids []storage.RecordID
		var ops []op
		c.records.Scan(func(id storage.RecordID, _ string) bool {
			ids = append(ids, id)
			ops = append(ops, op{key: recordKey(c.num, id), del: true})
			return len(ops) < sweepStep
		})
		if err := e.writeOps(ctx, ops); err != nil {
			return err
		}
		for _, id := range ids {
			c.records.Delete(id)
		}
	}
	return nil
}

// writeOps commits to the log what does not change the state.
func (e *Engine) writeOps(ctx context.Context, ops []op) error {
	if err := e.lockWriter(ctx); err != nil {
		return err
	}
	defer e.unlockWriter()
	return e.writeLog(ops)
}
