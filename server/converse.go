package server

import (
	"io"
	"time"
)

// source is what the messages of a connection are read from: its stream, or its socket
// while it handles what arrives there.
type source struct {
	io.Reader
	socket *socket // nil for a pipe, or below TLS
}

// Read reads from the one or the other.
func (s *source) Read(b []byte) (int, error) {
	if s.socket != nil && s.socket.inside {
		return s.socket.Read(b)
	}
	return s.Reader.Read(b)
}

// converse serves requests until the connection ends.
func (c *conn) converse() {
	if c.source.socket == nil {
		for c.exchange() {
		}
		return
	}
	open := true
	handle := func() (done bool) {
		done, open = c.serveArrived()
		return done
	}
	for open {
		_ = c.source.socket.each(handle)
		if open {
			open = c.readApart()
		}
	}
}

// serveArrived serves the requests that have arrived. It is done if there is something
// that only a Read of the connection can handle, or if the connection does not stay open.
func (c *conn) serveArrived() (done, open bool) {
	c.srv.pulse.felt()
	for {
		whole, err := c.reader.Await()
		if err == errNothing {
			return false, true
		}
		if err != nil || !whole { // the end, or a message longer than the buffer
			return true, true
		}
		if !c.exchange() {
			return true, false
		}
		c.answered++
		c.source.socket.proven = c.answered > provenAfter
	}
}

// readApart reads and serves a message outside of the socket's function, or finds the end
// of the connection, unless the watcher has only made the connection look for its end.
func (c *conn) readApart() (open bool) {
	c.apart.Lock()
	defer c.apart.Unlock()
	if !c.look {
		return c.exchange()
	}
	c.look = false
	_ = c.nc.SetReadDeadline(time.Time{})
	if c.stopped.Load() {
		c.stopReading()
	}
	return true
}

// lookForEnd makes an idle connection read, if its client has closed its side: its socket
// may wait without having seen that.
func (c *conn) lookForEnd() {
	if !c.apart.TryLock() {
		return // it reads
	}
	defer c.apart.Unlock()
	if c.source.socket != nil && hungUp(c.nc) {
		c.look = true
		_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	}
}
