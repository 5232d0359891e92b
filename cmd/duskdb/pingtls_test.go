package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/server"
)

// selfSigned writes a certificate that is its own authority, with its key.
func selfSigned(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Unix(1_000_000_000, 0), NotAfter: time.Unix(4_000_000_000, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})...)
	path := filepath.Join(t.TempDir(), "server.pem")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// demandsTLS starts a server that lets in only clients with the certificate.
func demandsTLS(t *testing.T, cert string) *server.Server {
	t.Helper()
	return serving(t, server.Config{TLS: server.TLS{Mode: server.TLSRequire, CertificateKeyFile: cert, CAFile: cert}})
}

func TestPingOverTLS(t *testing.T) {
	cert := selfSigned(t)
	srv := demandsTLS(t, cert)
	for _, tc := range []struct {
		name string
		tls  pingTLS
		ok   bool
	}{
		{"no TLS", pingTLS{}, false},
		{"unknown authority", pingTLS{Use: true, Certificate: cert}, false},
		{"no certificate", pingTLS{Use: true, CA: cert}, false},
		{"both", pingTLS{Use: true, CA: cert, Certificate: cert}, true},
		{"unchecked", pingTLS{Use: true, AllowInvalid: true, Certificate: cert}, true},
		{"no such file", pingTLS{Use: true, CA: cert + "x"}, false},
	} {
		p := pingCmd{Address: srv.Addr(), Timeout: time.Minute, TLS: tc.tls}
		if err := p.Run(); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// A client that lacks a certificate, the server's authority or its own, says how to name it.
func TestMissingCertificates(t *testing.T) {
	cert := selfSigned(t)
	srv := demandsTLS(t, cert)
	ping := func(tls pingTLS) error {
		return (&pingCmd{Address: srv.Addr(), Timeout: time.Minute, TLS: tls}).Run()
	}
	backup := func(options string) error {
		return (&backupCmd{URI: "mongodb://" + srv.Addr() + "/?tls=true" + options, Out: "-", Timeout: time.Minute}).Run()
	}
	for want, err := range map[string]error{
		"name its file with --tlsCAFile":                                             ping(pingTLS{Use: true}),
		"name its file with tlsCAFile in the connection string":                      backup(""),
		"name the file of yours with --tlsCertificateKeyFile":                        ping(pingTLS{Use: true, CA: cert}),
		"name the file of yours with tlsCertificateKeyFile in the connection string": backup("&tlsCAFile=" + cert),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A health check without TLS says what is wrong; in the container of a server
// that demands TLS it speaks TLS by itself, with the server's own variables.
func TestPingAsTheServer(t *testing.T) {
	cert := selfSigned(t)
	srv := demandsTLS(t, cert)
	err := (&pingCmd{Address: srv.Addr(), Timeout: time.Minute}).Run()
	if err == nil || !strings.Contains(err.Error(), "use --tls") {
		t.Errorf("without TLS: %v", err)
	}
	_, port, err := net.SplitHostPort(srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DUSKDB_PORT", port)
	t.Setenv("DUSKDB_TLS_MODE", "requireTLS")
	t.Setenv("DUSKDB_TLS_CERTIFICATE_KEY_FILE", cert)
	if code := run([]string{"ping", "--timeout", "1m"}); code != 0 {
		t.Errorf("the health check exits with %d", code)
	}
}
