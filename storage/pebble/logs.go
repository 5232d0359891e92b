package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Pebble repeats the logs that it finds, in the order of their numbers. The numbers have
// gaps, which tables have, so Pebble does not miss a log that is gone, and would show
// a state that never existed. But the sequence numbers of keys have no gaps, and the
// note says which logs there are (see logNote). The end of the last log is
// another matter: a crash of the machine may tear it off, so the engine opens with the
// commits before that, and says how many are lost, if that can be known.

// journal is what is known about the logs before Pebble opens them.
type journal struct {
	note   noted
	logs   []foundLog // those that are not in tables, in their order
	commit uint64     // number of the last commit; 0 if it is not known
	lost   string     // what the end of the last log has lost; "": nothing is known to be
}

// foundLog is a log with its whole records.
type foundLog struct {
	records
	number uint64
	name   string
	first  uint64 // sequence number of the first key
	next   uint64 // the sequence number that the next log begins with; 0 if there is no record
	behind uint64 // number of the last commit before this log; 0 if it is not known
	commit uint64 // greatest number of a commit; 0 if no record has one
	hole   int    // where the sequence numbers have a gap; -1: nowhere
	rest   rest
}

// rest is what a log has behind its last whole record.
type rest struct {
	from    int    // the first whole chunk there, or the mark of a log that was closed; -1: there is neither
	commits int    // commits that end there
	commit  uint64 // greatest number of one of them that is whole; 0 if none has one
}

// readJournal reads the logs in a directory. It returns an error if one is missing.
func readJournal(dir string, e edits) (j journal, err error) {
	if j.note, err = readNote(dir); err != nil {
		return j, err
	}
	numbers, err := logsFrom(dir, e.firstLog)
	if err != nil {
		return j, err
	}
	if err := j.note.missing(dir, e.firstLog, numbers); err != nil {
		return j, err
	}
	j.commit = j.note.commit
	for i, n := range numbers {
		l, err := readLog(dir, n, i == len(numbers)-1)
		if err != nil {
			return j, err
		}
		j.commit = max(j.commit, l.commit)
		j.logs = append(j.logs, l)
	}
	if err := j.chain(e); err != nil {
		return j, err
	}
	j.compare(dir)
	return j, nil
}

// logsFrom lists the numbers of the logs in a directory, from one on.
func logsFrom(dir string, first uint64) (numbers []uint64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if n, ok := logNumber(e.Name()); ok && n >= first {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// logNumber is the number in the name of a log.
func logNumber(name string) (n uint64, ok bool) {
	digits, ok := strings.CutSuffix(filepath.Base(name), ".log")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

func logName(number uint64) string { return fmt.Sprintf("%06d.log", number) }

// readLog reads a log.
func readLog(dir string, number uint64, last bool) (l foundLog, err error) {
	l = foundLog{number: number, name: logName(number), hole: -1}
	b, err := os.ReadFile(filepath.Join(dir, l.name))
	if err != nil {
		return l, err
	}
	at := 0
	l.records = readRecords(b, uint32(number), func(head []byte) {
		l.add(head, at)
		at++
	})
	l.rest.from = -1
	if !l.closed {
		l.rest.read(b, l.at+1, uint32(number))
	}
	if !last && !l.closed {
		return l, fmt.Errorf("%s is damaged at byte %d", l.name, l.at)
	}
	return l, nil
}

// A batch has a header with the sequence number of its first key and the number of its
// keys. The first entry of ours is no key, and has the number of the commit.
const (
	batchHeader = 8 + 4
	logData     = 3 // the kind of such an entry
)

// batchOf reads the header of a batch, and the number of the commit, which is 0 if it has none.
func batchOf(head []byte) (sequence, keys, commit uint64) {
	if len(head) < batchHeader {
		return 0, 0, 0
	}
	f := fields(head[batchHeader:])
	if f.number() == logData {
		if b := f.bytes(); len(b) == 8 {
			commit = binary.LittleEndian.Uint64(b)
		}
	}
	return binary.LittleEndian.Uint64(head), uint64(binary.LittleEndian.Uint32(head[8:])), commit
}

// firstSequence is the sequence number of the first key of all.
const firstSequence = 10

// add takes a record.
func (l *foundLog) add(head []byte, at int) {
	sequence, keys, commit := batchOf(head)
	if keys == 0 {
		return
	}
	if l.next == 0 {
		l.first, l.behind = sequence, max(commit, 1)-1
	} else if sequence != l.next && l.hole < 0 {
		l.hole = at
	}
	l.next = sequence + keys
	l.commit = max(l.commit, commit)
}

// read looks for whole chunks behind a place where there is none.
func (r *rest) read(b []byte, at int, log uint32) {
	begun := false
	for {
		found := nextChunk(b, at, log)
		if found < 0 {
			break
		}
		if at = found; r.from < 0 {
			r.from = at
		}
		c, _ := readChunk(b, at, log)
		if c.kind == fullChunk || c.kind == firstChunk {
			_, _, commit := batchOf(c.data)
			r.commit, begun = max(r.commit, commit), true
		}
		if begun && (c.kind == fullChunk || c.kind == lastChunk) {
			r.commits, begun = r.commits+1, false
		}
		at = c.end
	}
	if r.from < 0 {
		r.from = nextTrailer(b, at, log)
	}
}

// chain returns an error if the logs do not follow one another without a gap.
func (j *journal) chain(e edits) error {
	before, next := "", uint64(0)
	for _, l := range j.logs {
		switch {
		case l.hole >= 0:
			return fmt.Errorf("%s lacks commits before its record %d", l.name, l.hole+1)
		case l.next == 0:
			continue
		case next == 0 && l.first > max(e.lastKey+1, firstSequence):
			return fmt.Errorf("commits are missing before %s: a log with a smaller number is gone", l.name)
		case next != 0 && l.first != next:
			return fmt.Errorf("commits are missing between %s and %s: a log with a number between theirs is gone", before, l.name)
		}
		before, next = l.name, l.next
	}
	return nil
}

// compare finds out what the last log has lost at its end.
func (j *journal) compare(dir string) {
	if len(j.logs) == 0 {
		return
	}
	l := &j.logs[len(j.logs)-1]
	last, noted := j.note.begin(j.logs[0].number)
	for _, l := range j.logs {
		last = max(last, l.commit)
	}
	greatest, lost := l.rest.commit, uint64(0)
	if noted {
		greatest = max(greatest, j.note.commit)
	}
	if greatest > last && (noted || last > 0) {
		lost = greatest - last
	}
	j.commit = max(j.commit, l.rest.commit)
	path := filepath.Join(dir, l.name)
	switch {
	case l.rest.from >= 0:
		j.lost = fmt.Sprintf("%s is damaged at byte %d: %s, from there on", path, l.at, lastCommits(lost, l.rest.commits))
	case lost > 0:
		j.lost = fmt.Sprintf("%s has lost its end, behind byte %d: %s", path, l.end, lastCommits(lost, 0))
	}
}

// lastCommits says how many commits are lost: as many as their numbers say, or at least those
// that can be counted and the one that is damaged.
func lastCommits(lost uint64, counted int) string {
	switch {
	case lost == 1 && counted == 0:
		return "its last commit is lost"
	case lost > uint64(counted):
		return fmt.Sprintf("its last %d commits are lost", lost)
	}
	return fmt.Sprintf("at least its last %d commits are lost", counted+1)
}

// notes is a note about the logs as they are.
func (j *journal) notes() noted {
	n := noted{format: newestFormat}
	for _, l := range j.logs {
		if l.next != 0 {
			n.logs = append(n.logs, notedLog{l.number, l.behind})
			n.commit = max(n.commit, l.commit)
		}
	}
	return n
}
