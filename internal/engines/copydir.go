package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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

// Step is called during a copy: with the number of bytes that will be read in
// all, first, and then with what has been read since the last call.
type Step func(total, bytes int64)

// Copy copies the data of an engine to another place, which must be empty, missing
// or have an unfinished copy, and compares the copy with the original. No server may
// use a directory. o is for both engines.
func Copy(ctx context.Context, from, to Location, o Options, step Step) (done Copied, err error) {
	source, err := openSource(from, o)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := newTarget(ctx, from, to, o)
	if err != nil {
		return done, err
	}
	if done, err = copyInto(ctx, source.Engine, target, step); err == nil {
		err = target.Finish(ctx)
	}
	return done, errors.Join(err, target.Close())
}

// newTarget makes a place the target of a copy.
func newTarget(ctx context.Context, from, to Location, o Options) (Target, error) {
	e, err := named(to.Engine)
	if err != nil {
		return nil, err
	}
	o.CompactMinBytes, o.Repair = 0, false
	if !e.remote {
		return newDirectory(e, from, to.Path, o)
	}
	if from.URI == to.URI {
		return nil, fmt.Errorf("%s cannot be copied into itself", from)
	}
	o.URI = to.URI
	return e.code.Target(ctx, o)
}

// directory is a Target on disk. It is marked as unfinished.
type directory struct {
	engine  *engine
	options Options
	marker  *os.File // locked
	over    bool
}

func newDirectory(e *engine, from Location, path string, o Options) (*directory, error) {
	marker, err := beginCopy(from.Path, path)
	if err != nil {
		return nil, err
	}
	o.Path = path
	return &directory{engine: e, options: o, marker: marker}, nil
}

// Open opens the engine.
func (d *directory) Open(context.Context) (storage.Engine, error) {
	opened, err := d.engine.openAt(d.options)
	return opened.Engine, err
}

// Held returns nil: the marker is locked as long as the process lives.
func (d *directory) Held(context.Context) error { return nil }

// Finish turns the directory into a data directory like any other.
func (d *directory) Finish(context.Context) error {
	d.over = true
	if err := removeLocked(d.marker); err != nil {
		return err
	}
	return syncDir(d.options.Path)
}

// Close releases the marker, and leaves it.
func (d *directory) Close() error {
	if d.over {
		return nil
	}
	return d.marker.Close()
}

// openSource opens an engine whose data must exist.
func openSource(from Location, o Options) (Opened, error) {
	o.CompactMinBytes, o.Repair = -1, false
	if Remote(from.Engine) {
		e, err := named(from.Engine)
		if err != nil {
			return Opened{}, err
		}
		o.URI, o.MustExist = from.URI, true
		return e.openAt(o)
	}
	e, err := ofDir(from.Path)
	if err != nil {
		return Opened{}, err
	}
	if e.name != from.Engine {
		return Opened{}, fmt.Errorf("%s has data of the storage engine %s: name it %s:%s", from.Path, e.name, e.name, from.Path)
	}
	o.Path = from.Path
	return e.openAt(o)
}

// beginCopy makes the target and marks it as unfinished. Of an earlier copy
// that has not been finished nothing remains. It returns the marker, which is
// locked.
func beginCopy(from, to string) (marker *os.File, err error) {
	if same(from, to) {
		return nil, fmt.Errorf("%s cannot be copied into itself", from)
	}
	again := exists(to, unfinishedName)
	if !again {
		missing, err := emptyOrMissing(to)
		if err != nil {
			return nil, err
		}
		if missing {
			if err := os.MkdirAll(to, 0o700); err != nil {
				return nil, explain(to, err)
			}
		}
	}
	marker, err = lockFile(filepath.Join(to, unfinishedName))
	if err != nil {
		return nil, explain(to, err)
	}
	if again {
		err = removeOthers(to)
	}
	if err == nil {
		err = syncDir(to)
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
func copyInto(ctx context.Context, source storage.Engine, target Target, step Step) (done Copied, err error) {
	total := int64(0)
	t := &transfer{from: source}
	t.begin = func(bytes int64) { total = 2 * bytes; step(total, 0) }
	t.tick = func(bytes int64) { step(total, bytes) }
	var prints []*imprint
	err = during(ctx, target, func(engine storage.Engine) (err error) {
		t.update = func(ctx context.Context, fn func(storage.Tx) error) error {
			if err := target.Held(ctx); err != nil {
				return err
			}
			if sharer, ok := engine.(storage.Sharer); ok {
				return sharer.UpdateShared(ctx, fn)
			}
			return engine.Update(ctx, fn)
		}
		prints, err = t.copyTo(ctx, engine)
		return err
	})
	if err != nil {
		return done, err
	}
	err = during(ctx, target, func(engine storage.Engine) (err error) {
		done, err = t.compare(ctx, engine, prints)
		return err
	})
	return done, err
}

// during opens an engine for a function, and closes it.
func during(ctx context.Context, target Target, fn func(storage.Engine) error) error {
	e, err := target.Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fn(e), e.Close())
}
