// Package stream writes the state of an engine as a sequence of documents, from which
// any engine can be filled: a backup that needs no directory. The documents are
//
//	{duskdbBackup: 1, collections: n, version}                       the first
//	{collection: {db, name, uuid, options, indexes: [{name, spec}]}} one for each
//	{records: BinData}                                               of the collection before, in their order
//	{end: {collections, records, bytes, sha256}}                     the last
//
// The data of records are, one after the other, the id, the instant of the last write (8
// bytes each, big endian) and the document. The hash is that of all documents before the
// last. A sequence without its last document is not whole, and is refused.
package stream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// format is the value of duskdbBackup.
const format = 1

// chunkBytes is the size from which records go into a document of their own.
const chunkBytes = 1 << 20

// frame is the size of what stands before the document of a record.
const frame = 16

// Totals counts what a sequence has.
type Totals struct {
	Collections int64
	Records     int64
	Bytes       int64 // size of the documents
}

// Source makes the documents of the state that a snapshot transaction sees.
type Source struct {
	txn     storage.Txn
	version string
	list    []*storage.Info
	sum     hash.Hash
	done    Totals
	begun   bool
	ended   bool
	open    bool // records of list[0] are being read
	after   storage.RecordID
}

// NewSource returns a Source. version is that of DuskDB. Close ends the transaction.
func NewSource(txn storage.Txn, version string) *Source {
	return &Source{txn: txn, version: version, sum: sha256.New()}
}

// Within sets the context of the next calls.
func (s *Source) Within(ctx context.Context) { s.txn.Within(ctx) }

// Close ends the transaction. It may be called more than once.
func (s *Source) Close() { s.txn.Abort() }

// Next returns the next document, nil at the end.
func (s *Source) Next() (value.Doc, error) {
	if s.ended {
		return nil, nil
	}
	d, err := s.next()
	if err == nil && !s.ended {
		_, _ = s.sum.Write(d) // never fails
	}
	return d, err
}

func (s *Source) next() (d value.Doc, err error) {
	if !s.begun {
		if s.list, err = s.txn.Collections(""); err != nil {
			return nil, err
		}
		s.begun = true
		return value.NewDoc("duskdbBackup", value.Int32(format), "collections", value.Int64(int64(len(s.list))), "version", value.String(s.version)), nil
	}
	for len(s.list) > 0 {
		if !s.open {
			s.open, s.after = true, 0
			s.done.Collections++
			return describe(s.list[0]), nil
		}
		data, err := s.records(s.list[0].Namespace)
		if err != nil {
			return nil, err
		}
		if data != nil {
			return value.NewDoc("records", value.Binary(0, data)), nil
		}
		s.list, s.open = s.list[1:], false
	}
	s.ended = true
	return value.NewDoc("end", value.Document(value.NewDoc("collections", value.Int64(s.done.Collections), "records", value.Int64(s.done.Records),
		"bytes", value.Int64(s.done.Bytes), "sha256", value.Binary(0, s.sum.Sum(nil))))), nil
}

// describe is the document of a collection.
func describe(info *storage.Info) value.Doc {
	b := value.NewBuilder()
	b.StartDocument("collection").String("db", info.Namespace.DB).String("name", info.Namespace.Coll)
	b.Append("uuid", value.Binary(4, info.UUID[:])).Document("options", info.Options).StartArray("indexes")
	for _, x := range info.Indexes {
		b.StartDocument("").String("name", x.Name).Document("spec", x.Spec).End()
	}
	b.End()
	b.End()
	return b.Doc()
}

// records reads the next records of a collection; nil if there are no more.
func (s *Source) records(ns storage.Namespace) (data []byte, err error) {
	coll, err := s.txn.Collection(ns)
	if err != nil {
		return nil, err
	}
	err = coll.Scan(storage.Range{After: s.after}, func(r storage.Record) bool {
		if len(data) > 0 && len(data)+frame+len(r.Doc) > chunkBytes {
			return false
		}
		data = binary.BigEndian.AppendUint64(data, uint64(r.ID))
		data = binary.BigEndian.AppendUint64(data, uint64(r.TS))
		data = append(data, r.Doc...)
		s.after = r.ID
		s.done.Records++
		s.done.Bytes += int64(len(r.Doc))
		return true
	})
	return data, err
}

// ErrCut reports a sequence that ends before its last document.
var ErrCut = errors.New("the backup ends too early: it was cut off")

// errDamaged reports a sequence that was changed.
var errDamaged = errors.New("the backup is damaged")

// Updater runs an Update of the engine that is filled. It may run fn more than once.
type Updater func(ctx context.Context, fn func(storage.Tx) error) error

// Load fills an empty engine with what r has. step is called with the bytes of the
// documents as they are stored.
func Load(ctx context.Context, r io.Reader, update Updater, step func(bytes int64)) (Totals, error) {
	l := loader{ctx: ctx, in: r, update: update, step: step, sum: sha256.New()}
	head, err := l.read()
	if err != nil {
		return Totals{}, fmt.Errorf("no backup: %w", err)
	}
	switch v := head.Lookup("duskdbBackup"); {
	case v.IsMissing():
		return Totals{}, errors.New("this is no backup of DuskDB")
	case v.SafeInt64() != format:
		return Totals{}, &storage.NewerFormatError{Where: "the backup", Format: v.SafeInt64(), Newest: format, Version: head.Lookup("version").Str()}
	}
	l.expected = head.Lookup("collections").SafeInt64()
	for {
		_, _ = l.sum.Write(l.buf)
		d, err := l.read()
		if err != nil {
			return l.done, err
		}
		name, v := d.First()
		switch name {
		case "collection":
			err = l.create(v.Doc())
		case "records":
			_, data := v.Binary()
			err = l.fill(data)
		case "end":
			return l.done, l.finish(v.Doc())
		default:
			err = errDamaged
		}
		if err != nil {
			return l.done, err
		}
	}
}

type loader struct {
	ctx      context.Context
	in       io.Reader
	update   Updater
	step     func(int64)
	sum      hash.Hash
	buf      []byte
	ns       storage.Namespace
	expected int64
	done     Totals
}

// maxBytes bounds a document of a sequence: the largest has one record.
const maxBytes = 17 << 20

// read reads the next document.
func (l *loader) read() (value.Doc, error) {
	var head [4]byte
	if _, err := io.ReadFull(l.in, head[:]); err != nil {
		return nil, cut(err)
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if n < 5 || n > maxBytes {
		return nil, errDamaged
	}
	if cap(l.buf) < n {
		l.buf = make([]byte, n)
	}
	l.buf = l.buf[:n]
	copy(l.buf, head[:])
	if _, err := io.ReadFull(l.in, l.buf[4:]); err != nil {
		return nil, cut(err)
	}
	if err := value.Validate(l.buf); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return value.Doc(l.buf), nil
}

func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCut
	}
	return err
}

// create creates a collection with its indexes.
func (l *loader) create(d value.Doc) error {
	l.ns = storage.Namespace{DB: strings.Clone(d.Lookup("db").Str()), Coll: strings.Clone(d.Lookup("name").Str())} // the buffer is used again
	_, id := d.Lookup("uuid").Binary()
	if l.ns.DB == "" || l.ns.Coll == "" || len(id) != 16 {
		return errDamaged
	}
	var specs []storage.IndexSpec
	for v := range d.Lookup("indexes").Doc().Values() {
		specs = append(specs, storage.IndexSpec{Name: strings.Clone(v.Doc().Lookup("name").Str()), Spec: v.Doc().Lookup("spec").Doc().Clone()})
	}
	options := d.Lookup("options").Doc().Clone()
	l.done.Collections++
	err := l.update(l.ctx, func(tx storage.Tx) error {
		_, err := tx.CreateAs(l.ns, [16]byte(id), options, specs)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", l.ns, err)
	}
	return nil
}

// fill stores records.
func (l *loader) fill(data []byte) error {
	var records []storage.Record
	size := int64(0)
	for len(data) > 0 {
		if len(data) < frame+5 {
			return errDamaged
		}
		n := int(binary.LittleEndian.Uint32(data[frame:]))
		if n < 5 || n > len(data)-frame {
			return errDamaged
		}
		r := storage.Record{ID: storage.RecordID(binary.BigEndian.Uint64(data)), TS: int64(binary.BigEndian.Uint64(data[8:])), Doc: value.Doc(bytes.Clone(data[frame : frame+n]))}
		if err := value.Validate(r.Doc); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		records = append(records, r)
		size += int64(n)
		data = data[frame+n:]
	}
	err := l.update(l.ctx, func(tx storage.Tx) error { return storage.Restore(tx, l.ns, records) })
	if err != nil {
		return fmt.Errorf("%s: %w", l.ns, err)
	}
	l.done.Records += int64(len(records))
	l.done.Bytes += size
	l.step(size)
	return nil
}

// finish compares what was stored with the last document.
func (l *loader) finish(end value.Doc) error {
	_, want := end.Lookup("sha256").Binary()
	if !bytes.Equal(want, l.sum.Sum(nil)) || end.Lookup("records").SafeInt64() != l.done.Records || end.Lookup("bytes").SafeInt64() != l.done.Bytes ||
		end.Lookup("collections").SafeInt64() != l.done.Collections || l.expected != l.done.Collections {
		return errDamaged
	}
	if n, err := l.in.Read(make([]byte, 1)); n > 0 {
		return fmt.Errorf("%w: something follows its end", errDamaged)
	} else if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
