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

	"github.com/duskdb/duskdb/internal/reserved"
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
	*dump
	in     *bufio.Reader
	colls  map[string]*restored   // by the namespace of their blocks
	crcs   map[string]hash.Hash64 // checksums of the collections that have begun
	failed map[string]bool        // namespaces whose blocks are not restored, which was said
}

var crcTable = crc64.MakeTable(crc64.ECMA)

// RestoreArchive restores an archive of mongodump --archive, also with --gzip.
func RestoreArchive(to Runner, r io.Reader, o DumpOptions) (Result, error) {
	a := &archive{
		dump: &dump{DumpOptions: o, to: to}, in: bufio.NewReaderSize(r, 1<<16),
		colls: map[string]*restored{}, crcs: map[string]hash.Hash64{}, failed: map[string]bool{},
	}
	err := a.restore()
	return a.sum, err
}

// restore reads the archive to its end.
func (a *archive) restore() error {
	if head, _ := a.in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(a.in)
		if err != nil {
			return err
		}
		a.in = bufio.NewReaderSize(z, 1<<16)
	}
	if err := a.prelude(); err != nil {
		return err
	}
	for more := true; more; {
		var err error
		if more, err = a.block(); err != nil {
			return err
		}
	}
	if unended := slices.Sorted(maps.Keys(a.crcs)); len(unended) > 0 {
		return fmt.Errorf("the archive ends before the end of %s", strings.Join(unended, ", "))
	}
	made := map[*restored]bool{}
	for _, ns := range slices.Sorted(maps.Keys(a.colls)) {
		if c := a.colls[ns]; !made[c] {
			made[c] = true
			c.createIndexes()
		}
	}
	return a.end()
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
			return a.create()
		}
		if err := a.add(entry); err != nil {
			return err
		}
	}
}

// add notes a collection of {db, collection, metadata: JSON, size, type}.
func (a *archive) add(entry value.Doc) error {
	db, name := entry.Lookup("db").Str(), entry.Lookup("collection").Str()
	if a.skips(db) || kindOf(db, name) != ordinary {
		a.found = a.found || !a.skips(db)
		return nil
	}
	a.found = true
	meta := value.EmptyDoc
	if text := entry.Lookup("metadata").Str(); text != "" {
		var err error
		if meta, err = parseMetadata([]byte(text)); err != nil {
			return fmt.Errorf("%s.%s: %w", db, name, err)
		}
	}
	c := &restored{d: a.dump, db: db, name: name, meta: meta}
	a.colls[c.ns()] = c
	return nil
}

// create makes the collections, after all metadata have been read. The blocks of a time
// series have the name of its buckets, or from 8.3 on its own.
func (a *archive) create() error {
	inOrder := func(x, y string) int { return a.colls[x].order(a.colls[y]) }
	for _, ns := range slices.SortedFunc(maps.Keys(a.colls), inOrder) {
		c := a.colls[ns]
		if err := c.asSeries(); err != nil {
			a.lost(err)
			a.failed[ns] = true
			delete(a.colls, ns)
			continue
		}
		if known := a.colls[c.ns()]; known != nil && known != c { // the metadata of its buckets, too
			delete(a.colls, ns)
			continue
		}
		if err := c.create(); err != nil {
			return fmt.Errorf("%s: %w", ns, err)
		}
	}
	for _, c := range slices.Collect(maps.Values(a.colls)) {
		if c.isSeries() {
			a.colls[c.db+"."+reserved.Buckets(c.name)] = c
		}
	}
	return nil
}

// block reads a run of documents of one collection; false at the end.
func (a *archive) block() (bool, error) {
	head, err := a.next()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, unexpectedEnd(err)
	}
	if head == nil {
		return false, errors.New("a block of the archive has no header")
	}
	db, name := head.Lookup("db").Str(), head.Lookup("collection").Str()
	ns := db + "." + name
	if a.crcs[ns] == nil {
		a.crcs[ns] = crc64.New(crcTable)
	}
	source := &blockSource{a: a, crc: a.crcs[ns]}
	if head.Lookup("EOF").Truthy() {
		delete(a.crcs, ns)
		return true, source.end(ns, head.Lookup("CRC"))
	}
	if err := a.documents(db, name, source); err != nil {
		return false, fmt.Errorf("%s: %w", ns, err)
	}
	return true, source.drain()
}

// documents restores those of a block, or says that they are not restored.
func (a *archive) documents(db, name string, source *blockSource) error {
	ns := db + "." + name
	if c := a.colls[ns]; c != nil {
		res, err := c.load(source)
		a.sum.Imported, a.sum.Failed = a.sum.Imported+res.Imported, a.sum.Failed+res.Failed
		return err
	}
	k := kindOf(db, name)
	switch {
	case k == oplog && len(a.crcs) > 1:
		return errors.New("the oplog stands before the end of the collections")
	case k == oplog, k != ordinary && !a.skips(db), db == "admin" && (k == users || k == roles) && a.UsersAndRoles:
		if !a.failed[ns] {
			a.failed[ns] = k == foreign
			return a.load(k, db, name, source)
		}
	case !a.skips(db) && !a.failed[ns]:
		if _, _, err := source.Next(); errors.Is(err, io.EOF) {
			return nil
		}
		a.failed[ns] = true
		a.lost(fmt.Errorf("%s: the archive has documents, but no metadata of the collection: they are not restored", ns))
	}
	return nil
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
	if _, _, err := s.Next(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: documents after the end of the collection", name)
	}
	if got := s.crc.Sum64(); want.IsNumber() && uint64(want.SafeInt64()) != got {
		return fmt.Errorf("%s: the archive is damaged: the documents have CRC %016x, the archive says %016x", name, got, uint64(want.SafeInt64()))
	}
	return nil
}

// Unit implements Source.
func (s *blockSource) Unit() string { return documents }

// Next reads one document.
func (s *blockSource) Next() (value.Doc, int, error) {
	if s.done {
		return nil, s.n, io.EOF
	}
	s.n++
	doc, err := s.a.next()
	switch {
	case errors.Is(err, errInvalid):
		return nil, s.n, &LineError{Line: s.n, Unit: documents, Err: err}
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
		if errors.Is(err, io.EOF) {
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
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the archive ends too early")
	}
	return err
}
