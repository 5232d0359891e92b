package bunt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// DamageError reports a log with damage before its end: bytes that had been
// synced have changed.
type DamageError struct {
	Path    string
	Offset  int64  // where the damage begins, in the files of the log one after the other
	Commit  uint64 // the first commit that cannot be read; 0 if the header is damaged
	Missing bool   // the file is not there

	within int64 // Offset in the file
}

// Error names the offset and what the operator can do.
func (e *DamageError) Error() string {
	if e.Missing {
		return fmt.Sprintf("%s is missing, and is a part of the log; restore it from a backup, or start with --repair to keep what is left", e.Path)
	}
	what := fmt.Sprintf("commit %d, which had been written to disk whole", e.Commit)
	if e.Commit == 0 {
		what = "its beginning; it may be no DuskDB log at all"
	}
	return fmt.Sprintf("%s is damaged at byte %d: %s; restore it from a backup, or start with --repair to keep what is left",
		e.Path, e.within, what)
}

// damagedFrom returns the offset where the damage of a refused log begins; ok
// is false if the log was refused for a reason that cannot be repaired.
func damagedFrom(err error) (offset int64, ok bool) {
	var damage *DamageError
	if errors.As(err, &damage) {
		return damage.Offset, true
	}
	var short *ShortLogError
	if errors.As(err, &short) && short.Bytes > 0 {
		return short.Bytes, true
	}
	return 0, false
}

// salvage writes the readable groups of a log that is damaged at from into a
// new log, renames the damaged files, and puts the new one in their place.
func salvage(path string, from int64, noted logState, refused error) (*Repair, error) {
	c, err := openChain(path, os.O_RDONLY)
	if c == nil {
		return nil, err
	}
	defer c.close()
	temp := filepath.Join(filepath.Dir(path), tempName)
	next, err := createJournal(temp, nil, header{next: 1}, 0)
	if err != nil {
		return nil, err
	}
	s := &salvager{chain: c, next: next, report: Repair{Offset: from, ops: newLostOps()}}
	err = s.run()
	if err == nil && s.report.Commits == 0 {
		err = fmt.Errorf("nothing in it can be salvaged: %w", refused)
	}
	s.loseEnd(noted)
	if err == nil {
		err = (*disk)(nil).syncPath(temp)
	}
	if err == nil {
		next.synced = func() uint64 { return next.seq }
		err = next.finish()
	}
	err = errors.Join(err, next.close())
	if err == nil {
		s.report.Kept, err = replaceDamaged(c, temp)
	}
	if err != nil {
		_ = os.Remove(temp)
		return nil, fmt.Errorf("repair %s: %w", path, err)
	}
	return &s.report, nil
}

// replaceDamaged puts temp in the place of a damaged log. Each damaged file exists under
// one of its names at every moment.
func replaceDamaged(c *chain, temp string) (kept string, err error) {
	for i := len(c.segments) - 1; i >= 0; i-- {
		if kept, err = keepDamaged(c.segments[i].path); err != nil {
			return "", err
		}
	}
	if err := (*disk)(nil).syncPath(temp); err != nil {
		return "", err
	}
	if err := os.Rename(temp, c.base); err != nil {
		return "", err
	}
	for _, s := range c.segments {
		if s.number == 0 {
			continue
		}
		if err := os.Remove(s.path); err != nil {
			return "", err
		}
	}
	return kept, (*disk)(nil).syncPath(filepath.Dir(c.base))
}

// keepDamaged gives a file a second name.
func keepDamaged(path string) (kept string, err error) {
	for n := 1; ; n++ {
		kept = fmt.Sprintf("%s.damaged-%d", path, n)
		if err = os.Link(path, kept); !errors.Is(err, os.ErrExist) {
			return kept, err
		}
	}
}

// salvager reads the complete groups of a damaged log.
type salvager struct {
	chain  *chain
	next   *journal
	base   header // the header of the first file
	known  bool   // whether that could be read
	passed bool   // whether seq is of a file behind the base
	seq    uint64
	report Repair
}

// run copies the complete groups before and after each damaged place, and
// counts what lies between them.
func (s *salvager) run() error {
	size := s.chain.size
	if s.passed = s.chain.segments[0].number > 0; !s.passed { // else the base is missing
		if err := s.findHeader(); err != nil {
			return err
		}
	}
	for off := int64(0); off < size; {
		end, err := s.groups(off, size)
		if err != nil {
			return err
		}
		if end >= size {
			return nil
		}
		if off, err = s.resync(end, size); err != nil {
			return err
		}
		s.report.LostBytes += off - end
		if err := s.readLost(end, off); err != nil {
			return err
		}
	}
	return nil
}

// loseEnd counts the commits that are missing at the end of the log according
// to its state file.
func (s *salvager) loseEnd(noted logState) {
	if s.known && noted.nonce == s.base.nonce && noted.commits > s.seq {
		s.report.LostCommits += int64(noted.commits - s.seq)
	}
}

// findHeader looks for the header of the base, which is in its first group, even if the rest
// of that group cannot be read.
func (s *salvager) findHeader() error {
	begin := make([]byte, tornHeader)
	n, err := s.chain.ReadAt(begin, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	i := bytes.Index(begin[:n], []byte(formatPrefix))
	if i < 0 || i+headerSize > n {
		return nil
	}
	hd, ok := decodeHeader(string(begin[i : i+headerSize]))
	if !ok {
		return nil
	}
	return findHead(s.chain.reader(), hd.nonce, func(head) bool {
		s.base, s.known = hd, true
		return false
	})
}

// scanner reads groups from a place on. Without the nonce of the file there, only the
// checksums of the groups show that heads are genuine.
func (s *salvager) scanner(off, size int64) *scanner {
	sc := newScanner(io.NewSectionReader(s.chain, off, size-off))
	hd, known := s.base, s.known
	if at := s.chain.at(off); at.number > 0 {
		hd, known = headerOf(at.file)
	}
	sc.nonce, sc.hdr, sc.trusting = hd.nonce, known, !known
	return sc
}

// groups writes the complete groups from off on to the new log. It returns the
// end of the last one.
func (s *salvager) groups(off, size int64) (end int64, err error) {
	sc := s.scanner(off, size)
	end = off
	for {
		h, err := sc.group()
		if err != nil {
			return end, unlessUnreadable(err)
		}
		s.pass(sc, off+sc.off)
		if h.seq > s.seq+1 {
			s.report.LostCommits += int64(h.seq - s.seq - 1)
		}
		s.seq, end = h.seq, off+sc.off
		s.report.Commits++
		if err := s.write(sc.ops); err != nil {
			return end, err
		}
	}
}

// pass takes the groups before those behind the base as read, if the base stands for them, or
// if that is not known. A group of sc ends at end.
func (s *salvager) pass(sc *scanner, end int64) {
	if s.passed || s.chain.at(end-1).number == 0 {
		return
	}
	s.passed = true
	switch {
	case s.base.after > 0:
		s.seq = s.base.after
	case !s.known && sc.begins:
		s.seq = max(s.seq, sc.header.after)
	}
}

// unlessUnreadable returns nil for errors which say that bytes are not a
// group.
func unlessUnreadable(err error) error {
	if errors.Is(err, errDamaged) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// write commits a group without its header; the new log has its own header.
func (s *salvager) write(ops []op) error {
	s.report.ops.supersede(ops)
	ops = slices.DeleteFunc(ops, func(o op) bool { return o.kind == opHeader })
	if len(ops) == 0 {
		return nil
	}
	return s.next.commit(ops)
}

// resync finds the next complete group after damage at off.
func (s *salvager) resync(off, size int64) (int64, error) {
	for off++; off < size; off++ {
		var err error
		if off, err = s.findCommand(off, size); err != nil || off >= size {
			return size, err
		}
		if _, err := s.scanner(off, size).group(); err == nil {
			return off, nil
		} else if err := unlessUnreadable(err); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// findCommand finds where the next group seems to begin.
func (s *salvager) findCommand(off, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for off < size {
		n, err := s.chain.ReadAt(buf, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.Index(buf[:n], groupCommand); i >= 0 {
			return off + int64(i), nil
		}
		if n < len(buf) {
			return size, nil
		}
		off += int64(n - len(groupCommand))
	}
	return size, nil
}
