package bunt

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A flusher syncs files by the kernel's asynchronous interface, one at a time. The
// goroutine waits as for a connection. One that waits in fsync keeps its processor, as long
// as the scheduler's monitor does not take it away, which can last 10 ms: with two
// processors, of which the other one runs a long command, no request is noticed meanwhile.
//
// The result is fsync's: the kernel calls the same function of the file system, for the
// same open file. A nil flusher syncs by fsync.
type flusher struct {
	context uintptr  // aio_context_t
	done    *os.File // an eventfd, readable when a request is done
	signal  uint32   // its descriptor; asking done for it could make its reads block a thread
	lost    bool     // the result of a request is not known
	request iocb
}

// The structures of linux/aio_abi.h, and what is used of their fields and its constants. The
// other fields of a request are zero for a sync.
type (
	iocb struct {
		_             [2]uint64 // data, key, rw_flags
		opcode        uint16
		_             int16 // reqprio
		file          uint32
		_             [4]uint64 // buf, nbytes, offset, reserved2
		flags, signal uint32
	}
	ioEvent struct {
		_   [2]uint64 // data, obj
		res int64
		_   int64 // res2
	}
)

const (
	iocbFsync  = 2 // IOCB_CMD_FSYNC
	iocbSignal = 1 // IOCB_FLAG_RESFD
)

// spareFlushers are those that engines have given back. The kernel takes some 40 ms to
// end one, so they stay until the process ends.
var spareFlushers struct {
	sync.Mutex
	list []*flusher
}

// takeFlusher returns a flusher that nobody else uses: a spare one, or what newFlusher
// returns.
func takeFlusher() *flusher {
	spareFlushers.Lock()
	defer spareFlushers.Unlock()
	n := len(spareFlushers.list)
	if n == 0 {
		return newFlusher()
	}
	q := spareFlushers.list[n-1]
	spareFlushers.list = spareFlushers.list[:n-1]
	return q
}

// giveBack is called when no sync is running.
func (q *flusher) giveBack() {
	if q != nil && !q.lost {
		spareFlushers.Lock()
		spareFlushers.list = append(spareFlushers.list, q)
		spareFlushers.Unlock()
	}
}

// newFlusher returns nil if the kernel has no such interface, does not let the process have
// it, or has none left.
func newFlusher() *flusher {
	q := &flusher{}
	if _, _, errno := syscall.Syscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&q.context)), 0); errno != 0 {
		return nil
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_, _, _ = syscall.Syscall(unix.SYS_IO_DESTROY, q.context, 0, 0)
		return nil
	}
	q.done, q.signal = os.NewFile(uintptr(fd), "eventfd"), uint32(fd)
	return q
}

// sync returns when what was written to a file is on disk.
func (q *flusher) sync(f *os.File) error {
	if q == nil || q.lost { // what a lost request leaves behind is not the next one's result
		return f.Sync()
	}
	q.request = iocb{opcode: iocbFsync, file: uint32(f.Fd()), flags: iocbSignal, signal: q.signal}
	list := [1]*iocb{&q.request}
	_, _, errno := syscall.Syscall(unix.SYS_IO_SUBMIT, q.context, 1, uintptr(unsafe.Pointer(&list)))
	runtime.KeepAlive(f)
	if errno != 0 { // nothing was begun
		return f.Sync()
	}
	res, err := q.result()
	switch {
	case err != nil:
		q.lost = true
		return os.NewSyscallError("io_getevents", err)
	case res == -int64(syscall.EINVAL), res == -int64(syscall.EOPNOTSUPP):
		return f.Sync()
	case res < 0:
		return &os.PathError{Op: "sync", Path: f.Name(), Err: syscall.Errno(-res)}
	}
	return nil
}

// result waits until the request is done.
func (q *flusher) result() (int64, error) {
	var n [8]byte
	if _, err := q.done.Read(n[:]); err != nil {
		return 0, err
	}
	var event ioEvent
	got, _, errno := syscall.Syscall6(unix.SYS_IO_GETEVENTS, q.context, 1, 1, uintptr(unsafe.Pointer(&event)), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	if got != 1 {
		return 0, errors.New("no event")
	}
	return event.res, nil
}
