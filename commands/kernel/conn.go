package kernel

import (
	"strings"
	"sync"
	"time"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/commands/catalog"
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

	Mu          sync.Mutex
	client      value.Doc // metadata from the first hello
	appName     string
	Greeted     bool     // a hello has come
	id          [16]byte // for connectionStatus; zero until it is asked for
	Compression []string

	work workspace // for one command after the other

	User         *auth.User         // who is logged in
	Conversation *auth.Conversation // a login under way
	Subject      string             // of the client's certificate, if it was verified
}

// NewConn registers a connection.
func (s *Service) NewConn(remote, local string) *Conn {
	return &Conn{ID: s.lastConn.Add(1), Remote: remote, Local: local, Started: s.Clock.Now()}
}

// CloseConn forgets a connection: its unfinished single-connection state.
func (s *Service) CloseConn(c *Conn) {
	s.Ops.killConn(c.ID)
	if c.work.busy.CompareAndSwap(false, true) { // and stays so
		c.work.close()
	}
}

// SetSubject names the owner of the certificate that the client proved to
// have.
func (c *Conn) SetSubject(subject string) { c.Subject = subject }

// Compressors returns what hello negotiated, in the client's order.
func (c *Conn) Compressors() []string { return c.Compression }

// SetClient remembers the metadata of the handshake.
func (c *Conn) SetClient(doc value.Doc) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.client = doc.Clone()
	c.appName = strings.Clone(c.client.Lookup("application").Doc().Lookup("name").Str())
}

func (c *Conn) ClientInfo() (doc value.Doc, appName string) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.client, c.appName
}

// UUID names a connection, as connectionStatus tells it.
func (c *Conn) UUID() value.Value {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.id == ([16]byte{}) {
		c.id = catalog.NewUUID()
	}
	return value.Binary(4, c.id[:])
}
