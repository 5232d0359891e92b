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
	old    bool // of the first format
	format int
	nonce  uint64
	seq    uint64 // of the last complete group
	good   int64  // where it ends
	cut    int64  // bytes removed after it
	clean  bool   // the log was closed properly
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

func (p *progress) begin(f *os.File) error {
	if p == nil {
		return nil
	}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	p.size = st.Size()
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

// recoverFile truncates a log after its last complete group: an incomplete
// group at the end was never synced. Damage to synced groups, or a log that is
// shorter than the state file says, is an error, and the file is not changed.
// apply, if not nil, receives the operations of each group.
func recoverFile(path string, noted logState, p *progress, apply func([]op) error) (scanned, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return scanned{}, noted.missing(path, scanned{})
	}
	if err != nil {
		return scanned{}, err
	}
	defer f.Close()
	found, err := scanLog(f, path, p, apply)
	if err == nil {
		err = noted.missing(path, found)
	}
	if err != nil {
		return scanned{}, err
	}
	if found.cut == 0 {
		return found, nil
	}
	if err := f.Truncate(found.good); err != nil {
		return scanned{}, err
	}
	return found, f.Sync()
}

// scanLog reads a log; errors name it.
func scanLog(f *os.File, path string, p *progress, apply func([]op) error) (scanned, error) {
	if err := checkFormat(f, path); err != nil {
		return scanned{}, err
	}
	if err := p.begin(f); err != nil {
		return scanned{}, err
	}
	found, err := scanFile(f, p, apply)
	var damage *DamageError
	if errors.As(err, &damage) {
		damage.Path = path
		return found, damage
	}
	if err != nil {
		return found, fmt.Errorf("%s: %w", path, err)
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
		found.old = s.old
		if err == nil && (h.seq != found.seq+1 || !s.hdr) {
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
		found.header, found.nonce, found.format = true, s.nonce, s.format
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
	find := findHead
	if found.old {
		find = findOldMarker
	}
	err = find(f, found.nonce, func(h head) bool {
		lost = h.synced > found.seq
		return !lost
	})
	if err == nil && lost {
		err = &DamageError{Offset: found.good, Commit: found.seq + 1}
	}
	return err
}
