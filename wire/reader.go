package wire

import (
	"bufio"
	"io"
)

// Message is what a Reader returns: *[Msg], *[Query] or *[Reply].
type Message interface {
	// Head is the header of the message; of a compressed one, the header of
	// the message inside.
	Head() Header
}

// inputBuffer is large enough for most requests to arrive in one read.
const inputBuffer = 4 << 10

// Reader reads messages from a connection. It is not safe for concurrent
// use.
type Reader struct {
	in    *bufio.Reader
	frame scratch // the message as it came
	plain scratch // the message inside an OP_COMPRESSED

	budget Budget
	held   int // taken from the budget

	// The last message of each kind, reused.
	msg   *Msg
	query *Query
	reply *Reply
}

// NewReader returns a Reader over r.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, inputBuffer), msg: new(Msg), query: new(Query), reply: new(Reply)}
}

// Budget limits the memory of the large messages that all Readers of a server
// hold at a time.
type Budget interface {
	// Take waits until n bytes may be used.
	Take(n int) error
	// Give returns what was taken.
	Give(n int)
}

// SetBudget makes the Reader ask before it takes memory for a large message,
// but not before the client has sent the first part of it.
func (r *Reader) SetBudget(b Budget) { r.budget = b }

// Release gives the memory of the last message back; the message is no longer
// valid.
func (r *Reader) Release() {
	r.frame.release()
	r.plain.release()
	if r.held > 0 {
		r.budget.Give(r.held)
		r.held = 0
	}
}

// begun takes from the budget what the message whose first bytes are head
// will need: all at once, as two that have half each would wait for ever.
func (r *Reader) begun(head []byte) error {
	if r.budget == nil {
		return nil
	}
	h := parseHeader(head)
	n := 0
	if h.Length > firstChunk {
		n = int(h.Length)
	}
	if h.OpCode == OpCompressed && len(head) >= compressedHeader {
		if size := int(int32At(head, HeaderSize+4)); size > firstChunk && size <= MaxMessageSize {
			n += size
		}
	}
	if n == 0 {
		return nil
	}
	if err := r.budget.Take(n); err != nil {
		return err
	}
	r.held = n
	return nil
}

// ReadMessage reads the next message. The message and everything in it are
// valid until the next call.
//
// At the end of input between two messages the error is io.EOF. When the
// message was read but breaks the protocol, the error is an *[Error], and
// unless that is fatal the message is returned with it, as far as it was
// understood: its header and flags tell how to answer.
func (r *Reader) ReadMessage() (Message, error) {
	r.Release()
	b, err := r.readFrame()
	if err != nil {
		return nil, err
	}
	compressor := Uncompressed
	if parseHeader(b).OpCode == OpCompressed {
		if b, compressor, err = r.decompress(b); err != nil {
			return nil, err
		}
	}
	return r.parse(b, compressor)
}

// Pending is how many bytes of the next messages are at hand.
func (r *Reader) Pending() int { return r.in.Buffered() }

// Complete reports whether the whole next message is at hand. Until then its
// sender may be waiting for the reply to the last.
func (r *Reader) Complete() bool {
	n := r.in.Buffered()
	if n < HeaderSize {
		return false
	}
	head, err := r.in.Peek(HeaderSize)
	return err == nil && int(parseHeader(head).Length) <= n
}

// Next waits for the header of the next message and leaves it to be read. What
// begins as an HTTP request is [ErrHTTP].
func (r *Reader) Next() (Header, error) {
	head, err := r.in.Peek(HeaderSize)
	if err != nil {
		if len(head) > 0 {
			err = unexpected(err)
		}
		return Header{}, err
	}
	if string(head[:4]) == "GET " {
		return Header{}, ErrHTTP
	}
	return parseHeader(head), nil
}

// readFrame reads one message as bytes, header included.
func (r *Reader) readFrame() ([]byte, error) {
	h, err := r.Next()
	if err != nil {
		return nil, err
	}
	if err := h.checkLength(); err != nil {
		return nil, err
	}
	return r.frame.readFull(r.in, int(h.Length), r.begun)
}

// parse takes a whole, plain message apart.
func (r *Reader) parse(b []byte, c Compressor) (Message, error) {
	var (
		m   Message
		err error
	)
	switch h := parseHeader(b); h.OpCode {
	case OpMsg:
		*r.msg = Msg{Header: h, Compressor: c}
		m, err = r.msg, r.msg.parse(b)
	case OpQuery:
		*r.query = Query{Header: h, Compressor: c}
		m, err = r.query, r.query.parse(b)
	case OpReply:
		*r.reply = Reply{Header: h}
		m, err = r.reply, r.reply.parse(b)
	default:
		return nil, fatal(CodeUnsupportedOpCode,
			"%s is no longer supported. The client driver may require an upgrade.", h.OpCode)
	}
	if err == nil {
		return m, nil
	}
	if IsFatal(err) {
		return nil, err
	}
	return m, err
}
