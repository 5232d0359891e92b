package bunt

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tidwall/buntdb"

	"github.com/duskdb/duskdb/value"
)

// ErrBroken is why an engine takes no writes after a failure that leaves the
// state of the file unknown. Reads go on. The engine tries to write the log
// anew, after which it takes writes again; so does a restart.
var ErrBroken = errors.New("the log failed and takes no writes until it could be written anew")

// formatName is the first part of the header: it names the format.
const formatName = "duskdb-bunt-1\n"

// journal is the log: a BuntDB database of which each transaction is a
// group with a marker.
type journal struct {
	db     *buntdb.DB
	disk   *disk
	path   string
	nonce  uint64
	seq    uint64        // of the last group
	shift  uint64        // position - seq: positions go on in a compacted log
	synced func() uint64 // the position up to which all is on disk
	tail   *[][]op       // takes what is committed while a compaction runs
	broken error
	dead   bool // BuntDB panicked and holds its lock
	idle   bool // the last group is the one that finish wrote
}

// openJournal recovers and opens the log at path, or makes it.
func openJournal(path string, d *disk, logf func(string, ...any)) (j *journal, cut int64, err error) {
	var found scanned
	if path != Memory {
		if found, err = recoverFile(path); err != nil {
			return nil, 0, err
		}
		if found.cut > 0 {
			logf("storage: cut %d bytes of unfinished commits off %s", found.cut, path)
		}
	}
	db, err := openBunt(path)
	if err != nil {
		return nil, 0, err
	}
	j = &journal{db: db, disk: d, path: path, nonce: found.nonce, seq: found.seq, idle: found.clean}
	j.synced = func() uint64 { return 0 }
	if !found.header {
		if err := j.writeHeader(); err != nil {
			_ = j.close()
			return nil, 0, err
		}
	}
	return j, found.cut, nil
}

// openBunt opens BuntDB with everything off that it would do by itself.
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
	if err := binary.Read(rand.Reader, binary.LittleEndian, &j.nonce); err != nil {
		return err
	}
	if err := j.commit([]op{{key: keyHeader, value: encodeHeader(j.nonce)}}); err != nil {
		return err
	}
	if j.path == Memory {
		return nil
	}
	return j.disk.syncPath(j.path, filepath.Dir(j.path))
}

func encodeHeader(nonce uint64) string {
	return formatName + string(binary.LittleEndian.AppendUint64(nil, nonce))
}

func decodeHeader(b []byte) (nonce uint64, ok bool) {
	n := len(formatName)
	if len(b) != n+8 || string(b[:n]) != formatName {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[n:]), true
}

// commit writes one group, whole or not at all.
func (j *journal) commit(ops []op) (err error) {
	if j.broken != nil {
		return j.broken
	}
	if err := j.disk.at("write", j.path); err != nil {
		return fmt.Errorf("write to the log: %w", err)
	}
	m := marker{seq: j.seq + 1, ops: uint32(len(ops)), synced: j.synced() - j.shift}
	for i := range ops {
		o := &ops[i]
		m.sum += opSum(o.del, value.StringView(o.key), value.StringView(o.value))
	}
	// BuntDB panics, holding its lock, if it cannot take a failed write
	// back. It is not touched any more then.
	defer func() {
		if p := recover(); p != nil {
			j.dead = true
			j.broken = fmt.Errorf("%w: %v", ErrBroken, p)
			err = j.broken
		}
	}()
	if err := j.db.Update(func(tx *buntdb.Tx) error { return j.write(tx, ops, m) }); err != nil {
		return fmt.Errorf("write to the log: %w", err)
	}
	j.seq++
	j.idle = false
	if j.tail != nil {
		*j.tail = append(*j.tail, ops)
	}
	return nil
}

func (j *journal) write(tx *buntdb.Tx, ops []op, m marker) error {
	for i := range ops {
		o := &ops[i]
		var err error
		if o.del {
			_, err = tx.Delete(o.key)
		} else {
			_, _, err = tx.Set(o.key, o.value, nil)
		}
		if err != nil {
			return fmt.Errorf("key %q: %w", o.key, err)
		}
	}
	_, _, err := tx.Set(keyMarker, m.encode(j.nonce), nil)
	return err
}

// position tells where in the history of commits the log stands.
func (j *journal) position() uint64 { return j.seq + j.shift }

// finish ends a session with an empty group that says that all before it is
// synced, so that damage to the file at rest is told from a torn tail.
func (j *journal) finish() error {
	if j.path == Memory || j.idle || j.broken != nil {
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
	if j.dead {
		return nil
	}
	return j.db.Close()
}
