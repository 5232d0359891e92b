package server

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// messages are what a connection reads and writes, from its first message to its end.
type messages struct {
	reader    *wire.Reader
	out       *wire.Buffer        // replies that are not sent yet
	lastID    int32               // request id of the last reply
	sequences []commands.Sequence // memory for the sequences of the next message
	hasSlot   bool                // whether the connection has a slot for large replies
}

// beginMessages is called before the first message is read.
func (m *messages) beginMessages(r io.Reader, budget wire.Budget) {
	m.reader, m.out = wire.NewReader(r), wire.GetBuffer()
	m.reader.SetBudget(budget)
}

// endMessages gives the memory back.
func (m *messages) endMessages() {
	m.reader.Release()
	m.out.Put()
}

// nextID is the request id of the next reply.
func (m *messages) nextID() int32 {
	m.lastID++
	return m.lastID
}

const (
	flushAt  = 64 << 10  // limit of the replies that are buffered while requests wait
	sendPart = 1 << 20   // size of one part of a large reply
	keepOut  = 256 << 10 // largest reply buffer that an idle connection keeps
)

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

// serve runs one request and appends the reply to the output. It reports
// whether the connection stays open.
func (c *conn) serve(m wire.Message) bool {
	at := clock.System().Now()
	c.progress.began.Store(at.UnixNano())
	defer c.progress.began.Store(0)
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
		requestID := c.nextID()
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

var errOpQuery = mongoerr.New(5739101, "OP_QUERY is no longer supported. The client driver may require an upgrade. "+
	"For more details see https://dochub.mongodb.org/core/legacy-opcode-removal")

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
		c.replyError(m, errOpQuery)
		return true
	}
	if err := checkLegacyForm(m, body); err != nil {
		c.replyError(m, err)
		return true
	}
	start := len(c.out.B)
	out := wire.BeginReply(c.out.B, c.nextID(), m.Header.RequestID, wire.AwaitCapable)
	req := commands.Request{Body: body, Legacy: true, DB: db, Bytes: int(m.Header.Length)}
	out, res := c.srv.service.Handle(c.ctx, c.client, &req, out)
	if res.Drop {
		return c.drop(start)
	}
	c.out.B = wire.FinishReply(out, start)
	c.srv.service.CountNetwork(req.Bytes, len(c.out.B)-start)
	return !res.Close
}

// checkLegacyForm refuses what no command by OP_QUERY may have.
func checkLegacyForm(m *wire.Query, body value.Doc) error {
	switch {
	case m.Flags&wire.Exhaust != 0:
		return mongoerr.Newf(18527, "The 'exhaust' OP_QUERY flag is invalid for commands: %s %s", m.Collection, m.Doc)
	case m.Return != 1 && m.Return != -1:
		return mongoerr.Newf(16979, "Bad numberToReturn (%d) for $cmd type ns - can only be 1 or -1", m.Return)
	case body.Has("$db"):
		return mongoerr.New(40621, "$db is not allowed in OP_QUERY requests")
	}
	return nil
}

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

// replyError replies to a message that was not passed to a command.
func (c *conn) replyError(m wire.Message, err error) {
	var broken *wire.Error
	if errors.As(err, &broken) {
		err = mongoerr.New(mongoerr.Code(broken.Code), broken.Message)
	}
	var b value.Builder
	start := len(c.out.B)
	switch m := m.(type) {
	case *wire.Query:
		b.Reset(wire.BeginReply(c.out.B, c.nextID(), m.Header.RequestID, wire.AwaitCapable|wire.QueryFailure))
		mongoerr.From(err).AppendReply(&b)
		b.Doc()
		c.out.B = wire.FinishReply(b.Bytes(), start)
	case *wire.Msg:
		if m.Has(wire.MoreToCome) {
			return
		}
		b.Reset(wire.BeginMsg(c.out.B, c.nextID(), m.Header.RequestID, m.Flags&wire.ChecksumPresent))
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

// largeReply waits for a slot for large replies, which the connection has until the reply
// is sent.
func (c *conn) largeReply(ctx context.Context) error {
	if c.hasSlot {
		return nil
	}
	err := c.srv.inFlight.takeSlot(ctx)
	c.hasSlot = err == nil
	return err
}

// replySent gives the slot for large replies back.
func (c *conn) replySent() {
	if c.hasSlot {
		c.hasSlot = false
		c.srv.inFlight.giveSlot()
	}
}
