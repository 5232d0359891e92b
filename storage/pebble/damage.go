package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// DamageError reports data files that are damaged or not there.
type DamageError struct {
	Dir string
	Err error
}

// Error says what was found and what can be done.
func (e *DamageError) Error() string {
	return fmt.Sprintf("the data files in %s are damaged or incomplete: %v. They were left as they are: put back what is missing, or restore a backup with \"duskdb restore\"", e.Dir, e.Err)
}

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// damage makes a DamageError of what Pebble found, unless it is an error of the
// system, such as a full disk or a lack of rights.
func damage(dir string, err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) && errno != syscall.ENOENT || errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrBroken) {
		return err
	}
	return &DamageError{Dir: dir, Err: err}
}

// verify looks at Pebble's files before it is let to them. Where the name of the
// manifest is lost, Pebble would begin a new store over the old one, and where
// the manifest is damaged in the middle, it would take what comes before for
// all, and remove the tables that it does not know.
func verify(dir string) error {
	d, err := pebble.Peek(dir, vfs.Default)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // Pebble makes it
	}
	if err != nil {
		return &DamageError{Dir: dir, Err: err}
	}
	if !d.Exists {
		return pristine(dir)
	}
	b, err := os.ReadFile(d.ManifestFilename)
	if err != nil {
		return damage(dir, err)
	}
	if at := damagedAt(b, 0); at >= 0 {
		return &DamageError{Dir: dir, Err: fmt.Errorf("%s is damaged at byte %d", d.ManifestFilename, at)}
	}
	return nil
}

// pristine returns an error if there are data in a directory without a manifest.
func pristine(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sst") || isLog(e.Name()) {
			return &DamageError{Dir: dir, Err: fmt.Errorf("there are data (%s), and no marker.manifest names their manifest", e.Name())}
		}
	}
	return nil
}

// damagedLogs describes logs that are damaged before their end. When it opens
// them, Pebble takes what comes before the damage for all: it looks like the
// end of a log that was not synced.
func damagedLogs(dir string) (problems []string, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		number, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(path), ".log"), 10, 32)
		if err != nil {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if at := damagedAt(b, uint32(number)); at >= 0 {
			problems = append(problems, fmt.Sprintf("%s is damaged at byte %d: the writes from there on are lost", path, at))
		}
	}
	return problems, nil
}

// Logs and manifests consist of blocks, and these of chunks: a checksum, the
// length, a kind, in a log its number, and the data.
const (
	blockBytes     = 32 << 10
	manifestHeader = 7
	logHeader      = manifestHeader + 4
)

// damagedAt finds a chunk that is not whole although there is a whole one behind
// it; -1: none. What is not whole at the very end was being written when the
// process or the machine ended. log is the number of the log, whose file may
// have the rest of an earlier one behind its own; 0: a manifest.
func damagedAt(b []byte, log uint32) int {
	at := 0
	for at < len(b) {
		end, whole := chunk(b, at, log)
		if !whole {
			break
		}
		at = end
	}
	for i := at + 1; i < len(b); i++ {
		if _, whole := chunk(b, i, log); whole && blockBytes-i%blockBytes >= manifestHeader {
			return at
		}
	}
	return -1
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chunk reads the chunk at a place and returns where it ends. The rest of a
// block that has no room for a chunk counts as one.
func chunk(b []byte, at int, log uint32) (end int, whole bool) {
	block := min(at-at%blockBytes+blockBytes, len(b))
	if room := blockBytes - at%blockBytes; room < manifestHeader {
		return at + room, true
	}
	header, first := manifestHeader, byte(1)
	if log != 0 {
		header, first = logHeader, 5
	}
	if at+header > block {
		return 0, false
	}
	kind := b[at+6] - first
	end = at + header + int(binary.LittleEndian.Uint16(b[at+4:]))
	if kind > 3 || end > block || end == at+header {
		return 0, false
	}
	if log != 0 && binary.LittleEndian.Uint32(b[at+manifestHeader:]) != log {
		return 0, false
	}
	sum := crc32.Checksum(b[at+6:end], castagnoli)
	return end, binary.LittleEndian.Uint32(b[at:]) == (sum>>15|sum<<17)+0xa282ead8
}
