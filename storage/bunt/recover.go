package bunt

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// scanned is the result of reading a log.
type scanned struct {
	header bool
	base   header   // the header of the first file
	passed bool     // the file behind a base that stands for others was reached
	nonce  uint64   // the nonce of the file read last
	seq    uint64   // the number of the last complete group
	good   int64    // where it ends in the chain
	cut    int64    // bytes removed after it
	clean  bool     // the log was closed properly
	last   segment  // the file to go on in, if it is not the base; without a descriptor
	left   []string // files that are superfluous
	older  int64    // bytes of the files before the last
}

// tornHeader is the size below which a file without a header is one whose
// creation was interrupted.
const tornHeader = 512

// progressEach is the number of bytes of a log after which progress is reported.
const progressEach = 4 << 20

// progress reports how far the reading of a log has got.
type progress struct {
	report func(read, size int64) // nil: to nobody
	check  func() error           // called with each report; nil: not
	size   int64
	next   int64
}

func (p *progress) begin(size int64) error {
	if p == nil {
		return nil
	}
	p.size = size
	return p.at(0)
}

func (p *progress) at(read int64) error {
	if p == nil || read < p.next && read < p.size {
		return nil
	}
	p.next = read + progressEach
	if p.report != nil {
		p.report(read, p.size)
	}
	if p.check != nil {
		return p.check()
	}
	return nil
}

// recoverLog truncates a log after its last complete group: an incomplete
// group at the end was never synced. Damage to synced groups, or a log that is
// shorter than the state file says, is an error, and no file is changed.
// apply receives the operations of each group.
func recoverLog(path string, noted logState, p *progress, apply func([]op) error) (scanned, error) {
	c, err := openChain(path, os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		return scanned{}, noted.missing(path, scanned{})
	}
	if c != nil {
		defer c.close()
	}
	if err != nil {
		return scanned{}, err
	}
	found, err := scanLog(c, p, apply)
	if err == nil {
		err = noted.missing(path, found)
	}
	if err == nil && found.cut > 0 {
		err = c.cut(found.good)
	}
	if err == nil {
		err = c.end(&found)
	}
	if err != nil {
		return scanned{}, err
	}
	return found, nil
}

// end notes where the log goes on. A last file that has not even a header is removed.
func (c *chain) end(found *scanned) error {
	if s := c.last(); s.number > 0 && s.size == 0 {
		if err := os.Remove(s.path); err != nil {
			return err
		}
		_ = s.file.Close()
		c.segments = c.segments[:len(c.segments)-1]
	}
	found.last, found.older, found.left = *c.last(), c.last().begin, c.left
	return nil
}

// scanLog reads all files of a log; errors name the file.
func scanLog(c *chain, p *progress, apply func([]op) error) (scanned, error) {
	for i := range c.segments {
		if err := checkFormat(c.segments[i].file, c.segments[i].path); err != nil {
			return scanned{}, err
		}
	}
	if err := p.begin(c.size); err != nil {
		return scanned{}, err
	}
	found, err := scanFile(c.reader(), p, apply)
	last := c.last()
	incomplete := found.good < last.begin || // which was written before the last file was made
		found.good == last.begin && last.number > 0 && last.size > headerBytes // whose header was written before anything else
	if err == nil && found.base.after > 0 && !found.passed && !found.clean { // it was whole when it got its name
		return found, &DamageError{Path: c.base, Offset: found.good, within: found.good, Commit: found.seq + 1}
	}
	if err == nil && incomplete {
		err = &DamageError{Offset: found.good, Commit: found.seq + 1}
	}
	if err == nil && len(c.segments) == 1 && found.base.after > 0 {
		found.seq = found.base.after
	}
	var damage *DamageError
	if errors.As(err, &damage) {
		return found, c.damaged(damage)
	}
	if err != nil {
		return found, fmt.Errorf("%s: %w", c.at(found.good).path, err)
	}
	return found, nil
}

// scanFile reads a log group by group, checks sequence numbers and checksums,
// and passes the operations to apply.
func scanFile(f io.ReadSeeker, p *progress, apply func([]op) error) (scanned, error) {
	var found scanned
	s := newScanner(f)
	for {
		h, err := s.group()
		if err == nil && !found.follows(s, h) {
			err = errDamaged
		}
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return found, err
		}
		if err != nil {
			return found, found.judge(f)
		}
		found.header, found.nonce = true, s.nonce
		found.seq, found.good = h.seq, s.off
		found.clean = h.ops == 0
		if err := p.at(s.off); err != nil {
			return found, err
		}
		if apply != nil {
			if err := apply(s.ops); err != nil {
				return found, err
			}
		}
	}
}

// follows reports whether a group follows those before it.
func (found *scanned) follows(s *scanner, h head) bool {
	switch {
	case !found.header:
		if !s.begins || s.header.number > 0 {
			return false
		}
		found.base = s.header
	case s.begins && s.header.number == found.base.next && found.base.after > 0:
		if !found.clean { // the base has lost its end
			return false
		}
		found.seq, found.passed = found.base.after, true // the base stands for all up to there
	}
	return h.seq == found.seq+1 && (!s.begins || s.header.number == 0 || s.header.after == found.seq)
}

// judge decides whether the bytes after the last complete group may be
// removed: not if a later head says that they had been synced.
func (found *scanned) judge(f io.ReadSeeker) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	found.cut = size - found.good
	if !found.header {
		if size > tornHeader {
			return &DamageError{}
		}
		return nil
	}
	if _, err := f.Seek(found.good, io.SeekStart); err != nil {
		return err
	}
	lost := false
	err = findHead(f, found.nonce, func(h head) bool {
		lost = h.synced > found.seq
		return !lost
	})
	if err == nil && lost {
		err = &DamageError{Offset: found.good, Commit: found.seq + 1}
	}
	return err
}
