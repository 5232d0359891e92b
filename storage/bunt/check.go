package bunt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/datadir"
	"github.com/duskdb/duskdb/value"
)

// Report is the result of Check.
type Report struct {
	storage.Report
	state logState // the part of the log known to be on disk, once it is checked
}

// maxProblems limits the problems that a Report lists.
const maxProblems = 100

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// Check reads a data directory that no server uses, without changing it: the
// frames and checksums of the log, every document, and whether the indexes can
// be made of them. Damage is a problem in the Report; Check returns an error
// only if it cannot read the log at all.
func Check(dir string, indexer storage.Indexer) (*Report, error) {
	lock, err := datadir.LockForReading(dir)
	if err != nil {
		return nil, err
	}
	if lock != nil {
		defer lock.Close()
	}
	path := filepath.Join(dir, logName)
	noted, err := readState(dir)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) && noted.bytes > 0 {
		err = noted.missing(path, scanned{})
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &Report{Report: storage.Report{Engine: Name}}
	l := newLoader(&Engine{opts: Options{Path: Memory, Indexer: indexer, Clock: clock.System()}})
	found, err := scanLog(f, path, nil, func(ops []op) error {
		for i := range ops {
			if err := l.apply(ops[i : i+1]); err != nil {
				r.problem("%v", err)
			}
		}
		return nil
	})
	var damage *DamageError
	if errors.As(err, &damage) {
		r.problem("%v", damage)
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.Commits, r.Bytes, r.TornBytes, r.Unclosed = found.seq, found.good, found.cut, !found.clean || found.cut > 0
	r.state = logState{nonce: found.nonce, commits: found.seq, bytes: found.good}
	if err := noted.missing(path, found); err != nil {
		r.problem("%v", err)
	}
	if err := l.prepare(); err != nil {
		r.problem("%v", err)
	}
	for _, c := range l.colls {
		if c.info != nil {
			r.documents(&c.coll)
			r.indexes(&c.coll)
		}
	}
	r.finish(l)
	return r, nil
}

// documents validates every document of a collection.
func (r *Report) documents(c *coll) {
	c.records.Scan(func(id storage.RecordID, stored string) bool {
		if err := value.Validate(storedDoc(stored)); err != nil {
			r.problem("%s: record %d: %v", c.info.Namespace, id, err)
		}
		return true
	})
}

// indexes makes the indexes of a collection, which fails where documents
// violate them.
func (r *Report) indexes(c *coll) {
	if err := c.buildAll(context.Background(), nil); err != nil {
		r.problem("%v", err)
	}
}

// finish lists the collections by name.
func (r *Report) finish(l *loader) {
	root := newRoot()
	for _, loaded := range l.colls {
		c := &loaded.coll
		if c.info == nil {
			continue
		}
		if root.get(c.info.Namespace) != nil {
			r.problem("%s: two collections of this name", c.info.Namespace)
		}
		root.set(c)
	}
	root.all(func(c *coll) {
		line := storage.CollectionReport{Namespace: c.info.Namespace, Records: int64(c.records.Len()), Bytes: c.size, Indexes: int64(len(c.info.Indexes))}
		for _, x := range c.indexes {
			line.Entries += int64(x.entries.Len())
		}
		r.Collections = append(r.Collections, line)
	})
}
