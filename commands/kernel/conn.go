package kernel

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/value"
)

// Conn is what the commands know of a client connection. Its fields are
// written by the connection's own goroutine; others read them through the
// methods.
type Conn struct {
	ID     int64  // counted from 1
	Remote string // "host:port" of the client
	Local  string // "host:port" the client connected to
	// ServerName is the name of the server in the client's TLS handshake (SNI).
	ServerName string

	// HungUp reports whether the client has closed its side. It is set before the first
	// command, and nil where the transport cannot know.
	HungUp func() bool

	// LargeReply waits until a large reply may be written, whose memory is freed when it is
	// sent. It is set before the first command, and nil where there is no limit.
	LargeReply func(context.Context) error

	// FromBalancer reports whether the client came through the port for load balancers. Such
	// a client cannot reach this server again by another connection, so cursors and open
	// transactions end with the connection.
	FromBalancer bool
	// Balanced reports whether it has said that it knows of the load balancer.
	Balanced bool
	// OwnCursors reports whether cursors end with the connection although the client did not
	// come through that port.
	OwnCursors  bool
	greetedBack bool // it has got the service id

	inTxn *session.Session // of the last transaction, if FromBalancer

	Mu          sync.Mutex // guards the fields up to Compression
	client      value.Doc  // metadata from the first hello
	appName     string
	Greeted     bool     // a hello has come
	id          [16]byte // for connectionStatus; zero until it is requested
	Compression []string // negotiated by hello, in the client's order

	work workspace // reused by one command after the other

	User         *auth.User         // the authenticated user; changed by SetUser
	Conversation *auth.Conversation // a running authentication
	Subject      string             // of the client's certificate, if it was verified

	userName atomic.Pointer[string] // of User, as "db.name"; nil: nobody logged in
}

// NewConn registers a connection.
func (s *Service) NewConn(remote, local string) *Conn {
	return &Conn{ID: s.lastConn.Add(1), Remote: remote, Local: local}
}

// Connected lists a connection, until CloseConn, for those who ask which there are. Its
// addresses do not change any more.
func (s *Service) Connected(c *Conn) { s.conns.Store(c.ID, c) }

// IdleConns returns the listed connections without a running operation, ordered by their ids.
func (s *Service) IdleConns() (idle []*Conn) {
	busy := map[*Conn]bool{}
	for _, op := range s.Ops.List() {
		busy[op.Conn] = true
	}
	s.conns.Range(func(_, v any) bool {
		if c := v.(*Conn); !busy[c] {
			idle = append(idle, c)
		}
		return true
	})
	slices.SortFunc(idle, func(a, b *Conn) int { return cmp.Compare(a.ID, b.ID) })
	return idle
}

// CloseConn ends the commands of a connection and releases what it holds.
func (s *Service) CloseConn(c *Conn) {
	s.conns.Delete(c.ID)
	s.Ops.killConn(c.ID)
	if c.work.busy.CompareAndSwap(false, true) { // it stays busy
		c.work.close()
	}
}

// SetSubject notes the subject of the client's verified TLS certificate.
func (c *Conn) SetSubject(subject string) { c.Subject = subject }

// SetUser notes who is logged in, nil for nobody.
func (c *Conn) SetUser(u *auth.User) {
	if u == c.User {
		return
	}
	c.User = u
	var name *string
	if u != nil {
		id := u.Name.ID()
		name = &id
	}
	c.userName.Store(name)
}

// UserName returns who is logged in, as "db.name", "" for nobody. Any goroutine may call it.
func (c *Conn) UserName() string {
	if name := c.userName.Load(); name != nil {
		return *name
	}
	return ""
}

// SetClient remembers the metadata of the handshake.
func (c *Conn) SetClient(doc value.Doc) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.client = doc.Clone()
	c.appName = strings.Clone(c.client.Lookup("application").Doc().Lookup("name").Str())
}

// ClientInfo returns the metadata of the handshake and the name of the application in
// it.
func (c *Conn) ClientInfo() (doc value.Doc, appName string) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.client, c.appName
}

// Context names the connection in the log, as mongod does.
func (c *Conn) Context() string { return "conn" + strconv.FormatInt(c.ID, 10) }

// UUID returns the id of the connection that connectionStatus shows. It is made when it
// is first asked for.
func (c *Conn) UUID() value.Value {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.id == ([16]byte{}) {
		c.id = catalog.NewUUID()
	}
	return value.Binary(4, c.id[:])
}

// FirstGreeting reports whether the hello is the first one of a client that came through a
// load balancer.
func (c *Conn) FirstGreeting() bool {
	first := c.FromBalancer && !c.greetedBack
	c.greetedBack = c.greetedBack || first
	return first
}

// NoteTransaction notes the session of a statement of a transaction.
func (c *Conn) NoteTransaction(ss *session.Session) {
	if c.FromBalancer {
		c.inTxn = ss
	}
}

// LastTransaction returns the session of the connection's last transaction, nil if there was
// none or if transactions do not end with the connection.
func (c *Conn) LastTransaction() *session.Session { return c.inTxn }
