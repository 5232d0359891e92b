package wire

import (
	"bytes"
	"encoding/binary"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/duskdb/duskdb/value"
)

// QueryFlags are the flag bits of an OP_QUERY.
type QueryFlags int32

// The flags of OP_QUERY that had a meaning for commands.
const (
	SecondaryOK QueryFlags = 1 << 2
	Exhaust     QueryFlags = 1 << 6
)

// Query is an OP_QUERY. Clients open a connection with one, to ask "hello" in
// a form that servers of any age understand.
type Query struct {
	Header     Header
	Flags      QueryFlags
	Collection string // as "admin.$cmd"; aliases the message
	Skip       int32
	Return     int32
	Doc        value.Doc // not validated but for its length
	Fields     value.Doc // the projection, or nil

	// Compressor is how the message came; a reply goes back the same way.
	Compressor Compressor
}

// Head is the message's header.
func (q *Query) Head() Header { return q.Header }

// Database returns the database whose command collection is asked, and
// whether it is a command collection at all.
func (q *Query) Database() (db string, command bool) {
	return strings.CutSuffix(q.Collection, ".$cmd")
}

// Command returns the command document. Drivers that route through a mongos
// wrap it as {$query: command, $readPreference: …}; otherwise readPreference is
// nil. The document has not been validated yet, so Command reads the wrapper with
// bounds checks, and returns an invalid one unchanged.
func (q *Query) Command() (command, readPreference value.Doc) {
	doc := bsoncore.Document(q.Doc)
	for _, name := range []string{"$query", "query"} {
		first, err := doc.IndexErr(0)
		if err != nil || first.Key() != name {
			continue
		}
		if inner, ok := first.Value().DocumentOK(); ok {
			if v, err := doc.LookupErr("$readPreference"); err == nil {
				rp, _ := v.DocumentOK()
				readPreference = value.Doc(rp)
			}
			return value.Doc(inner), readPreference
		}
	}
	return q.Doc, nil
}

// parse reads the whole message b.
func (q *Query) parse(b []byte) error {
	b = b[HeaderSize:]
	if len(b) < 4 {
		return truncated(OpQuery)
	}
	q.Flags = QueryFlags(int32At(b, 0))
	b = b[4:]
	end := bytes.IndexByte(b, 0)
	if end < 0 || len(b) < end+1+8 {
		return truncated(OpQuery)
	}
	q.Collection = stringView(b[:end])
	b = b[end+1:]
	q.Skip, q.Return = int32At(b, 0), int32At(b, 4)
	b = b[8:]
	n, err := documentSize(b)
	if err != nil {
		return err
	}
	q.Doc = b[:n:n]
	if b = b[n:]; len(b) == 0 {
		return nil
	}
	if n, err = documentSize(b); err != nil {
		return err
	}
	if n != len(b) {
		return reject(CodeInvalidBSON, "OP_QUERY has %d bytes too many", len(b)-n)
	}
	q.Fields = b[:n:n]
	return nil
}

// ReplyFlags are the flag bits of an OP_REPLY.
type ReplyFlags int32

// The flags of OP_REPLY.
const (
	CursorNotFound ReplyFlags = 1 << 0
	QueryFailure   ReplyFlags = 1 << 1
	AwaitCapable   ReplyFlags = 1 << 3 // mongod sets it always
)

// Reply is an OP_REPLY, the answer to an OP_QUERY.
type Reply struct {
	Header       Header
	Flags        ReplyFlags
	CursorID     int64
	StartingFrom int32
	Docs         Sequence // without a name
}

// Head is the message's header.
func (r *Reply) Head() Header { return r.Header }

// parse reads the whole message b.
func (r *Reply) parse(b []byte) error {
	b = b[HeaderSize:]
	if len(b) < 20 {
		return truncated(OpReply)
	}
	r.Flags = ReplyFlags(int32At(b, 0))
	r.CursorID = int64(binary.LittleEndian.Uint64(b[4:]))
	r.StartingFrom = int32At(b, 12)
	want := int(int32At(b, 16))
	r.Docs.raw = b[20:]
	for rest := r.Docs.raw; len(rest) > 0; r.Docs.n++ {
		n, err := documentSize(rest)
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	if r.Docs.n != want {
		return reject(CodeInvalidBSON, "OP_REPLY announces %d documents and has %d", want, r.Docs.n)
	}
	return nil
}

func truncated(o OpCode) error {
	return fatal(CodeProtocolError, "%s is truncated", o)
}
