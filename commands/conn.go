package commands

import (
	"strings"
	"sync"
	"time"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/value"
)

// Conn is what the commands know of a client connection. Its fields are
// written by the connection's own goroutine; others read them through the
// methods.
type Conn struct {
	ID      int64
	Remote  string // "host:port" of the client
	Local   string // "host:port" the client connected to
	Started time.Time
	// ServerName is what the client called the server in its TLS handshake.
	ServerName string

	// HungUp reports whether the client has closed its side; nil: that cannot be
	// told. It is set before the first command.
	HungUp func() bool

	mu          sync.Mutex
	client      value.Doc // metadata from the first hello
	appName     string
	greeted     bool     // a hello has come
	id          [16]byte // for connectionStatus; zero until it is asked for
	compression []string

	work workspace // for one command after the other

	user         *auth.User         // who is logged in
	conversation *auth.Conversation // a login under way
	subject      string             // of the client's certificate, if it was verified
}

// NewConn registers a connection.
func (s *Service) NewConn(remote, local string) *Conn {
	return &Conn{ID: s.lastConn.Add(1), Remote: remote, Local: local, Started: s.clock.Now()}
}

// CloseConn forgets a connection: its unfinished single-connection state.
func (s *Service) CloseConn(c *Conn) {
	s.ops.killConn(c.ID)
	if c.work.busy.CompareAndSwap(false, true) { // and stays so
		c.work.close()
	}
}

// SetSubject names the owner of the certificate that the client proved to
// have.
func (c *Conn) SetSubject(subject string) { c.subject = subject }

// Compressors returns what hello negotiated, in the client's order.
func (c *Conn) Compressors() []string { return c.compression }

// setClient remembers the metadata of the handshake.
func (c *Conn) setClient(doc value.Doc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.client = doc.Clone()
	c.appName = strings.Clone(c.client.Lookup("application").Doc().Lookup("name").Str())
}

func (c *Conn) clientInfo() (doc value.Doc, appName string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.client, c.appName
}
