package bunt

import (
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// lostOps are the readable operations in damaged groups whose effect no later
// group has replaced. They may be wrong; they serve only to report what a
// repair has lost.
type lostOps struct {
	records map[lostRecord]bool // whether it was deleted
	catalog map[uint32][]op     // by collection
	groups  int64               // the number of groups that could be read
}

type lostRecord struct {
	num uint32
	id  storage.RecordID
}

func newLostOps() *lostOps {
	return &lostOps{records: map[lostRecord]bool{}, catalog: map[uint32][]op{}}
}

// supersede removes the operations that a later complete group has replaced.
func (l *lostOps) supersede(ops []op) {
	if len(l.records)+len(l.catalog) == 0 {
		return
	}
	for i := range ops {
		o := &ops[i]
		switch {
		case o.kind == opRecord:
			delete(l.records, lostRecord{o.num, o.id})
		case o.kind == opCatalog && o.del:
			delete(l.catalog, o.num)
			maps.DeleteFunc(l.records, func(r lostRecord, _ bool) bool { return r.num == o.num })
		case o.kind == opCatalog:
			delete(l.catalog, o.num)
		}
	}
}

// add takes the operations of a damaged group.
func (l *lostOps) add(o op) {
	switch o.kind {
	case opRecord:
		l.records[lostRecord{o.num, o.id}] = o.del
	case opCatalog:
		o.value = string([]byte(o.value))
		l.catalog[o.num] = append(l.catalog[o.num], o)
	}
}

// mostLost bounds what is read of one damaged group.
const mostLost = 16 << 20

// readLost reads the operations of the damaged groups between two offsets of
// the log.
func (s *salvager) readLost(from, to int64) error {
	for from < to {
		begin, err := s.findCommand(from, to)
		if err != nil || begin >= to {
			return err
		}
		from = begin + int64(len(groupCommand))
		end, err := s.findCommand(from, to)
		if err != nil {
			return err
		}
		b := make([]byte, min(end, to, from+mostLost)-from)
		n, err := s.chain.ReadAt(b, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		s.report.ops.readGroup(b[:n])
	}
	return nil
}

// readGroup takes the operations of a group whose checksums do not matter; b
// begins with its length.
func (l *lostOps) readGroup(b []byte) {
	line := slices.Index(b[:min(len(b), 16)], '\n')
	if line < 0 || len(b) < line+1+headSize {
		return
	}
	b = b[line+1+headSize:]
	var ops []op
	var room []byte
	for len(b) > len("\r\n") {
		o, rest, err := decodeOp(b, ops, &room)
		if err != nil {
			break
		}
		l.add(o)
		ops, b = append(ops, o), rest
	}
	if len(ops) > 0 {
		l.groups++
	}
}
