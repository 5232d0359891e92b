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

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
)

// The modes of TLS, as mongod names them. A single server makes no
// connections of its own, so allowTLS and preferTLS are the same here: both
// kinds of clients are let in.
const (
	TLSDisabled = "disabled"
	TLSAllow    = "allowTLS"
	TLSPrefer   = "preferTLS"
	TLSRequire  = "requireTLS"
)

// TLS says how connections are encrypted. The zero value is: not at all.
type TLS struct {
	Mode               string // "": disabled
	CertificateKeyFile string // PEM with the server's certificate and its key
	// CertificateKeyFilePassword decrypts the key; "": it is not encrypted.
	CertificateKeyFilePassword string
	CAFile                     string // PEM with who may sign clients' certificates; "": clients need none
	// CRLFile is a PEM file with the certificates that the authorities of
	// CAFile have revoked; "": none.
	CRLFile string
	// AllowConnectionsWithoutCertificates lets clients in that have no
	// certificate although there is a CAFile.
	AllowConnectionsWithoutCertificates bool
	// AllowInvalidCertificates lets clients in whose certificate is not valid.
	// They cannot log in with it.
	AllowInvalidCertificates bool
	// DisabledProtocols are versions not to speak, as TLS1_2. Those before
	// 1.2 are never spoken.
	DisabledProtocols []string
}

func (t *TLS) enabled() bool { return t.Mode != "" && t.Mode != TLSDisabled }

// certificates is the present TLS configuration; connections take it when
// they begin, so it can be exchanged while the server runs.
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

// checkUnused refuses settings of TLS without TLS: whoever gives a certificate
// does not expect to be served in plain text.
func (o *TLS) checkUnused() error {
	if o.CertificateKeyFile+o.CertificateKeyFilePassword+o.CAFile+o.CRLFile != "" || o.AllowConnectionsWithoutCertificates || len(o.DisabledProtocols) > 0 {
		return errors.New("need to enable TLS via the sslMode/tlsMode flag when using TLS configuration parameters")
	}
	return nil
}

// reload reads the files again. If they are not good the old certificates
// stay.
func (c *certificates) reload() error {
	cfg, err := c.options.load()
	if err != nil {
		return err
	}
	c.current.Store(cfg)
	return nil
}

// RotateCertificates reads the TLS certificates again. Connections that are
// open keep what they have.
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

// handshakeTime is how long a client may take to agree on TLS.
const handshakeTime = 30 * time.Second

// secure decides how the connection is spoken on: in TLS or in the clear.
func (c *conn) secure() error {
	certs := c.srv.certificates
	if _, within := c.nc.(pipe); within || certs == nil {
		c.stream = c.nc
		return nil
	}
	nc := c.nc
	if certs.options.Mode != TLSRequire {
		head, err := peek(nc)
		if err != nil {
			return err
		}
		nc = &prefixed{Conn: nc, head: head}
		if !isTLS(head) {
			c.stream = nc
			return nil
		}
	}
	t := tls.Server(nc, certs.current.Load())
	ctx, cancel := context.WithTimeout(c.ctx, handshakeTime)
	defer cancel()
	if err := t.HandshakeContext(ctx); err != nil {
		return err
	}
	state := t.ConnectionState()
	c.client.ServerName = state.ServerName
	if len(state.VerifiedChains) > 0 || certs.valid(state.PeerCertificates) {
		c.client.SetSubject(auth.Subject(state.PeerCertificates[0]))
	}
	c.stream = t
	return nil
}

// greeted reports whether what the client sends first can be a message. As
// mongod sees it, the first message answers none (or -1); what does is the
// handshake of TLS. Its first bytes may well pass for the length of a message,
// so without this a client that speaks TLS would wait for as long as it likes
// for a server that waits for the rest.
func (c *conn) greeted() bool {
	if _, secured := c.stream.(*tls.Conn); secured {
		return true
	}
	first, err := c.reader.Next()
	if err != nil || first.ResponseTo == 0 || first.ResponseTo == -1 {
		return true // the read meets the same error
	}
	c.srv.log.Info().Str("remote", c.client.Remote).Err(errNoTLS).Msg("connection not secured")
	return false
}

var errNoTLS = mongoerr.New(mongoerr.SSLHandshakeFailed, "SSL handshake received but server is started without SSL support")

// valid reports whether a certificate that the handshake did not check, as the
// server lets invalid ones in, is valid all the same. With revocations none is
// taken for valid: their check is part of the handshake.
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

// isTLS tells a TLS handshake from a message. Both may begin with the same
// byte, but a message with all three would be longer than 64 kB, which no
// first message is.
func isTLS(head []byte) bool {
	const handshake, version, most = 0x16, 3, 4
	return head[0] == handshake && head[1] == version && head[2] > 0 && head[2] <= most
}

// prefixed is a connection whose first bytes have been read already.
type prefixed struct {
	net.Conn
	head []byte
}

// Read returns what was read already, then what comes.
func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}
