package engines

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"

	"github.com/duskdb/duskdb/storage"
)

// Copied describes a finished copy.
type Copied struct {
	Collections int64
	Records     int64
	Bytes       int64 // size of the documents
	Indexes     int64
}

// Limits of a batch, which is one Update of the target.
const (
	batchRecords = 1000
	batchBytes   = 4 << 20
)

// transfer copies everything that an engine holds to another one which holds
// nothing: each collection with its UUID, options and indexes, and its records
// with their ids and the instants of their last writes. So the tokens of locked
// messages, which contain ids, and of change streams stay valid.
//
// It uses the contract of storage alone. What it copied is compared by compare.
type transfer struct {
	from storage.Engine
	// update runs an Update of the target that may be run more than once.
	update func(context.Context, func(storage.Tx) error) error
	// begin is called with the number of bytes of all documents, before the first is
	// copied.
	begin func(bytes int64)
	// tick is called with the number of bytes of documents that were copied or
	// compared since the last call.
	tick func(bytes int64)
}

// copyTo copies all collections, in the state of one moment, and returns an imprint
// of each.
func (t *transfer) copyTo(ctx context.Context, to storage.Engine) (prints []*imprint, err error) {
	err = t.from.View(ctx, func(tx storage.Tx) error {
		prints = nil
		list, err := tx.Collections("")
		if err != nil {
			return err
		}
		// This reads something of each collection, so that the transaction has chosen its state.
		total, err := storage.DataBytes(tx, list)
		if err != nil {
			return err
		}
		t.begin(total)
		for _, info := range list {
			p, err := t.collection(ctx, tx, info)
			if err != nil {
				return fmt.Errorf("%s: %w", info.Namespace, err)
			}
			prints = append(prints, p)
		}
		return nil
	})
	if err == nil {
		err = to.Sync(ctx)
	}
	return prints, err
}

// collection copies a collection.
func (t *transfer) collection(ctx context.Context, tx storage.Tx, info *storage.Info) (*imprint, error) {
	c, err := tx.Collection(info.Namespace)
	if err != nil {
		return nil, err
	}
	var specs []storage.IndexSpec
	for _, x := range info.Indexes {
		specs = append(specs, x.IndexSpec)
	}
	err = t.update(ctx, func(tx storage.Tx) error {
		_, err := tx.CreateAs(info.Namespace, info.UUID, info.Options, specs)
		return err
	})
	if err != nil {
		return nil, err
	}
	b := batch{ctx: ctx, update: t.update, ns: info.Namespace}
	return newImprint(c, func(r storage.Record) error {
		t.tick(int64(len(r.Doc)))
		return b.add(r)
	}, b.flush)
}

// batch gathers records that are written together.
type batch struct {
	ctx     context.Context
	update  func(context.Context, func(storage.Tx) error) error
	ns      storage.Namespace
	records []storage.Record
	bytes   int
}

func (b *batch) add(r storage.Record) error {
	b.records = append(b.records, r)
	b.bytes += len(r.Doc)
	if len(b.records) < batchRecords && b.bytes < batchBytes {
		return nil
	}
	return b.flush()
}

// flush writes the records. The function may run again, which does no harm:
// what an earlier run wrote is undone.
func (b *batch) flush() error {
	if len(b.records) == 0 {
		return b.ctx.Err()
	}
	err := b.update(b.ctx, func(tx storage.Tx) error { return storage.Restore(tx, b.ns, b.records) })
	b.records, b.bytes = b.records[:0], 0
	return err
}

// imprint is what a collection must have in common with its copy.
type imprint struct {
	info    *storage.Info
	count   int64
	size    int64
	entries []int64           // number of entries by index
	hash    [sha256.Size]byte // hash of all records, with ids and instants
}

// newImprint reads a collection. each is called with every record, and end after
// the last.
func newImprint(c storage.Collection, each func(storage.Record) error, end func() error) (*imprint, error) {
	p := &imprint{info: c.Info()}
	h := sha256.New()
	var failed error
	err := c.Scan(storage.Range{}, func(r storage.Record) bool {
		p.count++
		p.size += int64(len(r.Doc))
		addRecord(h, r)
		failed = each(r)
		return failed == nil
	})
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	h.Sum(p.hash[:0])
	if err := p.countEntries(c); err != nil {
		return nil, err
	}
	return p, end()
}

// addRecord hashes a record in an unambiguous form: a document begins with its
// length.
func addRecord(h hash.Hash, r storage.Record) {
	var head [16]byte
	binary.BigEndian.PutUint64(head[:8], uint64(r.ID))
	binary.BigEndian.PutUint64(head[8:], uint64(r.TS))
	_, _ = h.Write(head[:]) // never fails
	_, _ = h.Write(r.Doc)
}

// countEntries counts the entries of the indexes where the engine does not
// know them exactly.
func (p *imprint) countEntries(c storage.Collection) error {
	for _, x := range p.info.Indexes {
		st, err := c.IndexStats(x.Name)
		if err == nil && st.Estimate {
			st.Entries = 0
			err = c.ScanIndex(x.Name, storage.KeyRange{}, func([]byte, storage.RecordID) bool { st.Entries++; return true })
		}
		if err != nil {
			return err
		}
		p.entries = append(p.entries, st.Entries)
	}
	return nil
}

// compare reads a copy and compares it with the imprints of the original.
func (t *transfer) compare(ctx context.Context, to storage.Engine, want []*imprint) (done Copied, err error) {
	err = to.View(ctx, func(tx storage.Tx) error {
		done = Copied{}
		list, err := tx.Collections("")
		if err != nil {
			return err
		}
		if len(list) != len(want) {
			return fmt.Errorf("%d collections were copied, and %d are there", len(want), len(list))
		}
		for _, p := range want {
			if err := t.compareOne(tx, p); err != nil {
				return fmt.Errorf("%s: %w", p.info.Namespace, err)
			}
			done.Collections++
			done.Records += p.count
			done.Bytes += p.size
			done.Indexes += int64(len(p.info.Indexes))
		}
		return nil
	})
	return done, err
}

func (t *transfer) compareOne(tx storage.Tx, want *imprint) error {
	c, err := tx.Collection(want.info.Namespace)
	if err != nil {
		return err
	}
	got, err := newImprint(c, func(r storage.Record) error { t.tick(int64(len(r.Doc))); return nil }, func() error { return nil })
	if err != nil {
		return err
	}
	counted, err := c.Count()
	if err != nil {
		return err
	}
	return want.differs(got, counted)
}

// differs says what a copy does not have in common with the original. counted
// is the number of records that the engine of the copy knows of.
func (p *imprint) differs(got *imprint, counted int64) error {
	switch {
	case got.count != p.count || counted != p.count:
		return fmt.Errorf("the copy has %d documents and counts %d, the original has %d", got.count, counted, p.count)
	case got.hash != p.hash:
		return errors.New("the documents of the copy differ from the original's")
	case got.info.UUID != p.info.UUID:
		return errors.New("the copy has another UUID")
	case !bytes.Equal(got.info.Options, p.info.Options):
		return errors.New("the copy has other options")
	case len(got.info.Indexes) != len(p.info.Indexes):
		return fmt.Errorf("the copy has %d indexes, the original %d", len(got.info.Indexes), len(p.info.Indexes))
	}
	for i, x := range p.info.Indexes {
		if y := got.info.Indexes[i]; y.Name != x.Name || !bytes.Equal(y.Spec, x.Spec) {
			return fmt.Errorf("the copy has another index in the place of %s", x.Name)
		}
		if got.entries[i] != p.entries[i] {
			return fmt.Errorf("index %s of the copy has %d entries, the original %d", x.Name, got.entries[i], p.entries[i])
		}
	}
	return nil
}
