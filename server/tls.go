package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// The modes of TLS, as mongod names them. A single server opens no connections
// itself, so allowTLS and preferTLS are the same here: both kinds of clients
// are accepted.
const (
	TLSDisabled = "disabled"
	TLSAllow    = "allowTLS"
	TLSPrefer   = "preferTLS"
	TLSRequire  = "requireTLS"
)

// TLS configures the encryption of connections. The zero value means no
// encryption.
type TLS struct {
	Mode               string // "": disabled
	CertificateKeyFile string // PEM with the server's certificate and its key
	// CertificateKeyFilePassword decrypts the key; "": the key is not encrypted.
	CertificateKeyFilePassword string
	CAFile                     string // PEM with the authorities for clients' certificates; "": clients need no certificate
	// CRLFile is a PEM file with the certificates that the authorities of
	// CAFile have revoked; "": none.
	CRLFile string
	// AllowConnectionsWithoutCertificates accepts clients without a certificate
	// although there is a CAFile.
	AllowConnectionsWithoutCertificates bool
	// AllowInvalidCertificates accepts clients whose certificate is not valid.
	// They cannot log in with it.
	AllowInvalidCertificates bool
	// DisabledProtocols are the TLS versions to disable, such as TLS1_2. Versions
	// before 1.2 are never used.
	DisabledProtocols []string
}

func (t *TLS) enabled() bool { return t.Mode != "" && t.Mode != TLSDisabled }

// certificates is the current TLS configuration. A connection takes it when it
// begins, so it can be replaced while the server runs.
type certificates struct {
	options TLS
	current atomic.Pointer[tls.Config]
}

// openTLS reads the certificates; nil if TLS is disabled.
func openTLS(o TLS) (*certificates, error) {
	if !slices.Contains([]string{"", TLSDisabled, TLSAllow, TLSPrefer, TLSRequire}, o.Mode) {
		return nil, fmt.Errorf("unsupported value for tlsMode %s", o.Mode)
	}
	if !o.enabled() {
		return nil, o.checkUnused()
	}
	c := &certificates{options: o}
	return c, c.reload()
}

// checkUnused refuses TLS settings if TLS is off: an operator who gives a
// certificate does not expect plain text.
func (o *TLS) checkUnused() error {
	files := o.CertificateKeyFile + o.CertificateKeyFilePassword + o.CAFile + o.CRLFile
	if files != "" || o.AllowConnectionsWithoutCertificates || len(o.DisabledProtocols) > 0 {
		return errors.New("need to enable TLS via the sslMode/tlsMode flag when using TLS configuration parameters")
	}
	return nil
}

// reload reads the files again. If they are invalid the old certificates stay
// in use.
func (c *certificates) reload() error {
	cfg, err := c.options.load()
	if err != nil {
		return err
	}
	c.current.Store(cfg)
	return nil
}

// RotateCertificates reads the TLS certificates again. Open connections are
// not affected.
func (s *Server) RotateCertificates() error {
	if s.certificates == nil {
		return errors.New("TLS is not enabled")
	}
	if err := s.certificates.reload(); err != nil {
		s.log.Error().Err(err).Msg("cannot reload the certificates; the old ones stay in use")
		return err
	}
	s.log.Info().Msg("certificates reloaded")
	return nil
}

// handshakeTime is the time limit of the TLS handshake.
const handshakeTime = 30 * time.Second

// secure decides whether the connection uses TLS, and notes whom the client's
// certificate names.
func (c *conn) secure() error {
	t, err := c.secureStream(c.ctx)
	if t == nil || err != nil {
		return err
	}
	state := t.ConnectionState()
	c.client.ServerName = state.ServerName
	if len(state.VerifiedChains) > 0 || c.srv.certificates.valid(state.PeerCertificates) {
		c.client.SetSubject(auth.Subject(state.PeerCertificates[0]))
	}
	return nil
}

// secureStream sets the stream: the socket, or TLS over it, which it returns.
func (c *conn) secureStream(ctx context.Context) (*tls.Conn, error) {
	certs := c.srv.certificates
	if _, within := c.nc.(pipe); within || certs == nil {
		c.stream = c.nc
		return nil, nil
	}
	nc := c.nc
	if certs.options.Mode != TLSRequire {
		head, err := peek(nc)
		if err != nil {
			return nil, err
		}
		nc = &prefixed{Conn: nc, head: head}
		if !isTLS(head) {
			c.stream = nc
			return nil, nil
		}
	}
	t := tls.Server(nc, certs.current.Load())
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	if err := t.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	c.stream = t
	return t, nil
}

// greeted reports whether the first bytes of the client can be a message. As
// in mongod, a first message with a responseTo other than 0 or -1 is taken for
// a TLS handshake. The first bytes of a handshake can look like the length of
// a message. Without this check such a client and the server would wait for
// each other.
func (c *conn) greeted() bool {
	if _, secured := c.stream.(*tls.Conn); secured {
		return true
	}
	first, err := c.reader.Next()
	if err != nil || first.ResponseTo == 0 || first.ResponseTo == -1 {
		return true // the read returns the same error
	}
	c.srv.log.Info().Str("remote", c.client.Remote).Err(errNoTLS).Msg("connection not secured")
	return false
}

var errNoTLS = mongoerr.New(mongoerr.SSLHandshakeFailed, "SSL handshake received but server is started without SSL support")

// valid reports whether a certificate is valid, if the handshake did not check
// it because invalid ones are accepted. With a CRLFile it returns false,
// because revocations are checked only in the handshake.
func (c *certificates) valid(given []*x509.Certificate) bool {
	roots := c.current.Load().ClientCAs
	if !c.options.AllowInvalidCertificates || c.options.CRLFile != "" || roots == nil || len(given) == 0 {
		return false
	}
	between := x509.NewCertPool()
	for _, cert := range given[1:] {
		between.AddCert(cert)
	}
	_, err := given[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err == nil
}

// peek reads the first bytes of a connection.
func peek(nc net.Conn) ([]byte, error) {
	head := make([]byte, 3)
	_, err := io.ReadFull(nc, head)
	return head, err
}

// isTLS reports whether the first bytes are a TLS handshake and not a message.
// Both may begin with the same byte, but a message with all three bytes would
// be longer than 64 kB, which no first message is.
func isTLS(head []byte) bool {
	const handshake, version, maxMinor = 0x16, 3, 4
	return head[0] == handshake && head[1] == version && head[2] > 0 && head[2] <= maxMinor
}

// prefixed is a connection whose first bytes have been read already.
type prefixed struct {
	net.Conn
	head []byte
}

// Read returns the bytes that were read already, then reads on.
func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}
