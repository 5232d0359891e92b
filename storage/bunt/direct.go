package bunt

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"time"

	"github.com/tidwall/buntdb"
)

// A small group is appended to BuntDB's file directly, in BuntDB's format and at the
// position of BuntDB's own descriptor, instead of in a transaction of BuntDB. A transaction
// writes with a system call that Go's scheduler knows of, for which it wakes its monitor
// thread: with a single client that took a fifth of the server's processor time for an
// update. Besides, a transaction copies the group twice.
//
// A write of which the scheduler does not know keeps a processor from other goroutines
// while it waits for the disk. It does so only if the system holds writers back, because
// too much of what they wrote is not on disk yet. Therefore only small groups are
// written so, and none for a while after a write that took long.
const (
	directMost = 64 << 10         // bytes of a group
	slowWrite  = time.Millisecond // a write that took longer was held back
	slowFor    = 1000             // groups after it that are written in transactions
)

// fileOf returns BuntDB's descriptor of its file, or nil if this version of BuntDB does not
// have it where it is expected.
func fileOf(db *buntdb.DB) *os.File {
	f := reflect.ValueOf(db).Elem().FieldByName("file")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*os.File]() {
		return nil
	}
	return (*os.File)(f.UnsafePointer())
}

// commandRoom is the room before a group for the beginning of the command that sets it.
var commandRoom = len(groupCommand) + len("$1073741852\r\n")

// command returns the command that sets the group of the buffer. BuntDB would write the same
// bytes.
func (j *journal) command() []byte {
	group := len(j.buf) - commandRoom
	var room [32]byte
	length := append(strconv.AppendInt(append(room[:0], '$'), int64(group), 10), "\r\n"...)
	start := commandRoom - len(length) - len(groupCommand)
	copy(j.buf[start:], groupCommand)
	copy(j.buf[start+len(groupCommand):], length)
	j.buf = append(j.buf, "\r\n"...)
	return j.buf[start:]
}

// direct reports whether the group in the buffer is appended directly.
func (j *journal) direct() bool {
	if j.slow > 0 {
		j.slow--
		return false
	}
	return j.file != nil && len(j.buf) <= directMost
}

// took notes how long it took to write a group.
func (j *journal) took(d time.Duration) {
	if d > slowWrite {
		j.slow = slowFor
	}
}

// append appends the group in the buffer to the file, completely or not at all. If the
// part of it that was written cannot be removed, the log is broken.
func (j *journal) append() error {
	command := j.command()
	n, err := writeUnnoticed(j.file, command)
	if n < len(command) && err == nil { // the rest, or the reason
		var more int
		more, err = j.file.Write(command[n:])
		n += more
	}
	if err == nil {
		return nil
	}
	if uerr := j.undo(int64(n)); uerr != nil {
		j.broken = fmt.Errorf("%w: %w", ErrBroken, errors.Join(err, uerr))
		return j.broken
	}
	return err
}

// undo removes the last n bytes of the file.
func (j *journal) undo(n int64) error {
	if n == 0 {
		return nil
	}
	end, err := j.file.Seek(-n, 1)
	if err != nil {
		return err
	}
	return j.file.Truncate(end)
}
