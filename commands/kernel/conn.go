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

// Conn is what the commands know of a client connection. Three kinds of fields differ in
// who may use them:
//   - Endpoint is complete before the first command and constant from then on: anybody reads it.
//   - Shown is what other connections may see; it guards itself.
//   - All other fields belong to the goroutine that runs the connection's commands, one after
//     the other, and need no lock.
type Conn struct {
	Endpoint
	Shown

	// Balanced reports whether a hello of the client had the option loadBalanced.
	Balanced bool
	// OwnCursors reports whether cursors end with the connection although the client did not
	// come through the port for load balancers.
	OwnCursors    bool
	Greeted       bool             // whether a hello has come
	knowsServerID bool             // whether a reply has had the service id for load balancers
	inTxn         *session.Session // the session of the last transaction, if FromBalancer

	User         *auth.User         // the authenticated user; changed by SetUser
	Conversation *auth.Conversation // the login that has begun; nil: none
	Subject      string             // the subject of the client's certificate, if it was verified

	work workspace // memory that one command after the other reuses
}

// Endpoint is the transport of a connection. It is set before the first command.
type Endpoint struct {
	ID         int64  // the number of the connection, counted from 1
	Remote     string // "host:port" of the client
	Local      string // "host:port" to which the client connected
	ServerName string // the name of the server in the client's TLS handshake (SNI)

	// HungUp reports whether the client has closed its side; nil where the transport cannot
	// know.
	HungUp func() bool
	// LargeReply waits until a large reply may be written, whose memory is freed when it is
	// sent; nil where there is no limit.
	LargeReply func(context.Context) error
	// FromBalancer reports whether the client came through the port for load balancers. Such
	// a client cannot reach this server again by another connection, so cursors and open
	// transactions end with the connection.
	FromBalancer bool
}

// Shown is what currentOp, logs and messages show of a connection. Its methods may be called
// by any goroutine.
type Shown struct {
	mu      sync.Mutex // guards client, appName and uuid
	client  value.Doc  // the metadata of the first hello
	appName string     // the name of the application in client
	uuid    [16]byte   // the id for connectionStatus; zero until it is requested

	userName atomic.Pointer[string] // the authenticated user, as "db.name"; nil: nobody logged in
}

// NewConn registers a connection.
func (s *Service) NewConn(remote, local string) *Conn {
	return &Conn{Endpoint: Endpoint{ID: s.lastConn.Add(1), Remote: remote, Local: local}}
}

// Connected lists an open connection, until CloseConn: see IdleConns.
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

// SetSubject sets the subject of the client's verified TLS certificate.
func (c *Conn) SetSubject(subject string) { c.Subject = subject }

// SetUser sets who is logged in, nil for nobody.
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

// UserName returns who is logged in, as "db.name", "" for nobody.
func (c *Shown) UserName() string {
	if name := c.userName.Load(); name != nil {
		return *name
	}
	return ""
}

// SetClient sets the metadata of the handshake.
func (c *Shown) SetClient(doc value.Doc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.client = doc.Clone()
	c.appName = strings.Clone(c.client.Lookup("application").Doc().Lookup("name").Str())
}

// ClientInfo returns the metadata of the handshake and the name of the application in
// it.
func (c *Shown) ClientInfo() (doc value.Doc, appName string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.client, c.appName
}

// Context names the connection in the log, as mongod does.
func (c *Endpoint) Context() string { return "conn" + strconv.FormatInt(c.ID, 10) }

// UUID returns the id of the connection that connectionStatus shows. It is made when it
// is first requested.
func (c *Shown) UUID() value.Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uuid == ([16]byte{}) {
		c.uuid = catalog.NewUUID()
	}
	return value.Binary(4, c.uuid[:])
}

// FirstGreeting reports whether the hello is the first one of a client that came through a
// load balancer.
func (c *Conn) FirstGreeting() bool {
	first := c.FromBalancer && !c.knowsServerID
	c.knowsServerID = c.knowsServerID || first
	return first
}

// NoteTransaction records the session of a statement of a transaction.
func (c *Conn) NoteTransaction(ss *session.Session) {
	if c.FromBalancer {
		c.inTxn = ss
	}
}

// LastTransaction returns the session of the connection's last transaction, nil if there was
// none or if transactions do not end with the connection.
func (c *Conn) LastTransaction() *session.Session { return c.inTxn }
