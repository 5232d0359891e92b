package transfer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// An archive of mongodump --archive is:
//
//	magic number
//	header document; one document of metadata for each collection
//	terminator
//	blocks: {db, collection, EOF, CRC}, documents, terminator
//
// Blocks of several collections alternate; the last one of each is empty and
// says EOF and the CRC-64 (ECMA) of the collection's documents.
const (
	archiveMagic = 0x8199e26d
	terminator   = 0xffffffff
)

// archive is the state of restoring an archive.
type archive struct {
	in    *bufio.Reader
	to    Runner
	o     DumpOptions
	colls map[string]*restored
	crcs  map[string]hash.Hash64 // of the collections that have begun
	sum   Result
}

var crcTable = crc64.MakeTable(crc64.ECMA)

// RestoreArchive restores an archive of mongodump --archive, also with --gzip.
func RestoreArchive(to Runner, r io.Reader, o DumpOptions) (Result, error) {
	a := &archive{in: bufio.NewReaderSize(r, 1<<16), to: to, o: o, colls: map[string]*restored{}, crcs: map[string]hash.Hash64{}}
	if head, _ := a.in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(a.in)
		if err != nil {
			return a.sum, err
		}
		a.in = bufio.NewReaderSize(z, 1<<16)
	}
	if err := a.prelude(); err != nil {
		return a.sum, err
	}
	for {
		more, err := a.block()
		if err != nil {
			return a.sum, err
		}
		if !more {
			break
		}
	}
	if unended := slices.Sorted(maps.Keys(a.crcs)); len(unended) > 0 {
		return a.sum, fmt.Errorf("the archive ends before the end of %s", strings.Join(unended, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(a.colls)) {
		if err := a.colls[name].createIndexes(); err != nil {
			return a.sum, fmt.Errorf("%s: %w", name, err)
		}
	}
	return a.sum, nil
}

// next reads a document, or the terminator, which is nil.
func (a *archive) next() (value.Doc, error) {
	var head [4]byte
	if _, err := io.ReadFull(a.in, head[:]); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(head[:]) == terminator {
		return nil, nil
	}
	return readBody(a.in, head)
}

// prelude reads the part before the blocks and creates the collections.
func (a *archive) prelude() error {
	var magic [4]byte
	if _, err := io.ReadFull(a.in, magic[:]); err != nil || binary.LittleEndian.Uint32(magic[:]) != archiveMagic {
		return errors.New("this is not an archive of mongodump")
	}
	if _, err := a.next(); err != nil { // the header: versions
		return fmt.Errorf("the archive's header: %w", unexpectedEnd(err))
	}
	for {
		entry, err := a.next()
		if err != nil {
			return fmt.Errorf("the archive's list of collections: %w", unexpectedEnd(err))
		}
		if entry == nil {
			return nil
		}
		if err := a.add(entry); err != nil {
			return err
		}
	}
}

// add makes a collection of {db, collection, metadata: JSON, size, type}.
func (a *archive) add(entry value.Doc) error {
	db, name := entry.Lookup("db").Str(), entry.Lookup("collection").Str()
	if a.o.skips(db) {
		return nil
	}
	meta := value.EmptyDoc
	if text := entry.Lookup("metadata").Str(); text != "" {
		var err error
		if meta, err = value.ParseJSON(text); err != nil {
			return fmt.Errorf("metadata of %s.%s: %w", db, name, err)
		}
	}
	c := &restored{to: a.to, o: &a.o, db: db, name: name, meta: meta}
	if err := c.create(); err != nil {
		return fmt.Errorf("%s.%s: %w", db, name, err)
	}
	a.colls[db+"."+name] = c
	return nil
}

// block reads a run of documents of one collection; false at the end.
func (a *archive) block() (bool, error) {
	head, err := a.next()
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, unexpectedEnd(err)
	}
	if head == nil {
		return false, errors.New("a block of the archive has no header")
	}
	name := head.Lookup("db").Str() + "." + head.Lookup("collection").Str()
	if a.crcs[name] == nil {
		a.crcs[name] = crc64.New(crcTable)
	}
	source := &blockSource{a: a, crc: a.crcs[name]}
	if head.Lookup("EOF").Truthy() {
		delete(a.crcs, name)
		return true, source.end(name, head.Lookup("CRC"))
	}
	c := a.colls[name]
	if c == nil { // not selected
		return true, source.drain()
	}
	res, err := c.load(source)
	a.sum.Imported, a.sum.Failed = a.sum.Imported+res.Imported, a.sum.Failed+res.Failed
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return true, source.drain()
}

// blockSource is the documents of one block.
type blockSource struct {
	a    *archive
	crc  hash.Hash64
	n    int
	done bool
}

// end reads the last block of a collection, and compares the sum of what
// came before it. Archives of the first versions of mongodump have none.
func (s *blockSource) end(name string, want value.Value) error {
	if _, _, err := s.Next(); err != io.EOF {
		return fmt.Errorf("%s: documents after the end of the collection", name)
	}
	if got := s.crc.Sum64(); want.IsNumber() && uint64(want.SafeInt64()) != got {
		return fmt.Errorf("%s: the archive is damaged: the documents have CRC %016x, the archive says %016x", name, got, uint64(want.SafeInt64()))
	}
	return nil
}

// Next reads one document.
func (s *blockSource) Next() (value.Doc, int, error) {
	if s.done {
		return nil, s.n, io.EOF
	}
	s.n++
	doc, err := s.a.next()
	switch {
	case errors.Is(err, errInvalid):
		return nil, s.n, &LineError{Line: s.n, Unit: "document", Err: err}
	case err != nil:
		return nil, s.n, unexpectedEnd(err)
	case doc == nil:
		s.done = true
		return nil, s.n, io.EOF
	}
	_, _ = s.crc.Write(doc)
	return doc, s.n, nil
}

// drain skips the rest of the block.
func (s *blockSource) drain() error {
	for {
		_, _, err := s.Next()
		if err == io.EOF {
			return nil
		}
		var bad *LineError
		if err != nil && !errors.As(err, &bad) {
			return err
		}
	}
}

// unexpectedEnd converts an early end of the file to another error than
// io.EOF, which would mean the end of a source.
func unexpectedEnd(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the archive ends too early")
	}
	return err
}
