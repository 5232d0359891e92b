package bunt

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
)

// The state file notes beside the log how much of it is certainly on disk: of
// which log, by its nonce, how many commits and bytes. It is written when a log
// is made, compacted or closed, always behind the sync of the log, so that it
// never promises more than is there; a crash leaves one that promises less, or
// that of the log before. A log that is shorter has lost its end, which nothing
// in the log itself can tell.
const stateName = "duskdb.state"

// logState is what the state file says.
type logState struct {
	nonce   uint64
	commits uint64
	bytes   int64
}

const stateFormat = "duskdb-state-1\nlog %016x\ncommits %d\nbytes %d\n"

// String is the content of the file, with a checksum at its end.
func (s logState) String() string {
	text := fmt.Sprintf(stateFormat, s.nonce, s.commits, s.bytes)
	return fmt.Sprintf("%ssum %08x\n", text, crc32.Checksum([]byte(text), castagnoli))
}

// readState reads the state file of a directory. It is zero, and promises
// nothing, if there is none, or a crash left it unreadable.
func readState(dir string) (s logState, err error) {
	b, err := os.ReadFile(filepath.Join(dir, stateName))
	if errors.Is(err, os.ErrNotExist) {
		return logState{}, nil
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
	none := (*disk)(nil) // it fails as a whole
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

// noted is what the state file of an engine says.
type noted struct {
	mu    sync.Mutex
	state logState
}

// noteState writes down how much of the log is on disk, which must have been
// synced. Without it the log is as good, only its end is not guarded.
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

// state is what may be noted of a log once all of it is synced.
func (j *journal) state() (logState, error) {
	st, err := os.Stat(j.path)
	if err != nil {
		return logState{}, err
	}
	return logState{nonce: j.nonce, commits: j.seq, bytes: st.Size()}, nil
}

// ShortLogError reports a log that has lost its end, or all.
type ShortLogError struct {
	Path           string
	Bytes, Noted   int64  // that it has, and that it had
	Commits, Known uint64 // likewise
}

// Error names the ways out.
func (e *ShortLogError) Error() string {
	if e.Bytes == 0 {
		return fmt.Sprintf("%s is missing or empty, and had %d bytes with %d commits: restore it from a backup, or remove %s as well to begin without data",
			e.Path, e.Noted, e.Known, filepath.Join(filepath.Dir(e.Path), stateName))
	}
	return fmt.Sprintf("%s has lost its end: it holds %d bytes with %d commits, and had at least %d bytes with %d commits; restore it from a backup, or start with --repair to go on without what is lost",
		e.Path, e.Bytes, e.Commits, e.Noted, e.Known)
}

// missing compares what was found in a log with what the state file notes. A
// log with another nonce is not the one that was noted: that of a compaction
// which a crash interrupted at its end, or one that somebody put there.
func (s logState) missing(path string, found scanned) error {
	if s.bytes == 0 || found.header && found.nonce != s.nonce || found.seq >= s.commits && found.good >= s.bytes {
		return nil
	}
	return &ShortLogError{Path: path, Bytes: found.good, Noted: s.bytes, Commits: found.seq, Known: s.commits}
}
