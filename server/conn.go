package server

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// conn is one client connection, served by one goroutine: read, run, reply.
type conn struct {
	srv    *Server
	nc     net.Conn      // the socket
	stream io.ReadWriter // the socket, or TLS over it
	client *commands.Conn
	reader *wire.Reader
	out    *wire.Buffer
	nextID int32

	sequences []commands.Sequence // of the message at hand
	large     bool                // it has the place of a large reply

	// The fields below are for the watcher: when the running command began.
	ctx    context.Context
	cancel context.CancelCauseFunc
	busy   atomic.Int64 // unix nanoseconds, 0 when idle

	fromBalancer bool // it came to the port for load balancers
	progress     progress
}

var (
	errShutdown   = mongoerr.New(mongoerr.InterruptedAtShutdown, "interrupted at shutdown")
	errClientGone = mongoerr.New(mongoerr.ClientDisconnect, "client disconnected")
)

func newConn(s *Server, nc net.Conn, fromBalancer bool) *conn {
	c := &conn{srv: s, nc: nc, fromBalancer: fromBalancer, client: s.service.NewConn(nc.RemoteAddr().String(), nc.LocalAddr().String())}
	c.client.FromBalancer = fromBalancer
	c.client.LargeReply = c.largeReply
	c.client.HungUp = func() bool { return hungUp(nc) }
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	if p, ok := nc.(pipe); ok && p.near != nil {
		c.client.HungUp = p.near.closed.Load
		p.near.leave = func() { c.cancel(errClientGone) }
	}
	return c
}

// stopReading makes the next read end the connection; a running command
// still sends its reply.
func (c *conn) stopReading() { _ = c.nc.SetReadDeadline(time.Unix(1, 0)) }

// run serves until the client leaves, sends garbage, or the server stops.
func (c *conn) run() {
	open := c.srv.service.ConnectionOpened()
	c.srv.service.Verbose(commands.LogNetwork, 1).Str("remote", c.client.Remote).Int64("connectionId", c.client.ID).Int64("connectionCount", open).Msg("Connection accepted")
	defer func() {
		open := c.srv.service.ConnectionClosed()
		c.srv.service.Verbose(commands.LogNetwork, 1).Str("ctx", c.client.Context()).Str("remote", c.client.Remote).Int64("connectionId", c.client.ID).Int64("connectionCount", open).Msg("Connection ended")
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
		c.srv.service.Verbose(commands.LogNetwork, 1).Str("remote", c.client.Remote).Int64("connectionId", c.client.ID).Err(err).Msg("Connection not admitted")
		return
	}
	if err := c.secure(); err != nil {
		c.srv.log.Info().Str("remote", c.client.Remote).Err(err).Msg("connection not secured")
		return
	}
	c.srv.service.Connected(c.client)
	c.reader = wire.NewReader(counting{c.stream, &c.progress.received})
	c.reader.SetBudget(c.srv.inFlight)
	defer c.reader.Release()
	c.out = wire.GetBuffer()
	defer func() { c.out.Put() }()
	if !c.greeted() {
		return
	}
	for c.exchange() {
	}
}

// exchange reads a message and serves it. It sends the reply, unless the whole next message
// is at hand. It reports whether the connection stays open.
func (c *conn) exchange() bool {
	m, err := c.reader.ReadMessage()
	if err != nil && !c.reject(m, err) {
		if len(c.out.B) > 0 {
			_ = c.flush() // replies to earlier requests
		}
		return false
	}
	if err == nil && !c.serve(m) {
		return false
	}
	c.progress.boundary.Store(c.progress.received.Load() - int64(c.reader.Pending()))
	if len(c.out.B) == 0 {
		c.replySent() // the client wants none
	}
	return len(c.out.B) == 0 || c.reader.Complete() && len(c.out.B) <= flushAt || c.flush() == nil
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
	c.busy.Store(c.srv.now())
	err := c.srv.service.AdmitConnection(c.ctx, c.client)
	c.busy.Store(0)
	c.progress.sending.Add(2) // the client's time for its first message begins
	return err
}

// flushAt limits the replies that are buffered while further requests are
// waiting.
const flushAt = 64 << 10

func (c *conn) flush() error {
	c.progress.sending.Add(1)
	err := c.send(c.out.B)
	c.progress.sending.Add(1)
	if cap(c.out.B) > keepOut {
		c.out.Put()
		c.out = wire.GetBuffer()
	}
	c.out.B = c.out.B[:0]
	c.replySent()
	return err
}

// largeReply waits for the place of a large reply, which the connection has until the
// reply is sent.
func (c *conn) largeReply(ctx context.Context) error {
	if c.large {
		return nil
	}
	err := c.srv.inFlight.takeReply(ctx)
	c.large = err == nil
	return err
}

// replySent gives the place of a large reply back.
func (c *conn) replySent() {
	if c.large {
		c.large = false
		c.srv.inFlight.giveReply()
	}
}

// send writes a reply. It writes a large one in parts, so that the watcher
// sees whether the client reads it.
func (c *conn) send(b []byte) (err error) {
	if len(b) <= sendPart {
		_, err = c.stream.Write(b)
		return err
	}
	c.progress.held.Store(int64(cap(b)))
	defer c.progress.held.Store(0)
	for len(b) > 0 && err == nil {
		var n int
		n, err = c.stream.Write(b[:min(len(b), sendPart)])
		b = b[n:]
		c.progress.sent.Add(int64(n))
	}
	return err
}

// sendPart is the size of one part of a large reply.
const sendPart = 1 << 20

// keepOut is the largest reply buffer that an idle connection keeps.
const keepOut = 256 << 10

// reject replies to a message that could not be read. It reports whether the
// connection can be used further.
func (c *conn) reject(m wire.Message, err error) bool {
	if errors.Is(err, wire.ErrHTTP) {
		_, _ = io.WriteString(c.stream, wire.HTTPReply)
		return false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return false
	}
	var broken *wire.Error
	if !errors.As(err, &broken) {
		return false
	}
	c.srv.log.Info().Str("remote", c.client.Remote).Err(err).Msg("malformed message")
	if m == nil {
		return false
	}
	c.replyError(m, broken)
	if wire.IsFatal(err) {
		_ = c.flush()
		return false
	}
	return true
}

// serve runs one request and appends the reply to the output. It reports
// whether the connection stays open.
func (c *conn) serve(m wire.Message) bool {
	at := clock.System().Now()
	c.busy.Store(at.UnixNano())
	defer c.busy.Store(0)
	switch m := m.(type) {
	case *wire.Msg:
		return c.serveMsg(m, at)
	case *wire.Query:
		return c.serveQuery(m)
	}
	return false // an OP_REPLY from a client
}

// serveMsg runs an OP_MSG and appends the reply, or several of an exhaust
// cursor. It reports whether the connection stays open.
func (c *conn) serveMsg(m *wire.Msg, at time.Time) bool {
	if err := m.Validate(); err != nil { // once; later code trusts its documents
		c.replyError(m, err)
		return true
	}
	req := commands.Request{Body: m.Body, Exhaust: m.Has(wire.ExhaustAllowed), Bytes: int(m.Header.Length), At: at}
	req.Sequences = c.sequences[:0]
	for _, s := range m.Sequences {
		req.Sequences = append(req.Sequences, commands.Sequence{ID: s.ID, Docs: s.Bytes(), Len: s.Len()})
	}
	c.sequences = req.Sequences
	responseTo := m.Header.RequestID
	for {
		start := len(c.out.B)
		c.nextID++
		requestID := c.nextID
		flags := m.Flags & wire.ChecksumPresent
		out := wire.BeginMsg(c.out.B, requestID, responseTo, flags)
		out, res := c.srv.service.Handle(c.ctx, c.client, &req, out)
		if res.Drop {
			return c.drop(start)
		}
		if m.Has(wire.MoreToCome) {
			c.srv.service.CountNetwork(req.Bytes, 0)
			c.out.B = out[:start] // the client wants no reply
			return !res.Close
		}
		if res.Next != nil {
			setFlags(out[start:], flags|wire.MoreToCome)
		}
		c.finish(out, start, m.Compressor)
		c.srv.service.CountNetwork(req.Bytes, len(c.out.B)-start)
		if res.Close {
			_ = c.flush()
			return false
		}
		if res.Next == nil {
			return true
		}
		if c.flush() != nil || c.srv.draining.Load() {
			return false
		}
		req.Body, req.At, responseTo = res.Next, time.Time{}, requestID
	}
}

// drop ends the connection without the reply that starts at start; the
// replies before it are sent.
func (c *conn) drop(start int) bool {
	if c.out.B = c.out.B[:start]; start > 0 {
		_ = c.flush()
	}
	return false
}

// finish completes the reply that starts at start, compressing it if the
// request came compressed.
func (c *conn) finish(out []byte, start int, z wire.Compressor) {
	out = wire.FinishMsg(out, start)
	if z == wire.Uncompressed {
		c.out.B = out
		return
	}
	scratch := wire.GetBuffer()
	scratch.B = append(scratch.B, out[start:]...)
	c.out.B = wire.AppendCompressed(out[:start], scratch.B, z)
	scratch.Put()
}

// serveQuery runs an OP_QUERY, which only handshakes and logins may use, and
// appends an OP_REPLY.
func (c *conn) serveQuery(m *wire.Query) bool {
	db, isCommand := m.Database()
	body, _ := m.Command()
	if err := m.Validate(); err != nil {
		c.replyError(m, err)
		return true
	}
	if !isCommand {
		c.srv.service.Metrics.OpQueries.Add(1)
		c.replyError(m, mongoerr.New(5739101, "OP_QUERY is no longer supported. The client driver may require an upgrade. For more details see https://dochub.mongodb.org/core/legacy-opcode-removal"))
		return true
	}
	start := len(c.out.B)
	c.nextID++
	out := wire.BeginReply(c.out.B, c.nextID, m.Header.RequestID, wire.AwaitCapable)
	req := commands.Request{Body: body, Legacy: true, DB: db, Bytes: int(m.Header.Length)}
	out, res := c.srv.service.Handle(c.ctx, c.client, &req, out)
	if res.Drop {
		return c.drop(start)
	}
	c.out.B = wire.FinishReply(out, start)
	c.srv.service.CountNetwork(req.Bytes, len(c.out.B)-start)
	return !res.Close
}

// replyError replies to a message that was not passed to a command.
func (c *conn) replyError(m wire.Message, err error) {
	var broken *wire.Error
	if errors.As(err, &broken) {
		err = mongoerr.New(mongoerr.Code(broken.Code), broken.Message)
	}
	var b value.Builder
	start := len(c.out.B)
	c.nextID++
	switch m := m.(type) {
	case *wire.Query:
		b.Reset(wire.BeginReply(c.out.B, c.nextID, m.Header.RequestID, wire.AwaitCapable|wire.QueryFailure))
		mongoerr.From(err).AppendReply(&b)
		b.Doc()
		c.out.B = wire.FinishReply(b.Bytes(), start)
	case *wire.Msg:
		if m.Has(wire.MoreToCome) {
			return
		}
		b.Reset(wire.BeginMsg(c.out.B, c.nextID, m.Header.RequestID, m.Flags&wire.ChecksumPresent))
		mongoerr.From(err).AppendReply(&b)
		b.Doc()
		c.finish(b.Bytes(), start, m.Compressor)
	}
}

// setFlags replaces the flag bits of a message under construction.
func setFlags(msg []byte, f wire.Flags) {
	b := msg[wire.HeaderSize:]
	b[0], b[1], b[2], b[3] = byte(f), byte(f>>8), byte(f>>16), byte(f>>24)
}
