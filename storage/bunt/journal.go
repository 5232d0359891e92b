package bunt

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"github.com/tidwall/buntdb"
)

// ErrBroken is returned for writes after a failure that leaves the state of
// the file unknown. Reads still work. Writes work again once the engine has
// rewritten the log, which it tries in the background, or after a restart.
var ErrBroken = errors.New("a write to the log failed; writes are refused until the log has been rewritten")

// journal writes the last file of the log: a BuntDB database with one key. Each commit sets
// its value to the group of the commit.
type journal struct {
	db     *buntdb.DB // nil in memory
	disk   *disk
	path   string
	header header        // the header of the file
	base   uint64        // nonce of the first file of the log
	older  int64         // bytes of the files before this one
	next   uint32        // number of the file behind it
	seq    uint64        // the number of the last group
	synced func() uint64 // the last group that is known to be on disk
	buf    []byte        // the group being written
	grown  int64         // bytes of groups since maintenance was last woken for them
	broken error
	dead   bool // BuntDB panicked and holds its lock
	idle   bool // the last group is the one that finish wrote
}

// maxReopened is the size of a file up to which BuntDB opens it again. It reads it then, so
// that after a start a larger log goes on in a new file.
const maxReopened = 1 << 20

// resumeJournal continues a log behind what was found in it, or creates it. A last file of at
// most reopened bytes is opened again.
func resumeJournal(path string, d *disk, found scanned, reopened int64) (*journal, error) {
	if path == Memory {
		return &journal{disk: d, path: path, synced: nothingSynced}, nil
	}
	if !found.header {
		return createJournal(path, d, header{next: 1}, 0)
	}
	last := found.last
	next := max(last.number+1, found.base.next)
	if last.size > reopened || last.number == 0 && found.base.after > 0 {
		j, err := createJournal(segmentPath(path, next), d, header{number: next, after: found.seq}, found.seq)
		if err != nil {
			return nil, err
		}
		j.base, j.older = found.base.nonce, last.begin+last.size
		return j, nil
	}
	j := &journal{disk: d, path: last.path, base: found.base.nonce, older: last.begin, next: next, seq: found.seq, idle: found.clean, synced: nothingSynced}
	j.header.nonce, j.header.number = found.nonce, last.number
	var err error
	if j.db, err = openBunt(j.path); err != nil {
		return nil, err
	}
	return j, nil
}

func nothingSynced() uint64 { return 0 }

// createJournal creates a file of a log behind group seq, and overwrites that of an earlier,
// failed attempt.
func createJournal(path string, d *disk, hd header, seq uint64) (*journal, error) {
	if err := removeIfThere(path); err != nil {
		return nil, err
	}
	if err := binary.Read(rand.Reader, binary.LittleEndian, &hd.nonce); err != nil {
		return nil, err
	}
	j := &journal{disk: d, path: path, header: hd, base: hd.nonce, next: max(hd.number+1, hd.next), seq: seq, synced: nothingSynced}
	if err := d.create(path); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	var err error
	if j.db, err = openBunt(path); err != nil {
		return nil, err
	}
	if err := j.writeHeader(); err != nil {
		_ = j.close()
		return nil, err
	}
	return j, nil
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

// writeHeader writes the first group of a file. It is synced at once, so that a
// file whose beginning is unreadable was damaged, not torn.
func (j *journal) writeHeader() error {
	if err := j.commit([]op{{kind: opHeader, value: j.header.encode()}}); err != nil {
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
	return nil
}

// write encodes the operations as a group and writes it.
func (j *journal) write(ops []op) error {
	if err := j.encode(ops); err != nil {
		return err
	}
	j.grown += int64(len(j.buf))
	if err := j.transact(); err != nil {
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
		_, _, err := tx.Set(groupKey, stringView(j.buf), nil)
		return err
	})
}

// keptBuffer is the largest buffer that is kept for the next group.
const keptBuffer = 4 << 20

// encode writes the group into the buffer.
func (j *journal) encode(ops []op) error {
	b := append(j.buf[:0], make([]byte, headSize)...)
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
	h := head{seq: j.seq + 1, synced: j.synced(), ops: uint32(len(ops))}
	h.sum = crc32.Checksum(b[headSize:], castagnoli)
	h.put(b, j.header.nonce)
	j.buf = b
	return nil
}

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
