package server

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// conn is one client connection, served by one goroutine: read, run, reply. Its life is
// told by run. What other goroutines may touch is its context and its progress.
type conn struct {
	srv          *Server
	nc           net.Conn      // the socket, or the server's end of a pipe
	stream       io.ReadWriter // the socket, or TLS over it
	fromBalancer bool          // whether it came to the port for load balancers
	client       *commands.Conn
	messages

	ctx      context.Context // ends with the connection; all its commands run under it
	cancel   context.CancelCauseFunc
	progress progress
}

var (
	errShutdown   = mongoerr.New(mongoerr.InterruptedAtShutdown, "interrupted at shutdown")
	errClientGone = mongoerr.New(mongoerr.ClientDisconnect, "client disconnected")
)

func newConn(s *Server, nc net.Conn, fromBalancer bool) *conn {
	client := s.service.NewConn(nc.RemoteAddr().String(), nc.LocalAddr().String())
	c := &conn{srv: s, nc: nc, fromBalancer: fromBalancer, client: client}
	c.client.FromBalancer = fromBalancer
	c.client.LargeReply = c.largeReply
	c.client.HungUp = func() bool { return hungUp(nc) }
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	if p, ok := nc.(pipe); ok && p.client != nil {
		c.client.HungUp = p.client.closed.Load
		p.client.leave = func() { c.cancel(errClientGone) }
	}
	return c
}

// stopReading makes the next read end the connection; a running command
// still sends its reply.
func (c *conn) stopReading() { _ = c.nc.SetReadDeadline(time.Unix(1, 0)) }

// run serves until the client leaves, sends garbage, or the server stops.
func (c *conn) run() {
	c.verbose().Int64("connectionCount", c.srv.service.ConnectionOpened()).Msg("Connection accepted")
	defer func() {
		open := c.srv.service.ConnectionClosed()
		c.verbose().Str("ctx", c.client.Context()).Int64("connectionCount", open).Msg("Connection ended")
	}()
	defer c.srv.service.CloseConn(c.client)
	defer c.nc.Close()
	defer c.cancel(errClientGone)
	defer c.replySent()
	if err := c.unwrap(); err != nil {
		c.srv.log.Info().Str("remote", c.client.Remote).Err(err).Msg("connection to the load balancer's port refused")
		return
	}
	if err := c.admit(); err != nil {
		c.verbose().Err(err).Msg("Connection not admitted")
		return
	}
	if err := c.secure(); err != nil {
		c.srv.log.Info().Str("remote", c.client.Remote).Err(err).Msg("connection not secured")
		return
	}
	c.srv.service.Connected(c.client)
	c.beginMessages(counting{c.stream, &c.progress.received}, c.srv.inFlight)
	defer c.endMessages()
	if !c.greeted() {
		return
	}
	for c.exchange() {
	}
}

// verbose begins a line of the detailed log about the connection.
func (c *conn) verbose() *zerolog.Event {
	line := c.srv.service.Verbose(commands.LogNetwork, 1)
	return line.Str("remote", c.client.Remote).Int64("connectionId", c.client.ID)
}

// unwrap reads the header with which a load balancer begins the connection. From then on
// the client's address is the one that the header names.
func (c *conn) unwrap() error {
	if !c.fromBalancer {
		return nil
	}
	p, err := readProxyHeader(c.nc)
	if err == nil && p.client.IsValid() {
		c.client.Remote, c.client.Local = p.client.String(), p.server.String()
	}
	return err
}

// admit waits until the connection may begin. Meanwhile the watcher checks
// that the client is still connected.
func (c *conn) admit() error {
	c.progress.began.Store(c.srv.now())
	err := c.srv.service.AdmitConnection(c.ctx, c.client)
	c.progress.began.Store(0)
	c.progress.sending.Add(2) // the client's time for its first message begins
	return err
}
