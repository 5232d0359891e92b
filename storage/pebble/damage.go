package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
// all, and remove the tables that it does not know. Logs are another matter, see journal.
func verify(dir string) (j journal, err error) {
	d, err := pebble.Peek(dir, vfs.Default)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil // Pebble makes it
	}
	if err != nil {
		return j, &DamageError{Dir: dir, Err: tell(err)}
	}
	if !d.Exists {
		return j, pristine(dir)
	}
	b, err := os.ReadFile(d.ManifestFilename)
	if err != nil {
		return j, damage(dir, err)
	}
	if at := damagedAt(b, 0); at >= 0 {
		return j, &DamageError{Dir: dir, Err: fmt.Errorf("%s is damaged at byte %d", d.ManifestFilename, at)}
	}
	if j, err = readJournal(dir, readEdits(b)); err != nil {
		return j, damage(dir, err)
	}
	return j, nil
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
