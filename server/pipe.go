package server

import (
	"net"
	"sync/atomic"
)

// pipe is a connection within the process. It counts as a local connection and
// needs no TLS.
type pipe struct {
	net.Conn
	remote net.Addr   // address of the client; nil: within the process
	client *clientEnd // nil: that the client leaves shows at the next read or write
}

// clientEnd is the client's end of a pipe. Closing it ends the running command at once, as
// nobody waits for its reply. Only clients that always wait for replies may use it.
type clientEnd struct {
	net.Conn
	closed atomic.Bool
	leave  func() // ends the command
}

// Close implements net.Conn.
func (e *clientEnd) Close() error {
	if !e.closed.Swap(true) {
		e.leave()
	}
	return e.Conn.Close()
}

// pipeAddr is the address of both ends.
var pipeAddr = &net.UnixAddr{Name: "@in-process", Net: "unix"}

// RemoteAddr returns the address of the client, a local one unless it is known.
func (p pipe) RemoteAddr() net.Addr {
	if p.remote != nil {
		return p.remote
	}
	return pipeAddr
}

// LocalAddr returns a local address.
func (pipe) LocalAddr() net.Addr { return pipeAddr }

// Dial connects to the server within the process, without a port. It works
// before Start, too.
func (s *Server) Dial() net.Conn {
	client, end := net.Pipe()
	s.serve(pipe{Conn: end}, false)
	return client
}
