package console

import (
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/duskdb/duskdb/clock"
)

// Options configure a console.
type Options struct {
	// Dial connects to the server within the process, for a client at an address.
	Dial func(remote net.Addr) net.Conn
	// Clock measures how long sessions are idle. It is the real one: a client that moves a
	// test clock must not end sessions.
	Clock clock.Clock

	Auth      bool // clients must log in
	ReadOnly  bool // only commands that read
	TestClock bool // the clock can be moved
	Secure    bool // served over TLS
	BindIP    string
	Hosts     []string // names of the console besides those of the loopback addresses and BindIP
	Version   string
}

// Limits of the console.
const (
	maxBody      = 4 << 20
	maxLoginBody = 4 << 10
	smallBody    = 64 << 10 // size of a body that waits for no memory
	bodyMemory   = 32       // bytes that a byte of a large body may need until the server has it, at most
	maxMemory    = 256 << 20
	maxBatches   = 64 << 20 // bytes of large batches of events
	maxSessions  = 100
	maxPerUser   = 10               // sessions
	maxIdle      = 30 * time.Minute // how long a session may be unused
	maxRunning   = 128              // calls at a time
	maxLogins    = 256              // logins that wait for their answer
	maxEvents    = 16               // streams of events at a time
	maxText      = 1 << 10          // bytes of an error
	commandTime  = 30 * time.Second // maximum time of a command
	answerTime   = 30 * time.Second // maximum time for an answer, from its first byte on
	writeTime    = 10 * time.Second // maximum time to write a part of a stream, or a short answer
	waitTime     = 20 * time.Second // maximum wait for memory
	keptPerLogin = 4                // idle connections of a session
)

// Console is the handler of the console.
type Console struct {
	options  Options
	files    map[string]*file
	sessions *sessions
	logins   *logins
	running  chan struct{}
	events   chan struct{}
	bodies   *semaphore.Weighted // bytes
	batches  *semaphore.Weighted // bytes
	mux      *http.ServeMux
}

// New prepares a console.
func New(o Options) *Console {
	c := &Console{
		options: o, files: loadFiles(), sessions: newSessions(o.Clock), logins: newLogins(),
		running: make(chan struct{}, maxRunning), events: make(chan struct{}, maxEvents),
		bodies: semaphore.NewWeighted(maxMemory), batches: semaphore.NewWeighted(maxBatches), mux: http.NewServeMux(),
	}
	c.mux.HandleFunc("GET /api/session", c.session)
	c.mux.HandleFunc("POST /api/login", c.login)
	c.mux.HandleFunc("POST /api/logout", c.logout)
	c.mux.HandleFunc("POST /api/command", c.command)
	c.mux.HandleFunc("GET /api/events", c.stream)
	c.mux.HandleFunc("GET /", c.static)
	return c
}

// Close ends all sessions.
func (c *Console) Close() { c.sessions.close() }

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if err := c.checkHost(r); err != nil {
		refuse(w, http.StatusForbidden, err.Error())
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(c.options.Clock.Now().Add(commandTime + writeTime))
	c.mux.ServeHTTP(w, r)
}
