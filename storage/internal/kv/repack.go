package kv

import (
	"context"

	"github.com/duskdb/duskdb/storage"
)

var _ storage.Repacker = (*Engine)(nil)

// Place is where entries of an index are: those of a fork, in an order of its own.
type Place struct {
	Num, Index uint32
	Key        []byte
	ID         storage.RecordID
}

// repackAtOnce is how many leaves are copied while writers wait: half a millisecond.
const repackAtOnce = 512

// Repack implements storage.Repacker, for a store in memory. Every scattered change copies a
// leaf of an index, so after a load or many deletes the leaves in use lie between dead ones,
// and a page of the heap stays as long as one of its objects does. Repack copies leaves that
// are neighbours into one piece of memory, and the pages that they leave become free.
//
// It does nothing while there are snapshot transactions: their states keep the old leaves.
func (e *Engine) Repack(ctx context.Context) error {
	s, err := e.latest()
	if err != nil {
		return err
	}
	more := s.mem != nil && s.root.names.Len() > 0 // otherwise no writer need wait
	s.release()
	var from Place
	for more {
		if err := e.lockWriter(ctx); err != nil {
			return err
		}
		from, more, err = e.repackPart(ctx, from)
		e.unlockWriter()
		if err != nil {
			return err
		}
	}
	return nil
}

// repackPart copies leaves from a place on, and publishes a state that has them. The caller
// has the right to write.
func (e *Engine) repackPart(ctx context.Context, from Place) (next Place, more bool, err error) {
	s, err := e.lastWritten()
	if err != nil {
		return next, false, err
	}
	defer s.release()
	if s.mem == nil || e.common.OpenTxns.Load() > 0 {
		return next, false, nil
	}
	w := WriteSet{Fork: s.mem.Fork()}
	next, more, changed := w.Fork.Repack(from, repackAtOnce)
	if changed {
		if err = e.applyNow(ctx, &w); err == nil {
			err = e.publish(s.root)
		}
	}
	return next, more, err
}
