package kernel

import (
	"time"

	"github.com/duskdb/duskdb/value"
)

// Request is one command message, already split into its sections. All
// documents have been validated, and stay valid until Handle returns.
type Request struct {
	Body      value.Doc  // the kind-0 section, whose first field is the command
	Sequences []Sequence // the kind-1 sections, in the order of the message
	// Legacy marks an OP_QUERY; only handshakes and logins come that way.
	Legacy bool
	// DB is the database of the command: that of an OP_QUERY's namespace, or $db, which
	// is read with the generic arguments.
	DB string
	// Exhaust reports whether the client accepts more than one reply.
	Exhaust bool
	// Bytes is the size of the message, for the metrics.
	Bytes int
	// At is when the server began with it, real time; zero: not measured yet.
	At time.Time
}

// Sequence is a kind-1 section: documents that belong to the array argument
// of that name.
type Sequence struct {
	ID   string // name of the argument
	Docs []byte // one document after the other
	Len  int    // number of the documents
}

// Response says what the server does besides sending the reply.
type Response struct {
	// Next is the request to run again for an exhaust reply; nil if the
	// reply was the last.
	Next value.Doc
	// Close asks to close the connection after the reply.
	Close bool
	// Drop asks to close the connection instead of sending the reply.
	Drop bool
}
