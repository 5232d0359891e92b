package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/duskdb/duskdb/clock"
)

// conn is a connection to the database. It sends any number of statements at once
// and reads their answers together: one round trip, a trip. Answers may also be
// left unread until the next trip. It is used by one goroutine at a time.
type conn struct {
	net     net.Conn
	in      *pgproto3.Frontend // for what is received
	out     []byte
	raw     string // statements to be sent as they are
	queued  int    // statements in out
	begins  bool   // the first statement of the trip begins a transaction that may write
	owed    int    // trips whose answers have not been read
	status  byte   // state of the transaction: I, T or E
	broken  error
	trips   func() // counts trips; may be nil
	notify  func(channel, payload string)
	session uint32    // the backend's process id
	whole   bool      // the statements of a trip are one transaction
	serves  bool      // it is for what the engine does, after the tables were made
	metrics *metrics  // may be nil
	kind    tripKind  // kind of the next trip
	locked  time.Time // when the lock was asked for
}

// errBroken says that a connection is of no use any more: what its last trip has
// done is not known.
type errBroken struct{ cause error }

func (e *errBroken) Error() string {
	return "the connection to the database is lost: " + e.cause.Error()
}

func (e *errBroken) Unwrap() error { return e.cause }

// dial connects and prepares the statements.
func dial(ctx context.Context, to *hosts, config *pgconn.Config) (*conn, error) {
	pg, err := to.connect(ctx, config)
	if err != nil {
		return nil, err
	}
	h, err := pg.Hijack()
	if err != nil {
		return nil, err
	}
	return &conn{net: h.Conn, in: h.Frontend, status: 'I', session: h.PID}, nil
}

// dial connects, and chooses the schema. It is not a parameter of the connection:
// poolers refuse those that they do not know, or ignore them.
func (s *store) dial(ctx context.Context) (*conn, error) {
	c, err := dial(ctx, &s.hosts, s.config)
	if err != nil {
		return nil, err
	}
	c.simple("set search_path = " + quoted(s.opts.Schema))
	if err := c.run(ctx, nil); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// prepare makes the statements known to the backend.
func (c *conn) prepare(ctx context.Context, list []*statement) error {
	for _, s := range list {
		c.out, _ = (&pgproto3.Parse{Name: s.name, Query: s.sql, ParameterOIDs: s.params}).Encode(c.out)
	}
	return c.run(ctx, nil)
}

// queue adds a statement to the next trip.
func (c *conn) queue(s *statement, args ...[]byte) {
	b, err := s.encode(c.out, args...)
	if err != nil {
		c.fail(err) // a message of more than a gigabyte
		return
	}
	c.out = b
	if c.queued == 0 {
		c.begins = s == begin
	}
	c.queued++
	c.kind = max(c.kind, s.kind)
}

// encode appends the messages that execute a statement.
func (s *statement) encode(b []byte, args ...[]byte) ([]byte, error) {
	b, err := (&pgproto3.Bind{PreparedStatement: s.name, ParameterFormatCodes: binaryFormat, Parameters: args, ResultFormatCodes: binaryFormat}).Encode(b)
	if err != nil {
		return nil, err
	}
	return (&pgproto3.Execute{}).Encode(b)
}

// queueEncoded adds a statement that reads to the next trip.
func (c *conn) queueEncoded(message []byte) {
	c.out = append(c.out, message...)
	if c.queued == 0 {
		c.begins = false
	}
	c.queued++
}

var binaryFormat = []int16{1}

// simple adds a statement that is not prepared, without parameters.
func (c *conn) simple(sql string) {
	c.out, _ = (&pgproto3.Parse{Query: sql}).Encode(c.out)
	c.out, _ = (&pgproto3.Bind{}).Encode(c.out)
	c.out, _ = (&pgproto3.Execute{}).Encode(c.out)
	if c.queued == 0 {
		c.begins = false
	}
	c.queued++
}

// query makes a trip of statements that are neither prepared nor sent with others.
func (c *conn) query(sql string) { c.raw = sql }

// send sends what is queued without waiting for the answer.
func (c *conn) send() {
	if c.raw != "" {
		c.out, _ = (&pgproto3.Query{String: c.raw}).Encode(c.out)
		c.raw = ""
	} else {
		c.out, _ = (&pgproto3.Sync{}).Encode(c.out)
	}
	c.owed++
	c.queued = 0
	if c.broken == nil {
		if _, err := c.net.Write(c.out); err != nil {
			c.fail(err)
		}
	}
	if cap(c.out) > 1<<16 {
		c.out = nil
	}
	c.out = c.out[:0]
}

// longWrite is the size from which a trip is sent while its answers are read: the
// database may not take more before some of them are.
const longWrite = 1 << 16

// run makes a trip: it calls row with each row of the answers, and the number of
// its statement. What row gets is valid during the call. It returns the error of
// the first statement that failed, or of row.
func (c *conn) run(ctx context.Context, row func(statement int, values [][]byte) error) (err error) {
	if c.trips != nil {
		c.trips()
	}
	began := clock.System().Now()
	defer func() { c.measured(began, err) }()
	defer c.watch(ctx)()
	if len(c.out) > longWrite && c.broken == nil {
		out := c.out
		c.out = nil
		out, _ = (&pgproto3.Sync{}).Encode(out)
		c.owed++
		c.queued = 0
		sent := make(chan error, 1)
		go func() {
			_, err := c.net.Write(out)
			sent <- err
		}()
		err := c.receive(row)
		if werr := <-sent; werr != nil {
			c.fail(werr)
			err = c.broken
		}
		return err
	}
	c.send()
	return c.receive(row)
}

// watch makes the end of a context break the connection. Its socket stays open, so that end can
// see when the database has noticed.
func (c *conn) watch(ctx context.Context) (done func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	stop := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Unix(1, 0)) })
	return func() {
		if !stop() && c.broken == nil {
			c.broken = &errBroken{context.Cause(ctx)}
		}
	}
}

// receive reads all answers that are owed; row gets those of the last trip.
func (c *conn) receive(row func(int, [][]byte) error) (err error) {
	for ; c.owed > 0; c.owed-- {
		if c.broken != nil {
			return c.broken
		}
		if c.owed > 1 {
			err = c.answer(nil)
		} else {
			err = c.answer(row)
		}
	}
	if c.broken != nil {
		return c.broken
	}
	return err
}

// answer reads the answer to one trip.
func (c *conn) answer(row func(int, [][]byte) error) (err error) {
	for n, failed := 0, 0; ; {
		msg, rerr := c.in.Receive()
		if rerr != nil {
			c.fail(rerr)
			return c.broken
		}
		switch m := msg.(type) {
		case *pgproto3.DataRow:
			if row != nil && err == nil {
				err = row(n, m.Values)
			}
		case *pgproto3.CommandComplete, *pgproto3.EmptyQueryResponse:
			n++
		case *pgproto3.ErrorResponse:
			if pe := pgconn.ErrorResponseToPgError(m); err == nil || pe.Severity == "FATAL" {
				err, failed = pe, n
			}
		case *pgproto3.NotificationResponse:
			if c.notify != nil {
				c.notify(m.Channel, m.Payload)
			}
		case *pgproto3.ReadyForQuery:
			c.status = m.TxStatus
			if c.serves && readOnly(err) && (!isUnsupported(err) || c.begins && failed == 0) {
				c.fail(err)
				return c.broken
			}
			return err
		}
	}
}

// readOnly reports whether an error says that the database cannot be written to: it is a
// standby, or has become one. A standby does not support transactions that may write.
func readOnly(err error) bool {
	return hasCode(err, "25006") || isUnsupported(err)
}

// isUnsupported reports whether an error says that the database has no such feature.
func isUnsupported(err error) bool { return hasCode(err, "0A000") }

// hasCode reports whether an error is one of the database with one of some codes.
func hasCode(err error, codes ...string) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && slices.Contains(codes, pe.Code)
}

// wait reads notifications until the context ends.
func (c *conn) wait(ctx context.Context) error {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.net.SetReadDeadline(time.Unix(1, 0))
		close(ended)
	})
	defer func() {
		if !stop() {
			<-ended
		}
		_ = c.net.SetReadDeadline(time.Time{})
	}()
	for {
		msg, err := c.in.Receive()
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return nil
		}
		if err != nil {
			c.fail(err)
			return c.broken
		}
		switch m := msg.(type) {
		case *pgproto3.NotificationResponse:
			c.notify(m.Channel, m.Payload)
			return nil
		case *pgproto3.ErrorResponse:
			c.fail(pgconn.ErrorResponseToPgError(m))
			return c.broken
		}
	}
}

// fail makes the connection useless.
func (c *conn) fail(err error) {
	if c.broken == nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("it was closed by the other side")
		}
		c.broken = &errBroken{err}
		c.hangUp()
	}
}

// socket is what the connection, which may be one of TLS, sends over.
func (c *conn) socket() net.Conn {
	if t, ok := c.net.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c.net
}

// hangUp closes the socket without a word and without waiting, whatever the connection is doing:
// the database ends its transaction.
func (c *conn) hangUp() { _ = c.socket().Close() }

// close says goodbye and closes the connection.
func (c *conn) close() {
	c.goodbye()
	c.hangUp()
}

// goodbye makes the database end the connection.
func (c *conn) goodbye() {
	if c.broken == nil {
		_ = c.net.SetWriteDeadline(clock.System().Now().Add(time.Second))
		b, _ := (&pgproto3.Terminate{}).Encode(nil)
		_, _ = c.net.Write(b)
		c.broken = &errBroken{net.ErrClosed}
	}
}

// endTime is how long end waits for the database.
const endTime = 3 * time.Second

// end closes the connection, and waits for a moment until the database has ended it, too: in the
// middle of a statement it looks for that from time to time (checkClient).
func (c *conn) end() {
	c.goodbye()
	s := c.socket()
	_ = s.SetDeadline(clock.System().Now().Add(endTime))
	if w, ok := s.(interface{ CloseWrite() error }); ok && w.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, s)
	}
	c.hangUp()
}
