package bunt

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidwall/buntdb"
)

// ErrBroken is returned for writes after a failure that leaves the state of
// the file unknown. Reads still work. Writes work again once the engine has
// rewritten the log, which it tries in the background, or after a restart.
var ErrBroken = errors.New("a write to the log failed; writes are refused until the log has been rewritten")

// journal is the log: a BuntDB database with one key. Each commit sets its value to the
// group of the commit.
type journal struct {
	db       *buntdb.DB // nil in memory
	file     *os.File   // its descriptor, for direct.go; nil: only its transactions write
	slow     int        // groups to be written in transactions, because a write was held back
	disk     *disk
	path     string
	nonce    uint64
	format   int           // of the file
	seq      uint64        // of the last group
	shift    uint64        // position - seq: positions continue in a compacted log
	synced   func() uint64 // the position up to which all is on disk
	tail     *[][]op       // receives the commits made while a compaction runs
	buf      []byte        // the group being written, behind commandRoom
	grown    int64         // bytes of groups since maintenance was last woken for them
	throttle throttle      // for writers, while a compaction runs
	broken   error
	dead     bool // BuntDB panicked and holds its lock
	idle     bool // the last group is the one that finish wrote
}

// resumeJournal continues a log after the groups found in it, or creates it.
func resumeJournal(path string, d *disk, found scanned) (*journal, error) {
	j := &journal{disk: d, path: path, nonce: found.nonce, format: found.format, seq: found.seq, idle: found.clean}
	j.synced = func() uint64 { return 0 }
	if path == Memory {
		return j, nil
	}
	var err error
	if err := d.create(path); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if j.db, err = openBunt(path); err != nil {
		return nil, err
	}
	j.file = fileOf(j.db)
	if !found.header {
		if err := j.writeHeader(); err != nil {
			_ = j.close()
			return nil, err
		}
	}
	return j, nil
}

// newJournal creates a log, and overwrites the file of an earlier, failed
// attempt.
func newJournal(path string, d *disk) (*journal, error) {
	if err := removeIfThere(path); err != nil {
		return nil, err
	}
	return resumeJournal(path, d, scanned{})
}

// openBunt opens BuntDB with its background work switched off.
func openBunt(path string) (*buntdb.DB, error) {
	db, err := buntdb.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	err = db.SetConfig(buntdb.Config{SyncPolicy: buntdb.Never, AutoShrinkDisabled: true})
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// writeHeader is the first group of a log. It is synced at once, so that a
// file whose beginning is unreadable was damaged, not torn.
func (j *journal) writeHeader() error {
	j.format = newestFormat
	if err := binary.Read(rand.Reader, binary.LittleEndian, &j.nonce); err != nil {
		return err
	}
	if err := j.commit([]op{{kind: opHeader, value: encodeHeader(j.nonce)}}); err != nil {
		return err
	}
	return j.disk.syncPath(j.path, filepath.Dir(j.path))
}

// commit writes one group, completely or not at all. The caller may reuse the
// operations when it returns.
func (j *journal) commit(ops []op) (err error) {
	if j.broken != nil {
		return j.broken
	}
	if err := j.disk.at("write", j.path); err != nil {
		return fmt.Errorf("write to the log: %w", err)
	}
	if j.db != nil {
		if err := j.write(ops); err != nil {
			return err
		}
	}
	j.seq++
	j.idle = false
	if j.tail != nil {
		*j.tail = append(*j.tail, withoutQuotes(ops))
	}
	return nil
}

// withoutQuotes returns a copy of operations to be kept: their values are whole, and the
// list of quotes belongs to the writer.
func withoutQuotes(ops []op) []op {
	ops = slices.Clone(ops)
	for i := range ops {
		ops[i].quotes = nil
	}
	return ops
}

// write encodes the operations as a group and writes it, and counts its bytes
// for the throttle of a running compaction.
func (j *journal) write(ops []op) (err error) {
	if err := j.encode(ops); err != nil {
		return err
	}
	j.grown += int64(len(j.buf))
	if j.tail != nil {
		j.throttle.wrote(int64(len(j.buf)))
	}
	if j.direct() {
		err = j.append()
	} else {
		err = j.transact()
	}
	if err != nil {
		return fmt.Errorf("write to the log: %w", err)
	}
	if cap(j.buf) > keptBuffer {
		j.buf = nil
	}
	return nil
}

// transact commits the group in the buffer in one BuntDB transaction.
func (j *journal) transact() (err error) {
	// BuntDB panics, holding its lock, if it cannot undo a failed write. It must
	// not be used any more then.
	defer func() {
		if p := recover(); p != nil {
			j.dead = true
			j.broken = fmt.Errorf("%w: %v", ErrBroken, p)
			err = j.broken
		}
	}()
	return j.db.Update(func(tx *buntdb.Tx) error {
		// BuntDB keeps the value in memory, but never reads it again, so
		// the buffer may be used for the next group.
		_, _, err := tx.Set(groupKey, stringView(j.buf[commandRoom:]), nil)
		return err
	})
}

// keptBuffer is the largest buffer that is kept for the next group.
const keptBuffer = 4 << 20

// encode writes the group into the buffer.
func (j *journal) encode(ops []op) error {
	begin := commandRoom + headSize
	b := append(j.buf[:0], make([]byte, begin)...)
	for i := range ops {
		if len(ops[i].quotes) > 0 {
			b = ops[i].encodeQuoting(b, ops)
		} else {
			b = ops[i].encode(b)
		}
		if len(b) > maxGroup {
			return fmt.Errorf("a transaction of more than %d bytes", maxGroup)
		}
	}
	h := head{seq: j.seq + 1, synced: j.synced() - j.shift, ops: uint32(len(ops))}
	h.sum = crc32.Checksum(b[begin:], castagnoli)
	h.put(b[commandRoom:], j.nonce)
	j.buf = b
	return nil
}

// position returns the number of the last commit in the history of all logs.
func (j *journal) position() uint64 { return j.seq + j.shift }

// finish writes an empty group which says that everything before it is synced.
// With it, later damage to the file can be distinguished from a torn tail.
func (j *journal) finish() error {
	if j.db == nil || j.idle || j.broken != nil {
		return nil
	}
	if err := j.commit(nil); err != nil {
		return err
	}
	j.idle = true
	return nil
}

// close closes BuntDB, unless it died holding its lock.
func (j *journal) close() error {
	if j.dead || j.db == nil {
		return nil
	}
	return j.db.Close()
}
