package wire

import (
	"errors"
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

	compressor Compressor // compression of every request
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
	if err := c.checkAnswer(msg.Header); err != nil {
		return nil, err
	}
	if msg.Has(MoreToCome) {
		c.awaits = msg.Header.RequestID
	}
	return msg, nil
}

func (c *Client) checkAnswer(h Header) error {
	if h.ResponseTo != c.awaits {
		return fmt.Errorf("the reply answers request %d, not %d", h.ResponseTo, c.awaits)
	}
	return nil
}

// Stream reads only the head of the reply to the last request and returns its document,
// which is read as it arrives. The caller reads all of it before the next request. The document
// is not validated.
func (c *Client) Stream() (io.Reader, error) {
	const head = HeaderSize + 4 + 1 // with the flags and the kind of the section
	c.in.Release()
	h, err := c.in.Next()
	if err != nil {
		return nil, unexpected(err)
	}
	b, err := c.in.in.Peek(head)
	if err != nil {
		return nil, unexpected(err)
	}
	if h.OpCode != OpMsg || int32At(b, HeaderSize) != 0 || b[head-1] != 0 || h.checkLength() != nil {
		return nil, errors.New("the reply is not an OP_MSG with one document and without flags")
	}
	if err := c.checkAnswer(h); err != nil {
		return nil, err
	}
	_, _ = c.in.in.Discard(head)
	return io.LimitReader(c.in.in, int64(h.Length)-head), nil
}

// SetBudget makes the Client wait for a share of a budget before it takes memory for a large
// reply. The share is given back when it reads the next, and by Release.
func (c *Client) SetBudget(b Budget) { c.in.SetBudget(b) }

// Release gives the memory of the last reply back, which is no longer valid.
func (c *Client) Release() { c.in.Release() }
