package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/datadir"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// store is a kv.Store over Pebble.
type store struct {
	opts  Options
	db    *pebble.DB
	fs    *files
	merge *scheduler
	dir   *os.File // the locked lock file
	dirty chan struct{}

	broken  atomic.Pointer[error] // Pebble has failed for good
	trouble *trouble              // failures of flushes and compactions
	space   space

	note    *logNote      // nil in memory, and if nothing is written
	lost    string        // what the end of the log had lost before opening; "": nothing is known to be
	commits atomic.Uint64 // number of the last commit
	reached atomic.Uint64 // greatest number of a commit that the file system has

	syncing sync.Mutex    // held by one sync
	written atomic.Uint64 // commits that the file system has
	synced  atomic.Uint64 // all commits up to this are on disk
	syncs   atomic.Int64
	times   storage.Durations // durations of syncs
	backups atomic.Int64
	failed  atomic.Int64

	uses uses
	open struct {
		sync.Mutex
		list map[*snapshot]struct{}
	}

	closing    context.Context // ends when Close begins
	close      context.CancelFunc
	life       context.Context
	end        context.CancelFunc
	background sync.WaitGroup
}

// openStore locks the directory and opens Pebble.
func openStore(opts Options) (*store, error) {
	s := &store{opts: opts, merge: newScheduler(), dirty: make(chan struct{}, 1)}
	s.open.list = map[*snapshot]struct{}{}
	s.closing, s.close = context.WithCancel(context.Background())
	s.life, s.end = context.WithCancel(context.Background())
	s.trouble = &trouble{clock: opts.Clock, done: s.life.Done(), log: opts.Logger, failed: make(chan struct{}, 1), merge: make(chan struct{}, 1)}
	s.fs = &files{FS: vfs.NewMem(), fault: opts.Fault, wait: s.trouble.wait}
	path := ""
	if s.persistent() {
		var err error
		if opts.readOnly {
			s.dir, err = datadir.LockForReading(opts.Path)
		} else {
			s.dir, err = openDirectory(opts.Path, opts.FileMode)
		}
		if err != nil {
			s.end()
			return nil, err
		}
		s.fs.FS, s.fs.mode = vfs.Default, opts.FileMode
		path = filepath.Join(opts.Path, filesName)
		s.fs.dir = path
	}
	if s.space.usage = opts.usage; s.space.usage == nil {
		s.space.usage = s.diskUsage
	}
	s.fs.tight = s.tight
	if err := s.openPebble(path); err != nil {
		s.end()
		if s.dir != nil {
			err = errors.Join(err, s.dir.Close())
		}
		return nil, err
	}
	s.space.step = int64(s.memtable() / 4)
	s.measure()
	s.background.Go(s.syncInBackground)
	return s, nil
}

// openPebble opens Pebble, whose failures end in a panic of this goroutine.
func (s *store) openPebble(path string) (err error) {
	if s.persistent() {
		j, err := verify(path)
		if err != nil {
			return err
		}
		s.continueLog(path, j)
	}
	defer s.recovered(&err)
	if s.db, err = pebble.Open(path, s.options()); err != nil {
		return damage(path, tell(err))
	}
	s.merge.begin()
	return nil
}

// continueLog begins with what is known about the logs.
func (s *store) continueLog(path string, j journal) {
	s.lost = j.lost
	s.commits.Store(j.commit)
	s.reached.Store(j.commit)
	if s.opts.readOnly {
		return
	}
	if j.lost != "" {
		s.lost = j.keepLost(s.opts.Path, s.opts.FileMode)
		s.opts.Logger("storage: %s", s.lost)
	}
	s.note = &logNote{dir: path, mode: s.opts.FileMode, at: s.fs.at, now: j.note, fail: func(err error) {
		s.trouble.say("note", "storage: %v", err)
	}}
	s.note.now.format = newestFormat
	s.fs.begun = func(number uint64) { s.note.log(number, s.reached.Load()) }
}

func (s *store) persistent() bool { return s.opts.Path != Memory }

// memtable is the size of a table of recent writes: a part of the cache, and of
// a small disk.
func (s *store) memtable() uint64 {
	size := uint64(min(max(s.opts.CacheBytes/8, 4<<20), 64<<20))
	if total, _, err := s.space.usage(); err == nil {
		size = min(size, max(total/memtableOfDisk, 1<<20))
	}
	return size
}

func (s *store) options() *pebble.Options {
	o := &pebble.Options{
		FS:                          s.fs,
		CacheSize:                   s.opts.CacheBytes - s.opts.valueCacheBytes(),
		ReadOnly:                    s.opts.readOnly,
		MemTableSize:                s.memtable(),
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       1000,
		LBaseMaxBytes:               64 << 20,
		MaxOpenFiles:                1000,
		BytesPerSync:                512 << 10,
		FlushDelayDeleteRange:       0,
		// Later formats state in the log what was synced; here that is not known when
		// the log is written.
		FormatMajorVersion: pebble.FormatColumnarBlocks,
		// Opening reads the manifest as a whole.
		MaxManifestFileSize:        1 << 20,
		CompactionConcurrencyRange: func() (int, int) { return 1, max(1, min(runtime.GOMAXPROCS(0)-1, 3)) },
		Logger:                     logger{s},
		EventListener: &pebble.EventListener{
			BackgroundError: s.trouble.background,
			FlushEnd:        s.trouble.flushed,
			CompactionEnd:   s.trouble.compacted,
			DataCorruption:  s.trouble.corrupted,
			DiskSlow:        s.trouble.slow,
		},
	}
	o.Experimental.CompactionScheduler = s.merge
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].FilterType = pebble.TableFilter
	}
	o.Levels[len(o.Levels)-1].FilterPolicy = pebble.NoFilterPolicy // Get does not use those of the last level
	return o
}

// failure is the error that writes get, if any.
func (s *store) failure() error {
	if err := s.broken.Load(); err != nil {
		return *err
	}
	return s.trouble.refused()
}

// breakWith makes the store fail for good.
func (s *store) breakWith(err error) error {
	err = fmt.Errorf("%w: %w", ErrBroken, tell(err))
	if s.broken.CompareAndSwap(nil, &err) {
		s.opts.Logger("storage: %v", err)
	}
	return *s.broken.Load()
}

// logger receives Pebble's messages.
type logger struct{ s *store }

// Infof drops messages about ordinary work.
func (logger) Infof(string, ...any) {}

// Errorf logs an error.
func (l logger) Errorf(format string, args ...any) {
	l.s.trouble.say(format, "storage: %s", plain(fmt.Sprintf(format, args...)))
}

// Fatalf makes the store fail. Pebble expects that it does not return: it ends
// what called it, by a panic that the store catches, or else Pebble's own
// goroutine.
func (l logger) Fatalf(format string, args ...any) {
	cause := errors.New(plain(fmt.Sprintf(format, args...)))
	for _, a := range args {
		if err, ok := a.(error); ok {
			cause = &explained{cause, err}
		}
	}
	err := l.s.breakWith(cause)
	if calledByStore() {
		panic(fatal{err})
	}
	runtime.Goexit()
}

// explained is a message with the error that it contains.
type explained struct {
	error
	cause error
}

func (e *explained) Unwrap() error { return e.cause }

// fatal is what Fatalf panics with.
type fatal struct{ err error }

// given are the types whose methods Pebble calls.
var given = []string{"files", "file", "walFile", "trouble", "scheduler"}

// calledByStore reports whether the store has called what runs, other than
// through what it has given to Pebble.
func calledByStore() bool {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		f, more := frames.Next()
		if _, method, ok := strings.Cut(f.Function, "duskdb/storage/pebble.(*"); ok && !slices.ContainsFunc(given, func(t string) bool { return strings.HasPrefix(method, t+")") }) {
			return true
		}
		if !more {
			return false
		}
	}
}

// recovered turns a failure of Pebble in this goroutine into an error.
func (s *store) recovered(err *error) {
	switch p := recover().(type) {
	case nil:
	case fatal:
		*err = p.err
	case error:
		*err = s.breakWith(p)
	default:
		*err = s.breakWith(fmt.Errorf("%v", p))
	}
}

// Apply commits a write set. Its wait ends when the log has been handed to the
// file system.
func (s *store) Apply(ctx context.Context, w *kv.WriteSet) (wait func() error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.uses.begin() {
		return nil, storage.ErrClosed
	}
	b, number, err := s.apply(w)
	if err != nil {
		s.uses.end()
		return nil, err
	}
	return func() error {
		defer s.uses.end()
		return s.applied(b, number)
	}, nil
}

func (s *store) apply(w *kv.WriteSet) (b *pebble.Batch, number uint64, err error) {
	if err := s.failure(); err != nil {
		return nil, 0, err
	}
	if err := s.roomFor(w); err != nil {
		return nil, 0, err
	}
	defer s.recovered(&err)
	b = s.db.NewBatch()
	// The number of the commit is in the log alone, and is no key.
	number = s.commits.Add(1)
	if err := b.LogData(binary.LittleEndian.AppendUint64(nil, number), nil); err != nil {
		return nil, 0, err
	}
	for i := range w.Writes {
		if x := &w.Writes[i]; x.Value != nil {
			err = b.Set(x.Key, x.Value, nil)
		} else {
			err = b.Delete(x.Key, nil)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	for _, d := range w.Drops {
		if err := b.DeleteRange(d.Lo, d.Hi, nil); err != nil {
			return nil, 0, err
		}
	}
	if err := s.db.ApplyNoSyncWait(b, pebble.Sync); err != nil {
		return nil, 0, s.breakWith(err)
	}
	return b, number, nil
}

// applied waits until a batch is written to the file system: what Pebble takes
// for a sync, see walFile.
func (s *store) applied(b *pebble.Batch, number uint64) (err error) {
	defer s.recovered(&err)
	if err := b.SyncWait(); err != nil {
		return s.breakWith(err)
	}
	if err := s.broken.Load(); err != nil {
		return *err
	}
	for was := s.reached.Load(); was < number && !s.reached.CompareAndSwap(was, number); was = s.reached.Load() {
	}
	s.written.Add(1)
	select {
	case s.dirty <- struct{}{}:
	default:
	}
	return b.Close()
}

// Sync returns when all commits are on disk.
func (s *store) Sync(ctx context.Context) error {
	if !s.uses.begin() {
		return storage.ErrClosed
	}
	defer s.uses.end()
	return s.sync(ctx)
}

func (s *store) sync(ctx context.Context) error {
	target := s.written.Load()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if err := s.broken.Load(); err != nil {
		return *err
	}
	if s.synced.Load() >= target {
		return nil
	}
	upTo, reached := s.written.Load(), s.reached.Load()
	s.syncs.Add(1)
	began := clock.System().Now()
	err := s.fs.syncLog()
	s.times.Observe(clock.System().Now().Sub(began))
	if err != nil {
		// The system may have discarded the dirty pages: another sync would succeed
		// without having written them.
		s.failed.Add(1)
		return s.breakWith(fmt.Errorf("sync: %w", err))
	}
	s.synced.Store(upTo)
	if s.note != nil {
		s.note.synced(reached)
	}
	return nil
}

// syncInBackground syncs commits that no caller waits for, within the journal
// interval.
func (s *store) syncInBackground() {
	for {
		select {
		case <-s.dirty:
		case <-s.life.Done():
			return
		}
		timer := s.opts.Clock.NewTimer(s.opts.JournalInterval)
		select {
		case <-timer.C():
		case <-s.life.Done():
			timer.Stop()
			return
		}
		if err := s.sync(s.life); err != nil {
			s.opts.Logger("storage: %v", err)
		}
		s.measure()
	}
}

// Compact writes the tables anew, without what was overwritten.
func (s *store) Compact(ctx context.Context) (err error) {
	if !s.uses.begin() {
		return storage.ErrClosed
	}
	defer s.uses.end()
	if err := s.failure(); err != nil {
		return err
	}
	defer s.recovered(&err)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	crowded := s.whenCrowded(ctx, cancel)
	err = s.db.Compact(ctx, []byte{0}, []byte{0xff}, false)
	switch {
	case err != nil && s.closing.Err() != nil:
		return storage.ErrClosed
	case err != nil && crowded.Load():
		return errCrowded
	}
	return tell(err)
}

// Stats fills in sizes and counters.
func (s *store) Stats(st *storage.EngineStats) error {
	st.Syncs, st.SyncErrors, st.SyncTimes = s.syncs.Load(), s.failed.Load(), s.times.Counts()
	if !s.persistent() || !s.uses.begin() {
		return nil
	}
	defer s.uses.end()
	m := s.db.Metrics()
	// Logs count with what is in them: their files are used again.
	st.FileBytes = int64(m.DiskSpaceUsage() - m.WAL.PhysicalSize - m.WAL.ObsoletePhysicalSize + m.WAL.Size)
	return nil
}

// Close syncs, writes what is in memory to tables, so that opening does not repeat
// the log, and closes Pebble. After a failure it leaves Pebble as it is,
// which might wait for what will never end.
func (s *store) Close() error {
	s.close()
	if !s.uses.close() {
		return nil
	}
	s.end()
	s.background.Wait()
	var err error
	if s.broken.Load() == nil {
		err = s.sync(context.Background())
	}
	if s.broken.Load() == nil {
		err = errors.Join(err, s.flush())
	}
	if s.broken.Load() == nil {
		s.closeSnapshots()
		err = errors.Join(err, s.closePebble())
	} else {
		err = *s.broken.Load()
	}
	if s.note != nil {
		err = errors.Join(err, s.note.close())
	}
	if s.dir != nil {
		err = errors.Join(err, s.dir.Close())
	}
	return err
}

func (s *store) closePebble() (err error) {
	defer s.recovered(&err)
	return tell(s.db.Close())
}
