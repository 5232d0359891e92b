package wire

import (
	"fmt"
	"io"

	"github.com/duskdb/duskdb/value"
)

// Client is a minimal client: it sends OP_MSG requests and reads their
// replies, one at a time. It serves health checks and load generators, and is
// not a driver. Not safe for concurrent use.
type Client struct {
	conn   io.ReadWriter
	in     *Reader
	out    []byte
	packed []byte
	lastID int32
	awaits int32 // the request id that the next reply must answer

	compressor Compressor // of every request
}

// NewClient returns a Client over a connection. The caller closes the
// connection.
func NewClient(conn io.ReadWriter) *Client {
	return &Client{conn: conn, in: NewReader(conn), compressor: Uncompressed}
}

// SetCompressor makes the client compress its requests.
func (c *Client) SetCompressor(z Compressor) { c.compressor = z }

// RoundTrip sends a request and reads its reply. The reply is valid until the
// next call.
func (c *Client) RoundTrip(body value.Doc, seqs ...Sequence) (*Msg, error) {
	if _, err := c.Send(0, body, seqs...); err != nil {
		return nil, err
	}
	return c.Receive()
}

// Send sends a request without waiting for a reply and returns its id.
func (c *Client) Send(flags Flags, body value.Doc, seqs ...Sequence) (int32, error) {
	c.lastID++
	b := BeginMsg(c.out[:0], c.lastID, 0, flags)
	b = append(b, body...)
	for _, s := range seqs {
		b = AppendSequence(b, s)
	}
	b = FinishMsg(b, 0)
	c.out = b
	if len(b) > MaxMessageSize {
		return 0, fmt.Errorf("message of %d bytes is longer than %d", len(b), MaxMessageSize)
	}
	if c.compressor != Uncompressed {
		b = AppendCompressed(c.packed[:0], b, c.compressor)
		c.packed = b
	}
	if _, err := c.conn.Write(b); err != nil {
		return 0, err
	}
	c.awaits = c.lastID
	return c.lastID, nil
}

// Receive reads one reply to the last request. After a reply with the flag
// moreToCome, call it again: each of those replies responds to the previous
// one.
func (c *Client) Receive() (*Msg, error) {
	m, err := c.in.ReadMessage()
	if err != nil {
		return nil, unexpected(err)
	}
	msg, ok := m.(*Msg)
	if !ok {
		return nil, fmt.Errorf("the reply is %s, not OP_MSG", m.Head().OpCode)
	}
	if msg.Header.ResponseTo != c.awaits {
		return nil, fmt.Errorf("the reply answers request %d, not %d", msg.Header.ResponseTo, c.awaits)
	}
	if msg.Has(MoreToCome) {
		c.awaits = msg.Header.RequestID
	}
	return msg, nil
}
