package bunt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tidwall/buntdb"

	"github.com/duskdb/duskdb/storage"
)

// DamageError reports a log that is damaged in the middle: something that
// had been on disk whole is not what was written.
type DamageError struct {
	Path   string
	Offset int64  // where the damage begins
	Commit uint64 // the first commit that cannot be read; 0 if the header is damaged
}

// Error names the place and the ways out.
func (e *DamageError) Error() string {
	what := fmt.Sprintf("commit %d, which had been written to disk whole", e.Commit)
	if e.Commit == 0 {
		what = "its beginning; it may be no DuskDB log at all"
	}
	return fmt.Sprintf("%s is damaged at byte %d: %s; restore it from a backup, or start with --repair to keep what is left",
		e.Path, e.Offset, what)
}

// Repair tells what Options.Repair saved of a damaged log, and what not.
type Repair struct {
	Offset      int64  // where the damage begins
	Kept        string // where the damaged file is now
	Commits     int64  // commits that were saved
	LostCommits int64  // commits known to be lost; there may be more at the end
	LostBytes   int64  // bytes of the file that could not be read
	LostRecords int64  // records dropped because newer ones contradict them
}

// String says it in one line.
func (r *Repair) String() string {
	return fmt.Sprintf("the log was damaged at byte %d: saved %d commits, lost %d commits (%d bytes) and %d records that contradict later ones; the damaged file is kept as %s",
		r.Offset, r.Commits, r.LostCommits, r.LostBytes, r.LostRecords, r.Kept)
}

// salvage writes what can be read of a damaged log into a new one, keeps the
// damaged file beside it and puts the new one in its place.
func salvage(path string, damage *DamageError, logf func(string, ...any)) (*Repair, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	temp := filepath.Join(filepath.Dir(path), tempName)
	next, _, err := openJournal(temp, nil, logf)
	if err != nil {
		return nil, err
	}
	s := &salvager{file: f, next: next, report: Repair{Offset: damage.Offset}}
	err = s.run()
	if err == nil && s.report.Commits == 0 {
		err = fmt.Errorf("nothing in it can be saved: %w", damage)
	}
	if err == nil {
		err = (*disk)(nil).syncPath(temp)
	}
	if err == nil {
		next.synced = func() uint64 { return next.seq }
		err = next.finish()
	}
	err = errors.Join(err, next.close())
	if err == nil {
		s.report.Kept, err = replaceDamaged(path, temp)
	}
	if err != nil {
		_ = os.Remove(temp)
		return nil, fmt.Errorf("repair %s: %w", path, err)
	}
	return &s.report, nil
}

// replaceDamaged puts temp in the place of path, which stays as a file of
// another name at every moment.
func replaceDamaged(path, temp string) (kept string, err error) {
	for n := 1; ; n++ {
		kept = fmt.Sprintf("%s.damaged-%d", path, n)
		if err = os.Link(path, kept); !errors.Is(err, os.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	if err := (*disk)(nil).syncPath(temp); err != nil {
		return "", err
	}
	if err := os.Rename(temp, path); err != nil {
		return "", err
	}
	return kept, (*disk)(nil).syncPath(filepath.Dir(path))
}

// salvager reads the complete groups of a damaged log.
type salvager struct {
	file   *os.File
	next   *journal
	nonce  uint64
	known  bool // the nonce was found
	seq    uint64
	ops    []op
	report Repair
}

func (s *salvager) run() error {
	size, err := s.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if err := s.findNonce(); err != nil {
		return err
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
	}
	return nil
}

// findNonce looks for the header, which is in the first group, also where
// the rest of that group cannot be read. Without it markers are trusted for
// the checksums of their groups alone.
func (s *salvager) findNonce() error {
	head := make([]byte, tornHeader)
	n, err := s.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if i := bytes.Index(head[:n], []byte(formatName)); i >= 0 && i+len(formatName)+8 <= n {
		nonce, _ := decodeHeader(head[i : i+len(formatName)+8])
		err := findMarker(io.NewSectionReader(s.file, 0, 1<<40), nonce, func(marker) bool {
			s.nonce, s.known = nonce, true
			return false
		})
		return err
	}
	return nil
}

func (s *salvager) scanner(off, size int64) *scanner {
	sc := newScanner(io.NewSectionReader(s.file, off, size-off))
	sc.nonce, sc.trusting = s.nonce, !s.known
	return sc
}

// groups writes complete groups from off on to the new log. It returns where
// the last of them ends.
func (s *salvager) groups(off, size int64) (end int64, err error) {
	sc := s.scanner(off, size)
	sc.keep = func(del bool, key, value []byte) {
		if string(key) != keyHeader {
			s.ops = append(s.ops, op{key: string(key), value: string(value), del: del})
		}
	}
	end = off
	for {
		s.ops = nil
		m, err := sc.group()
		if err != nil {
			if errors.Is(err, errDamaged) || err == io.ErrUnexpectedEOF || err == io.EOF {
				return end, nil
			}
			return end, err
		}
		if m.seq > s.seq+1 {
			s.report.LostCommits += int64(m.seq - s.seq - 1)
		}
		s.seq, end = m.seq, off+sc.off
		s.report.Commits++
		if err := s.write(); err != nil {
			return end, err
		}
	}
}

// write commits a group, without deletions of what was never there.
func (s *salvager) write() error {
	kept := s.ops[:0]
	err := s.next.db.View(func(tx *buntdb.Tx) error {
		for _, o := range s.ops {
			if o.del {
				if _, err := tx.Get(o.key); err != nil {
					continue
				}
			}
			kept = append(kept, o)
		}
		return nil
	})
	if err != nil || len(kept) == 0 {
		return err
	}
	return s.next.commit(kept)
}

// resync finds where the next complete group begins, behind damage at off.
// The commands of a group stand in no order, so that one cannot tell from a
// command whether it is the first: any run of as many commands as a marker
// among them says, with the right checksum, is the group.
func (s *salvager) resync(off, size int64) (int64, error) {
	for off++; off < size; {
		start, err := s.findCommand(off, size)
		if err != nil || start >= size {
			return size, err
		}
		group, broken, err := s.findGroup(start, size)
		if err != nil || group >= 0 {
			return group, err
		}
		off = broken + 1
	}
	return size, nil
}

// commandStarts are how commands begin.
var commandStarts = [][]byte{[]byte("*3\r\n$3\r\nset\r\n"), []byte("*2\r\n$3\r\ndel\r\n")}

func (s *salvager) findCommand(off, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for off < size {
		n, err := s.file.ReadAt(buf, off)
		if err != nil && err != io.EOF {
			return 0, err
		}
		first := -1
		for _, c := range commandStarts {
			if i := bytes.Index(buf[:n], c); i >= 0 && (first < 0 || i < first) {
				first = i
			}
		}
		if first >= 0 {
			return off + int64(first), nil
		}
		if n < len(buf) {
			return size, nil
		}
		off += int64(n - len(commandStarts[0]))
	}
	return size, nil
}

// seen is one command that findGroup passed.
type seen struct {
	off int64
	sum uint64 // of all commands before it
}

// findGroup reads commands from off on until some of them make a group, and
// returns where that begins; -1, and where it cannot be read on, if none do.
func (s *salvager) findGroup(off, size int64) (group, broken int64, err error) {
	sc := s.scanner(off, size)
	var passed []seen
	var sum uint64
	mark, m := -1, marker{} // the last marker
	for {
		at := sc.off
		del, err := sc.command()
		if err != nil {
			if errors.Is(err, errDamaged) || err == io.EOF || err == io.ErrUnexpectedEOF {
				return -1, off + at, nil
			}
			return -1, 0, err
		}
		passed = append(passed, seen{off + at, sum})
		if string(sc.key) != keyMarker {
			sum += opSum(del, sc.key, sc.value)
		} else if found, ok := decodeMarker(sc.value, s.nonce); ok || !s.known && len(sc.value) == markerSize {
			if mark >= 0 { // what is before the marker before belongs to no group of this one
				passed = passed[mark+1:]
			}
			mark, m = len(passed)-1, found
		}
		if first := len(passed) - 1 - int(m.ops); mark >= 0 && first >= 0 && first <= mark && sum-passed[first].sum == m.sum {
			return passed[first].off, 0, nil
		}
	}
}

// dropConflicts removes records that a later one contradicts in a unique
// index: the commit that removed them or changed them is lost.
func (l *loader) dropConflicts(c *coll) error {
	for i := range c.info.Indexes {
		x := c.info.Indexes[i].Index
		if !x.Unique() {
			continue
		}
		owner := map[string]storage.RecordID{}
		var older []storage.RecordID
		var err error
		c.records.Scan(func(id storage.RecordID, stored string) bool {
			var keys [][]byte
			if keys, _, err = x.Keys(nil, record(id, stored)); err != nil {
				return false
			}
			for _, k := range keys {
				k = x.Order(k)
				if other := owner[string(k)]; other != 0 && other != id {
					older = append(older, other)
				}
				owner[string(k)] = id
			}
			return true
		})
		if err == nil {
			err = l.dropRecords(c, older)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) dropRecords(c *coll, ids []storage.RecordID) error {
	var ops []op
	for _, id := range ids {
		if old, ok := c.records.Delete(id); ok {
			c.size -= int64(len(storedDoc(old)))
			ops = append(ops, op{key: recordKey(c.num, id), del: true})
		}
	}
	if len(ops) == 0 {
		return nil
	}
	l.e.repair.LostRecords += int64(len(ops))
	return l.e.writeLog(ops)
}

// dropNamesake removes the older of two collections of one name: the commit
// that dropped or renamed it is lost.
func (l *loader) dropNamesake(r *root, c *coll) error {
	old := r.get(c.info.Namespace)
	if old == nil {
		return nil
	}
	l.e.repair.LostRecords += int64(old.records.Len())
	l.e.orphans.add(old)
	return l.e.writeLog([]op{{key: numberKey(prefixCatalog, old.num), del: true}})
}
