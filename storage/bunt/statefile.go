package bunt

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
)

// stateName is the name of the state file, which says how much of the log is known to be on disk:
// the nonce of its first file, the number of commits, and the bytes of all files. It is written when a log is
// created, compacted or closed, always after the log has been synced, so that
// it never claims more than is on disk; after a crash it claims less, or
// belongs to the previous log. A log that is shorter than its state file says
// has lost its end; the log itself cannot show that.
const stateName = "duskdb.state"

// logState is the content of the state file.
type logState struct {
	nonce   uint64
	commits uint64
	bytes   int64
}

const stateFormat = "duskdb-state-1\nlog %016x\ncommits %d\nbytes %d\n"

// String returns the text of the file, with a checksum at its end.
func (s logState) String() string {
	text := fmt.Sprintf(stateFormat, s.nonce, s.commits, s.bytes)
	return fmt.Sprintf("%ssum %08x\n", text, crc32.Checksum([]byte(text), castagnoli))
}

// readState reads the state file of a directory. The result is zero, and
// claims nothing, if the file is missing or a crash left it unreadable.
func readState(dir string) (s logState, err error) {
	path := filepath.Join(dir, stateName)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return logState{}, nil
	}
	if err == nil {
		err = checkState(string(b), path)
	}
	if err != nil {
		return logState{}, err
	}
	if _, err := fmt.Sscanf(string(b), stateFormat, &s.nonce, &s.commits, &s.bytes); err != nil || s.String() != string(b) {
		return logState{}, nil
	}
	return s, nil
}

// writeState replaces the state file of a directory.
func (d *disk) writeState(dir string, s logState) error {
	path := filepath.Join(dir, stateName)
	temp := path + ".new"
	err := d.at("state", path)
	if err == nil {
		err = os.WriteFile(temp, []byte(s.String()), d.fileMode())
	}
	none := (*disk)(nil) // a missing file is not an error
	if err == nil {
		err = none.syncPath(temp)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err == nil {
		err = none.syncPath(dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), removeIfThere(temp))
	}
	return nil
}

// noted is the engine's view of its state file.
type noted struct {
	mu    sync.Mutex
	state logState
}

// noteState writes the state file for a synced log. If it fails the log is
// still valid, but a loss of its end cannot be detected.
func (e *Engine) noteState(s logState) {
	e.noted.mu.Lock()
	defer e.noted.mu.Unlock()
	if s.bytes == 0 || s.nonce == e.noted.state.nonce && s.bytes <= e.noted.state.bytes {
		return
	}
	if err := e.disk.writeState(e.opts.Path, s); err != nil {
		e.opts.Logger("storage: %v", err)
		return
	}
	e.noted.state = s
}

// state returns the content of the state file for a log that has been synced
// completely.
func (j *journal) state() (logState, error) {
	st, err := os.Stat(j.path)
	if err != nil {
		return logState{}, err
	}
	return logState{nonce: j.base, commits: j.seq, bytes: j.older + st.Size()}, nil
}

// ShortLogError reports a log that has lost its end, or all of its content.
type ShortLogError struct {
	Path           string
	Bytes, Noted   int64  // present size, and size in the state file
	Commits, Known uint64 // likewise
}

// Error says what the operator can do.
func (e *ShortLogError) Error() string {
	if e.Bytes == 0 {
		return fmt.Sprintf("%s is missing or empty, and had %d bytes with %d commits: restore it from a backup, or remove %s as well to begin without data",
			e.Path, e.Noted, e.Known, filepath.Join(filepath.Dir(e.Path), stateName))
	}
	return fmt.Sprintf("%s has lost its end: it holds %d bytes with %d commits, and had at least %d bytes with %d commits; restore it from a backup, or start with --repair to go on without what is lost",
		e.Path, e.Bytes, e.Commits, e.Noted, e.Known)
}

// missing compares a log with the state file. A log with another nonce is not
// the one in the state file: it comes from a compaction that a crash
// interrupted at its end, or an operator put it there.
func (s logState) missing(path string, found scanned) error {
	if s.bytes == 0 || found.header && found.base.nonce != s.nonce || found.seq >= s.commits && found.good >= s.bytes {
		return nil
	}
	return &ShortLogError{Path: path, Bytes: found.good, Noted: s.bytes, Commits: found.seq, Known: s.commits}
}
