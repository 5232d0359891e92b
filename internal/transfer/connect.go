package transfer

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// Runner runs commands. The reply of a command that failed is a *CommandError.
type Runner interface {
	Run(command value.Doc, sequences ...wire.Sequence) (value.Doc, error)
}

// CommandError is the reply of a command that failed.
type CommandError struct {
	Code    int
	Message string
}

// Error is the server's message.
func (e *CommandError) Error() string { return e.Message }

// Conn is a connection to a server.
type Conn struct {
	// Database is the one that the connection string names; "" if none.
	Database string

	conn   io.ReadWriteCloser
	client *wire.Client
	tls    bool // whether the connection is encrypted
}

// NewConn uses an open connection.
func NewConn(c io.ReadWriteCloser) *Conn { return &Conn{conn: c, client: wire.NewClient(c)} }

// Close closes the connection.
func (c *Conn) Close() { _ = c.conn.Close() }

// SetDeadline sets the deadline for commands, if the connection supports one.
func (c *Conn) SetDeadline(t time.Time) error {
	if nc, ok := c.conn.(net.Conn); ok {
		return nc.SetDeadline(t)
	}
	return nil
}

// Run sends a command and returns the reply.
func (c *Conn) Run(command value.Doc, sequences ...wire.Sequence) (value.Doc, error) {
	msg, err := c.client.RoundTrip(command, sequences...)
	if err != nil {
		return nil, c.explain(err)
	}
	if err := value.Validate(msg.Body); err != nil {
		return nil, err
	}
	reply := msg.Body.Clone()
	if !reply.Lookup("ok").Truthy() {
		return nil, &CommandError{int(reply.Lookup("code").Int64()), reply.Lookup("errmsg").Str()}
	}
	return reply, nil
}

// explain says what to do about a certificate that is missing, and what it may mean that the
// server has closed the connection.
func (c *Conn) explain(err error) error {
	switch {
	case HasUnknownAuthority(err):
		return fmt.Errorf("%w: if it is the right one, name its file with tlsCAFile in the connection string", err)
	case WantsCertificate(err):
		return fmt.Errorf("%w: name the file of yours with tlsCertificateKeyFile in the connection string", err)
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.ECONNRESET):
		return err
	case c.tls:
		return errors.New("the server has closed the connection: perhaps it does not speak TLS")
	}
	return errors.New("the server has closed the connection: if it speaks TLS, add tls=true to the connection string")
}

// HasUnknownAuthority reports whether nobody vouches for the server's certificate.
func HasUnknownAuthority(err error) bool {
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &unknown)
}

// WantsCertificate reports whether the server has refused a client without a certificate.
func WantsCertificate(err error) bool {
	var remote *net.OpError // of an alert, whose type the library does not export
	return errors.As(err, &remote) && remote.Op == "remote error" && remote.Err.Error() == "tls: certificate required"
}

// target is a parsed connection string.
type target struct {
	addr, database string
	login          login
	tls            *tls.Config
}

// Dial connects to the server of a connection string and logs in if the string
// has a user, in a time. One host is enough: a server is one node.
func Dial(uri string, timeout time.Duration) (*Conn, error) {
	t, err := parseURI(uri, defaultPort)
	if err != nil {
		return nil, &URIError{err}
	}
	nc, err := net.DialTimeout("tcp", t.addr, timeout)
	if err != nil {
		return nil, err
	}
	if t.tls != nil {
		nc = tls.Client(nc, t.tls)
	}
	c := NewConn(nc)
	c.tls = t.tls != nil
	c.Database = t.database
	if err := c.begin(t, timeout); err != nil {
		return nil, errors.Join(err, nc.Close())
	}
	return c, nil
}

// begin makes sure that a server answers, and logs in.
func (c *Conn) begin(t *target, timeout time.Duration) error {
	if err := c.SetDeadline(clock.System().Now().Add(timeout)); err != nil {
		return err
	}
	if _, err := c.Run(value.NewDoc("ping", value.Int32(1), "$db", value.String("admin"))); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("%s accepts connections, but no server answers there: %w", t.addr, err)
		}
		return err
	}
	if t.login.user != "" {
		if err := c.Login(t.login.source, t.login.user, t.login.password, t.login.mechanism); err != nil {
			return err
		}
	}
	return c.SetDeadline(time.Time{})
}

// Address is the host and the port of a connection string, and how its connections are encrypted;
// nil: they are not. The port is the default one if the string has none.
func Address(uri string, port int) (addr string, secure *tls.Config, err error) {
	t, err := parseURI(uri, port)
	if err != nil {
		return "", nil, &URIError{err}
	}
	return t.addr, t.tls, nil
}

// URIError is the error of a connection string that cannot be used.
type URIError struct{ cause error }

func (e *URIError) Error() string { return "the connection string: " + e.cause.Error() }

// Unwrap returns the reason.
func (e *URIError) Unwrap() error { return e.cause }

// defaultPort is MongoDB's.
const defaultPort = 27017

// parseURI reads mongodb://user:password@host:port/database?options.
func parseURI(uri string, port int) (*target, error) {
	if !strings.Contains(uri, "://") {
		uri = "mongodb://" + uri
	}
	scheme, rest, _ := strings.Cut(uri, "://")
	if scheme != "mongodb" {
		return nil, fmt.Errorf("it begins with %s://, not with mongodb://", scheme)
	}
	hosts, _, _ := strings.Cut(rest[strings.LastIndexByte(rest, '@')+1:], "/")
	if strings.Contains(hosts, ",") {
		return nil, fmt.Errorf("it names several servers, %s: name one", hosts)
	}
	u, err := url.Parse(uri)
	if err != nil { // whose text may have the password
		return nil, errors.New("it is not of the form mongodb://user:password@host:port/database?options; " +
			"special characters of user and password are written as %40, %3A, %2F")
	}
	t := &target{addr: u.Host, database: strings.TrimPrefix(u.Path, "/")}
	if u.Port() == "" {
		t.addr = net.JoinHostPort(cmp.Or(u.Hostname(), "127.0.0.1"), strconv.Itoa(port))
	} else if n, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || n == 0 {
		return nil, fmt.Errorf("the port of %s must be from 1 to 65535", u.Host)
	}
	t.login.source = "admin"
	if t.database != "" {
		t.login.source = t.database
	}
	if u.User != nil {
		t.login.user = u.User.Username()
		t.login.password, _ = u.User.Password()
	}
	return t, t.options(u)
}

// options applies the options that matter to one plain connection. Options
// that concern only drivers, such as those of pools, are accepted.
func (t *target) options(u *url.URL) error {
	secure := tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	for name, values := range u.Query() {
		v := values[len(values)-1]
		var err error
		switch strings.ToLower(name) {
		case "authsource":
			t.login.source = v
		case "authmechanism":
			if t.login.mechanism = v; v != "SCRAM-SHA-256" && v != "SCRAM-SHA-1" {
				err = fmt.Errorf("%s is not supported; SCRAM-SHA-256 and SCRAM-SHA-1 are", v)
			}
		case "tls", "ssl":
			var on bool
			if on, err = truth(v); on {
				t.tls = &secure
			}
		case "tlscafile":
			err = authorities(&secure, v)
		case "tlscertificatekeyfile":
			var cert tls.Certificate
			if cert, err = tls.LoadX509KeyPair(v, v); err != nil {
				err = fmt.Errorf("the certificate and key in %s: %w", v, err)
			}
			secure.Certificates = []tls.Certificate{cert}
		case "tlsinsecure", "tlsallowinvalidcertificates":
			secure.InsecureSkipVerify, err = truth(v)
		case "appname", "directconnection", "replicaset", "retrywrites", "retryreads", "serverselectiontimeoutms",
			"connecttimeoutms", "sockettimeoutms", "maxpoolsize", "minpoolsize", "maxidletimems", "waitqueuetimeoutms",
			"maxconnecting", "compressors", "readpreference", "heartbeatfrequencyms", "uuidrepresentation", "loadbalanced":
		default:
			err = errors.New("the option is not supported")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// truth reads an option that is true or false.
func truth(text string) (bool, error) {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", text)
	}
	return on, nil
}

func authorities(c *tls.Config, file string) error {
	pem, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return errors.New("no certificate in " + file)
	}
	return nil
}
