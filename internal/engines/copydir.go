package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/storage"
)

// unfinishedName is the file that a directory has while data are copied into
// it. The process that copies has it locked.
const unfinishedName = "duskdb.copying"

// UnfinishedError reports a directory into which data were being copied.
type UnfinishedError struct{ Dir string }

// Error says how to go on.
func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("%s has an unfinished copy (%s): run \"duskdb copy\" into it once more, which starts over, or remove the directory", e.Dir, unfinishedName)
}

// errCopying reports that another process copies into a directory.
var errCopying = errors.New("another process copies data into this directory")

// Location is where an engine has its data.
type Location struct{ Engine, Path string }

// ParseLocation reads ENGINE:DIR.
func ParseLocation(text string) (Location, error) {
	name, path, ok := strings.Cut(text, ":")
	if !ok || path == "" || !slices.Contains(localNames(), name) {
		var forms []string
		for _, name := range localNames() {
			forms = append(forms, name+":DIR")
		}
		return Location{}, fmt.Errorf("%q is no place of data: it must be %s", text, strings.Join(forms, " or "))
	}
	if path == Memory {
		return Location{}, fmt.Errorf("%q: data in memory cannot be copied, they end with the process", text)
	}
	return Location{name, path}, nil
}

// localNames are the names of the engines that have their data in a directory.
func localNames() []string {
	return slices.DeleteFunc(Names(), Remote)
}

// String returns ENGINE:DIR.
func (l Location) String() string { return l.Engine + ":" + l.Path }

// Step is called during a copy: with the number of bytes that will be read in
// all, first, and then with what has been read since the last call.
type Step func(total, bytes int64)

// Copy copies the data of an engine that no server uses to a directory of
// another engine, which must be empty, missing or have an unfinished copy, and
// compares the copy with the original. o is for both engines.
func Copy(ctx context.Context, from, to Location, o Options, step Step) (done Copied, err error) {
	source, err := openSource(from, o)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := beginCopy(from, to)
	if err != nil {
		return done, err
	}
	if done, err = copyInto(ctx, source.Engine, to, o, step); err != nil {
		return done, errors.Join(err, target.Close())
	}
	return done, endCopy(to.Path, target)
}

// openSource opens an engine whose data must exist.
func openSource(from Location, o Options) (Opened, error) {
	e, err := ofDir(from.Path)
	if err != nil {
		return Opened{}, err
	}
	if e.name != from.Engine {
		return Opened{}, fmt.Errorf("%s has data of the storage engine %s: name it %s:%s", from.Path, e.name, e.name, from.Path)
	}
	o.Path, o.CompactMinBytes, o.Repair = from.Path, -1, false
	return e.openAt(o)
}

// beginCopy makes the target and marks it as unfinished. Of an earlier copy
// that has not been finished nothing remains. It returns the marker, which is
// locked.
func beginCopy(from, to Location) (marker *os.File, err error) {
	if same(from.Path, to.Path) {
		return nil, fmt.Errorf("%s cannot be copied into itself", from.Path)
	}
	again := exists(to.Path, unfinishedName)
	if !again {
		missing, err := emptyOrMissing(to.Path)
		if err != nil {
			return nil, err
		}
		if missing {
			if err := os.MkdirAll(to.Path, 0o700); err != nil {
				return nil, explain(to.Path, err)
			}
		}
	}
	marker, err = lockFile(filepath.Join(to.Path, unfinishedName))
	if err != nil {
		return nil, explain(to.Path, err)
	}
	if again {
		err = removeOthers(to.Path)
	}
	if err == nil {
		err = syncDir(to.Path)
	}
	if err != nil {
		return nil, errors.Join(err, marker.Close())
	}
	return marker, nil
}

// same reports whether two paths lead to the same directory.
func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// removeOthers removes everything but the marker: the directory was empty when
// the copy into it began.
func removeOthers(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != unfinishedName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// copyInto copies to the target, closes it, and compares what it has when it
// is opened again.
func copyInto(ctx context.Context, source storage.Engine, to Location, o Options, step Step) (done Copied, err error) {
	t := &transfer{from: source}
	size, err := t.size(ctx)
	if err != nil {
		return done, err
	}
	total := 2 * size
	t.tick = func(bytes int64) { step(total, bytes) }
	step(total, 0)
	e, err := named(to.Engine)
	if err != nil {
		return done, err
	}
	o.Path, o.CompactMinBytes, o.Repair = to.Path, 0, false
	var prints []*imprint
	err = during(e, o, func(target storage.Engine) (err error) {
		prints, err = t.copyTo(ctx, target)
		return err
	})
	if err != nil {
		return done, err
	}
	err = during(e, o, func(target storage.Engine) (err error) {
		done, err = t.compare(ctx, target, prints)
		return err
	})
	return done, err
}

// during opens an engine for a function, and closes it.
func during(e *engine, o Options, fn func(storage.Engine) error) error {
	opened, err := e.openAt(o)
	if err != nil {
		return err
	}
	return errors.Join(fn(opened.Engine), opened.Close())
}

// endCopy turns the target into a data directory like any other.
func endCopy(dir string, marker *os.File) error {
	if err := removeLocked(marker); err != nil {
		return err
	}
	return syncDir(dir)
}
