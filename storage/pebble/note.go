package pebble

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// noteName is a file beside the logs that says which there are, and up to which commit
// they are on disk: neither is to be seen in the logs that are left when one is gone.
// It claims a log before anything is written to it, with a sync, and a
// commit after that was synced, without one of its own. So it never claims more than is on
// disk. It has two places, which are written in turns, for a crash while one is written.
const noteName = "duskdb.logs"

const (
	notePlaces = 2
	noteBytes  = 1024
	// notedLogs is how many logs are noted, more than are ever not in tables.
	notedLogs = 16
)

// noted is what the note says.
type noted struct {
	format int    // format of the data directory; 0: there is no note
	turn   uint64 // how often it was written
	commit uint64 // number of the last commit known to be on disk
	logs   []notedLog
}

// notedLog is a log that has been written to.
type notedLog struct {
	number uint64
	begin  uint64 // number of the last commit that is in earlier logs
}

const (
	noteFormat    = "duskdb-logs-1\nformat %d\nturn %d\ncommit %d\nlogs %d\n"
	notedLogLine  = "log %d behind %d\n"
	noteSumFormat = "sum %08x\n"
)

// encode returns the text of one place, with a checksum at its end.
func (n *noted) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, noteFormat, n.format, n.turn, n.commit, len(n.logs))
	for _, l := range n.logs {
		fmt.Fprintf(&b, notedLogLine, l.number, l.begin)
	}
	fmt.Fprintf(&b, noteSumFormat, crc32.Checksum(b.Bytes(), castagnoli))
	return append(b.Bytes(), bytes.Repeat([]byte("\n"), noteBytes-b.Len())...)
}

// decodeNote reads one place.
func decodeNote(b []byte) (n noted, ok bool) {
	r, count := bytes.NewReader(b), 0
	if _, err := fmt.Fscanf(r, noteFormat, &n.format, &n.turn, &n.commit, &count); err != nil || count > notedLogs {
		return noted{}, false
	}
	for range count {
		var l notedLog
		if _, err := fmt.Fscanf(r, notedLogLine, &l.number, &l.begin); err != nil {
			return noted{}, false
		}
		n.logs = append(n.logs, l)
	}
	return n, bytes.Equal(n.encode(), b)
}

// readNote reads the note of a directory of logs. Without one, or if it is damaged, it
// claims nothing.
func readNote(dir string) (n noted, err error) {
	b, err := os.ReadFile(filepath.Join(dir, noteName))
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	for at := 0; at+noteBytes <= len(b); at += noteBytes {
		if m, ok := decodeNote(b[at : at+noteBytes]); ok && (n.format == 0 || m.turn > n.turn) {
			n = m
		}
	}
	return n, nil
}

// missing returns an error if a log that was noted is not in a list, although it is not in
// tables.
func (n *noted) missing(dir string, first uint64, numbers []uint64) error {
	var names []string
	for _, l := range n.logs {
		if l.number >= first && !slices.Contains(numbers, l.number) {
			names = append(names, filepath.Join(dir, logName(l.number)))
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("the log %s is missing", names[0])
	}
	return fmt.Errorf("the logs %s are missing", strings.Join(names, ", "))
}

// begin is the number of the last commit before the newest log, if that is not before the
// one with a number.
func (n *noted) begin(first uint64) (commit uint64, ok bool) {
	if len(n.logs) == 0 {
		return 0, false
	}
	l := n.logs[len(n.logs)-1]
	return l.begin, l.number >= first
}

// logNote keeps the note of an engine that is open.
type logNote struct {
	dir  string
	mode os.FileMode
	at   func(step, path string) error
	fail func(error) // called if the note cannot be written: it claims less then

	mu   sync.Mutex
	file *os.File // nil before the first write
	now  noted
}

// open makes or opens the file.
func (n *logNote) open() (err error) {
	if n.file != nil {
		return nil
	}
	if n.file, err = os.OpenFile(filepath.Join(n.dir, noteName), os.O_CREATE|os.O_WRONLY, n.mode); err != nil {
		return err
	}
	return syncDir(n.dir)
}

// close closes the file.
func (n *logNote) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil {
		return nil
	}
	return n.file.Close()
}

// log notes a log to which nothing has been written.
func (n *logNote) log(number, behind uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now.logs = append(n.now.logs, notedLog{number, behind})
	if over := len(n.now.logs) - notedLogs; over > 0 {
		n.now.logs = slices.Delete(n.now.logs, 0, over)
	}
	n.write(true)
}

// synced notes that all commits up to one are on disk.
func (n *logNote) synced(commit uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if commit > n.now.commit {
		n.now.commit = commit
		n.write(false)
	}
}

// write writes the place whose turn it is.
func (n *logNote) write(sync bool) {
	n.now.turn++
	path := filepath.Join(n.dir, noteName)
	err := n.at("note", path)
	if err == nil {
		err = n.open()
	}
	if err == nil {
		_, err = n.file.WriteAt(n.now.encode(), int64(n.now.turn%notePlaces)*noteBytes)
	}
	if err == nil && sync {
		err = n.file.Sync()
	}
	if err != nil {
		n.fail(fmt.Errorf("write %s: %w", path, err))
	}
}
