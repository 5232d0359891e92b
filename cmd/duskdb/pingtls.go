package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"

	"github.com/duskdb/duskdb/internal/transfer"
)

// pingTLS are the flags of ping for servers that demand TLS. Their names are
// mongosh's.
type pingTLS struct {
	Use          bool   `name:"tls" help:"Use TLS."`
	CA           string `name:"tlsCAFile" help:"PEM file with the certificate authorities for the server's certificate; default: the system's."`
	Certificate  string `name:"tlsCertificateKeyFile" help:"PEM file with the client's certificate and key."`
	AllowInvalid bool   `name:"tlsAllowInvalidCertificates" help:"Do not check the server's certificate."`
	ServerMode   string `name:"serverTLSMode" env:"DUSKDB_TLS_MODE" hidden:""` // TLS mode of a server in the same container

	ofURI *tls.Config // what the connection string asks for; nil: nothing
}

// on reports whether TLS is used.
func (p *pingTLS) on() bool { return p.Use || p.ofURI != nil }

// secure starts TLS on a connection if it is requested.
func (p *pingTLS) secure(nc net.Conn, addr string) (net.Conn, error) {
	if !p.on() {
		return nc, nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	cfg := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if p.ofURI != nil {
		cfg = p.ofURI
	}
	cfg.InsecureSkipVerify = cfg.InsecureSkipVerify || p.AllowInvalid
	if p.CA != "" {
		pem, err := os.ReadFile(p.CA)
		if err != nil {
			return nil, usageError{fmt.Errorf("--tlsCAFile: %w", err)}
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usageError{fmt.Errorf("--tlsCAFile: %s has no certificate in PEM form", p.CA)}
		}
	}
	if p.Certificate != "" {
		cert, err := tls.LoadX509KeyPair(p.Certificate, p.Certificate)
		if err != nil {
			return nil, usageError{fmt.Errorf("--tlsCertificateKeyFile: the certificate and key in %s cannot be used: %w", p.Certificate, err)}
		}
		cfg.Certificates = []tls.Certificate{cert}
	}
	c := tls.Client(nc, cfg)
	if err := c.Handshake(); closed(err) {
		return nil, fmt.Errorf("%s closed the connection: perhaps the server does not speak TLS", addr)
	} else if err != nil {
		return nil, explainTLS(err)
	}
	return c, nil
}

// explainTLS says how to name a certificate that is missing.
func explainTLS(err error) error {
	switch {
	case transfer.HasUnknownAuthority(err):
		return fmt.Errorf("%w: if it is the right one, name its file with --tlsCAFile", err)
	case transfer.WantsCertificate(err):
		return fmt.Errorf("%w: name the file of yours with --tlsCertificateKeyFile", err)
	}
	return err
}
