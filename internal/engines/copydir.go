package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// unfinishedName is the file that a directory has while data are copied into
// it. The process that copies has it locked. It has the name of the command.
const unfinishedName = storage.UnfinishedName

// The commands that copy data into a directory.
const (
	copying   = "copy"
	restoring = "restore"
)

// UnfinishedError reports a directory into which data were being copied.
type UnfinishedError struct {
	Dir string
	By  string // the command, "" if it ended before it said so
}

// Error says how to go on.
func (e *UnfinishedError) Error() string {
	if e.By == "" {
		return fmt.Sprintf("%s has an unfinished copy or restore (%s), of which nothing is known: run that command once more, or remove the directory", e.Dir, unfinishedName)
	}
	return fmt.Sprintf("%s has an unfinished %s (%s): run \"duskdb %s\" into it once more, which starts over, or remove the directory", e.Dir, e.By, unfinishedName, e.By)
}

// markedBy is the command that has marked a directory as unfinished; "" if it ended before it wrote
// its name, or while that cannot be read.
func markedBy(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, unfinishedName)) // on some systems not while the command runs
	if by := strings.TrimSpace(string(text)); err == nil && (by == copying || by == restoring) {
		return by
	}
	return ""
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
	source, err := openSource(ctx, from, o)
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
		return newDirectory(e, from, to.Path, copying, o)
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

func newDirectory(e *engine, from Location, path, by string, o Options) (*directory, error) {
	marker, err := beginCopy(from.Path, path, by)
	if err != nil {
		return nil, err
	}
	o.Path = path
	return &directory{engine: e, options: o, marker: marker}, nil
}

// Open opens the engine.
func (d *directory) Open(ctx context.Context) (storage.Engine, error) {
	opened, err := d.engine.openAt(ctx, d.options)
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
func openSource(ctx context.Context, from Location, o Options) (Opened, error) {
	o.CompactMinBytes, o.Repair = -1, false
	if Remote(from.Engine) {
		e, err := named(from.Engine)
		if err != nil {
			return Opened{}, err
		}
		o.URI, o.MustExist = from.URI, true
		return e.reach(ctx, from, o)
	}
	e, err := ofDir(from.Path)
	if err != nil {
		return Opened{}, err
	}
	if e.name != from.Engine {
		return Opened{}, fmt.Errorf("%s has data of the storage engine %s: name it %s:%s", from.Path, e.name, e.name, from.Path)
	}
	o.Path = from.Path
	return e.openAt(ctx, o)
}

// notice is the time after which a copy says that it waits for a database.
const notice = 2 * time.Second

// reach opens an engine over a database, and gives up after o.Patience.
func (e *engine) reach(ctx context.Context, at Location, o Options) (Opened, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var said atomic.Bool
	log := o.Logger
	if log == nil {
		log = func(string, ...any) {}
	}
	o.Logger = func(format string, args ...any) {
		said.Store(true)
		log(format, args...)
	}
	noticed, over := clock.System().After(notice), (<-chan time.Time)(nil)
	if o.Patience > 0 {
		over = clock.System().After(o.Patience)
	}
	go func() {
		for {
			select {
			case <-noticed:
				if !said.Load() { // the engine says why it waits, but not always so soon
					log("waiting for the database %s", at)
				}
			case <-over:
				cancel(fmt.Errorf("the database did not answer within %s", o.Patience))
			case <-ctx.Done():
				return
			}
		}
	}()
	return e.openAt(ctx, o)
}

// beginCopy makes the target and marks it as unfinished. Of an earlier copy
// that has not been finished nothing remains. It returns the marker, which is
// locked.
func beginCopy(from, to, by string) (marker *os.File, err error) {
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
		err = writeMark(marker, by)
	}
	if err == nil {
		err = syncDir(to)
	}
	if err != nil {
		return nil, errors.Join(err, marker.Close())
	}
	return marker, nil
}

// writeMark writes the name of a command to a marker.
func writeMark(marker *os.File, by string) error {
	err := marker.Truncate(0)
	if err == nil {
		_, err = marker.WriteAt([]byte(by+"\n"), 0)
	}
	return errors.Join(err, marker.Sync())
}

// giveUp ends a copy that has failed. A directory into which nothing was copied is left as it was,
// but for being there.
func giveUp(dir string, marker *os.File) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) == 1 {
		return removeLocked(marker)
	}
	return errors.Join(err, marker.Close())
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
