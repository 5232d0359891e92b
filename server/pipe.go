package server

import "net"

// pipe is a connection within the process. It counts as a local connection and
// needs no TLS.
type pipe struct {
	net.Conn
	remote net.Addr // of the client; nil: within the process
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
	near, far := net.Pipe()
	s.serve(pipe{Conn: far}, false)
	return near
}
