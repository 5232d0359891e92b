package bunt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/datadir"
	"github.com/duskdb/duskdb/storage/internal/inspect"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/mem"
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
	c, err := openChain(path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) && noted.bytes > 0 {
		err = noted.missing(path, scanned{})
	}
	var damage *DamageError
	if c != nil {
		defer c.close()
	}
	if errors.As(err, &damage) {
		r := &Report{Report: storage.Report{Engine: Name}}
		r.problem("%v", damage)
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Report{Report: storage.Report{Engine: Name}}
	l := loaded{mem.NewLoader()}
	found, err := scanLog(c, nil, func(ops []op) error {
		for i := range ops {
			if err := l.apply(ops[i : i+1]); err != nil {
				r.problem("%v", err)
			}
		}
		return nil
	})
	if errors.As(err, &damage) {
		r.problem("%v", damage)
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.Commits, r.Bytes, r.TornBytes, r.Unclosed = found.seq, found.good, found.cut, !found.clean || found.cut > 0
	r.state = logState{nonce: found.base.nonce, commits: found.seq, bytes: found.good}
	if err := noted.missing(path, found); err != nil {
		r.problem("%v", err)
	}
	return r, r.inspect(l.Store(), indexer)
}

// inspect checks the collections that were read: first whether they agree with each other and
// with their indexes, and then what is left of those that do not.
func (r *Report) inspect(data *mem.Store, indexer storage.Indexer) error {
	opts := kv.Options{Name: Name, Indexer: indexer, Rebuild: &kv.Rebuild{}}
	e, err := kv.Open(data, opts)
	if err != nil {
		r.problem("%v", err)
		opts.Rebuild.Repair = &kv.Repair{}
		if e, err = kv.Open(data, opts); err != nil {
			return nil // the problem that was noted
		}
	}
	defer func() { _ = e.Close() }() // nothing is written
	return inspect.Engine(context.Background(), e, &r.Report)
}
