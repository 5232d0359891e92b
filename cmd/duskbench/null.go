package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// nullCommand serves canned replies in a process of its own.
type nullCommand struct {
	Port int `help:"Port on 127.0.0.1; 0 takes a free one." default:"0"`
}

// Run serves until standard input is closed, so that the server does not
// outlive the process that started it.
func (c *nullCommand) Run(out io.Writer) error {
	s, err := startNull(c.Port)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, s.addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return s.close()
}

// nullServer answers every request with a canned reply.
type nullServer struct {
	listener net.Listener
	wg       sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]struct{}
	closed   bool
}

// startNull starts a null server on a port of the loopback interface.
func startNull(port int) (*nullServer, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	s := &nullServer{listener: l, conns: make(map[net.Conn]struct{})}
	s.wg.Go(s.accept)
	return s, nil
}

func (s *nullServer) addr() string { return s.listener.Addr().String() }

// close ends all connections and waits for them.
func (s *nullServer) close() error {
	err := s.listener.Close()
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
	return err
}

// accept serves each connection in a goroutine until the listener is closed.
func (s *nullServer) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.closed {
			_ = conn.Close()
		}
		s.conns[conn] = struct{}{}
		s.mu.Unlock()
		s.wg.Go(func() {
			serveNull(conn)
			_ = conn.Close()
			s.mu.Lock()
			delete(s.conns, conn)
			s.mu.Unlock()
		})
	}
}

// serveNull answers one connection until it ends. Replies leave together
// when no further request is at hand.
func serveNull(conn io.ReadWriter) {
	in := wire.NewReader(conn)
	var n nullReplies
	for {
		m, err := in.ReadMessage()
		if err != nil {
			return
		}
		if err := n.answer(m); err != nil {
			return
		}
		if in.Pending() > 0 || len(n.out) == 0 {
			continue
		}
		if _, err := conn.Write(n.out); err != nil {
			return
		}
		n.out = n.out[:0]
	}
}

// nullReplies collects the replies of one connection.
type nullReplies struct {
	out  []byte
	body []byte
	last int32
}

// answer appends the reply to one message.
func (n *nullReplies) answer(m wire.Message) error {
	n.last++
	start := len(n.out)
	switch m := m.(type) {
	case *wire.Query:
		n.out = wire.BeginReply(n.out, n.last, m.Header.RequestID, wire.AwaitCapable)
		n.out = wire.FinishReply(append(n.out, cannedHello...), start)
		n.compress(start, m.Compressor)
	case *wire.Msg:
		if m.Has(wire.MoreToCome) {
			return nil
		}
		n.out = wire.BeginMsg(n.out, n.last, m.Header.RequestID, m.Flags&wire.ChecksumPresent)
		n.out = wire.FinishMsg(n.appendBody(m), start)
		n.compress(start, m.Compressor)
	default:
		return errors.New("not a request")
	}
	return nil
}

// compress replaces the reply that starts at n.out[start].
func (n *nullReplies) compress(start int, z wire.Compressor) {
	if z != wire.Uncompressed {
		n.body = append(n.body[:0], n.out[start:]...)
		n.out = wire.AppendCompressed(n.out[:start], n.body, z)
	}
}

// The canned replies.
var (
	cannedOK    = value.NewDoc("ok", value.Double(1))
	cannedHello = value.NewDoc(
		"helloOk", value.Bool(true), "isWritablePrimary", value.Bool(true), "ismaster", value.Bool(true),
		"maxBsonObjectSize", value.Int32(wire.MaxDocumentSize),
		"maxMessageSizeBytes", value.Int32(wire.MaxMessageSize),
		"maxWriteBatchSize", value.Int32(100_000),
		"minWireVersion", value.Int32(0), "maxWireVersion", value.Int32(25),
		"compression", value.NewArray(value.String("snappy"), value.String("zstd"), value.String("zlib")),
		"logicalSessionTimeoutMinutes", value.Int32(30), "readOnly", value.Bool(false), "ok", value.Double(1))
	cannedCursor = value.NewDoc(
		"cursor", value.Document(value.NewDoc(
			"firstBatch", value.NewArray(value.Document(value.NewDoc(
				"_id", value.Int32(1), "k", value.Int32(1), "tag", value.String("tag1"), "n", value.Int32(0),
				"pad", value.String("this document has been canned in a hurry")))),
			"id", value.Int64(0), "ns", value.String("duskbench.docs"))),
		"ok", value.Double(1))
	cannedValue = value.NewDoc(
		"lastErrorObject", value.Document(value.NewDoc("n", value.Int32(1), "updatedExisting", value.Bool(true))),
		"value", cannedCursor.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0), "ok", value.Double(1))
	cannedCount    = value.NewDoc("n", value.Int32(100), "ok", value.Double(1))
	cannedMessages = value.NewDoc(
		"messages", value.NewArray(value.Document(value.NewDoc("n", value.Int32(1), "_mq", value.Document(value.NewDoc(
			"sequenceNumber", value.Int64(1), "state", value.String("active"), "lockToken", value.Binary(4, make([]byte, 16))))))),
		"ok", value.Double(1))
	cannedUpdate = value.NewDoc("n", value.Int32(1), "nModified", value.Int32(1), "ok", value.Double(1))
)

// appendBody appends the reply to the command m.
func (n *nullReplies) appendBody(m *wire.Msg) []byte {
	switch string(commandName(m.Body)) {
	case "hello", "isMaster", "ismaster":
		return append(n.out, cannedHello...)
	case "find", "aggregate":
		return append(n.out, cannedCursor...)
	case "findAndModify":
		return append(n.out, cannedValue...)
	case "mqReceive":
		return append(n.out, cannedMessages...)
	case "count":
		return append(n.out, cannedCount...)
	case "update":
		return append(n.out, cannedUpdate...)
	case "insert", "delete":
		count := 1
		if len(m.Sequences) > 0 {
			count = m.Sequences[0].Len()
		}
		var b value.Builder
		b.Reset(n.body[:0])
		n.body = b.Int32("n", int32(count)).Double("ok", 1).Doc()
		return append(n.out, n.body...)
	}
	return append(n.out, cannedOK...)
}

// commandName returns the first key of an unvalidated document.
func commandName(d value.Doc) []byte {
	if len(d) < 6 {
		return nil
	}
	key := d[5:]
	if end := bytes.IndexByte(key, 0); end >= 0 {
		return key[:end]
	}
	return nil
}
