package server

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// socket lets a connection handle its requests within one call of syscall.RawConn.Read,
// which calls a function whenever something may have arrived.
//
// A Read of a net.Conn always tries to read before it waits, because what the poller has
// noticed before its call is forgotten. Requests mostly arrive while their connection
// waits, so every second read would be in vain. Within one RawConn.Read nothing is
// forgotten, so a read that did not fill its buffer, and so has emptied the socket, need
// not be repeated.
//
// With one exception: the poller may notice a request and the end of the connection as one
// event. Then the request is read, and the end is found by the next write, or by the
// watcher (see [conn.lookAgain]).
type socket struct {
	raw    syscall.RawConn
	fd     uintptr
	inside bool // a function that was passed to each runs
	empty  bool // the last read has emptied the socket
	proven bool // see [provenAfter]
}

// provenAfter is the number of requests after which a connection is unlikely to end with
// the one that is being read, as those of the simplest clients do.
const provenAfter = 16

// errNothing is the error of a read when nothing has arrived.
var errNothing = errors.New("nothing has arrived")

// newSocket returns nil if nc is not a socket, or the system has no poller of that kind.
func newSocket(nc net.Conn) *socket {
	sc, ok := nc.(syscall.Conn)
	if !ok || !pollerRemembers {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	return &socket{raw: raw}
}

// each calls handle at once, and again whenever something may have arrived, until handle
// reports that it is done or the connection ends. Within handle, Read does not wait.
func (s *socket) each(handle func() (done bool)) error {
	return s.raw.Read(func(fd uintptr) bool {
		s.fd, s.empty, s.inside = fd, false, true
		defer func() { s.inside = false }()
		return handle()
	})
}

// Read reads what has arrived; the error may be errNothing.
func (s *socket) Read(b []byte) (int, error) {
	if s.empty {
		return 0, errNothing
	}
	n, err := readNow(s.fd, b)
	switch {
	case err == nil && n == 0:
		return 0, io.EOF
	case err == nil:
		s.empty = n < len(b) && s.proven
	case err == errNothing:
		s.empty = true
	}
	return n, err
}

// sendNow sends as much of a short reply as the system takes at once, if a function that was
// passed to each runs: then there is no other use of the socket. It returns how much that was.
// A longer reply would keep a processor from others while it is copied.
func (s *socket) sendNow(b []byte) int {
	if s == nil || !s.inside || len(b) > shortReply {
		return 0
	}
	return writeNow(s.fd, b)
}

// shortReply is the length of the longest one.
const shortReply = 16 << 10
