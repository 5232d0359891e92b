package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/wire"
)

// authority signs certificates for tests.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir(), pool: x509.NewCertPool()}
	a.key = newKey(t)
	template := certificate(pkix.Name{CommonName: "Test CA"})
	template.IsCA, template.KeyUsage, template.BasicConstraintsValid = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign, true
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	a.write("ca.pem", &pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

var serial int64

func certificate(subject pkix.Name) *x509.Certificate {
	serial++
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: subject, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Unix(1_000_000_000, 0), NotAfter: time.Unix(4_000_000_000, 0),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) write(name string, blocks ...*pem.Block) {
	var out []byte
	for _, b := range blocks {
		out = append(out, pem.EncodeToMemory(b)...)
	}
	if err := os.WriteFile(a.path(name), out, 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// issue writes a certificate with its key and returns its path.
func (a *authority) issue(name string, subject pkix.Name) string {
	key := newKey(a.t)
	der, err := x509.CreateCertificate(rand.Reader, certificate(subject), a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(name, &pem.Block{Type: "CERTIFICATE", Bytes: der}, &pem.Block{Type: "PRIVATE KEY", Bytes: raw})
	return a.path(name)
}

// client makes the TLS configuration of a client; certFile may be "".
func (a *authority) client(certFile string) *tls.Config {
	cfg := &tls.Config{RootCAs: a.pool}
	if certFile != "" {
		cert, err := tls.LoadX509KeyPair(certFile, certFile)
		if err != nil {
			a.t.Fatal(err)
		}
		cfg.Certificates = []tls.Certificate{cert}
	}
	return cfg
}

func (a *authority) connect(srv *server.Server, cfg *tls.Config, cred *options.Credential) *mongo.Client {
	o := options.Client().ApplyURI(srv.URI()).SetServerSelectionTimeout(10 * time.Second).SetServerMonitoringMode(options.ServerMonitoringModePoll)
	if cfg != nil {
		o.SetTLSConfig(cfg)
	}
	if cred != nil {
		o.SetAuth(*cred)
	}
	c, err := mongo.Connect(o)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = c.Disconnect(a.t.Context()) })
	return c
}

// dial reports whether a client can say hello.
func (a *authority) dial(srv *server.Server, cfg *tls.Config) error {
	nc, err := net.Dial("tcp", srv.Addr())
	if err != nil {
		return err
	}
	defer nc.Close()
	if cfg != nil {
		cfg = cfg.Clone()
		cfg.ServerName = "localhost"
		nc = tls.Client(nc, cfg)
	}
	// {hello: 1, $db: "admin"} as OP_MSG
	body := []byte("\x24\x00\x00\x00\x10hello\x00\x01\x00\x00\x00\x02$db\x00\x06\x00\x00\x00admin\x00\x00")
	body[0] = byte(len(body))
	msg := append([]byte{byte(21 + len(body)), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7, 0, 0, 0, 0, 0, 0, 0}, body...)
	if _, err := nc.Write(msg); err != nil {
		return err
	}
	_, err = nc.Read(make([]byte, 64))
	return err
}

func TestTLSModes(t *testing.T) {
	a := newAuthority(t)
	cert, clientCert := a.issue("server.pem", pkix.Name{CommonName: "localhost"}), a.issue("client.pem", pkix.Name{CommonName: "c"})
	cases := []struct {
		name                       string
		cfg                        server.TLS
		plain, withoutCert, withIt bool
	}{
		{"disabled", server.TLS{}, true, false, false},
		{"allowTLS", server.TLS{Mode: server.TLSAllow, CertificateKeyFile: cert}, true, true, true},
		{"preferTLS", server.TLS{Mode: server.TLSPrefer, CertificateKeyFile: cert}, true, true, true},
		{"requireTLS", server.TLS{Mode: server.TLSRequire, CertificateKeyFile: cert}, false, true, true},
		{"with CA", server.TLS{Mode: server.TLSRequire, CertificateKeyFile: cert, CAFile: a.path("ca.pem")}, false, false, true},
		{"certificate optional", server.TLS{Mode: server.TLSRequire, CertificateKeyFile: cert, CAFile: a.path("ca.pem"), AllowConnectionsWithoutCertificates: true}, false, true, true},
		{"1.3 only", server.TLS{Mode: server.TLSRequire, CertificateKeyFile: cert, DisabledProtocols: []string{"TLS1_2"}}, false, true, true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			srv := runServer(t, server.Config{TLS: tc.cfg})
			for _, client := range []struct {
				name string
				cfg  *tls.Config
				want bool
			}{{"plain", nil, tc.plain}, {"without certificate", a.client(""), tc.withoutCert}, {"with certificate", a.client(clientCert), tc.withIt}} {
				if err := a.dial(srv, client.cfg); (err == nil) != client.want {
					t.Errorf("%s: %v, want success %t", client.name, err, client.want)
				}
			}
		})
	}
}

// TestHandshakeWithoutTLS sends the first bytes of a handshake, which stand for
// a message of 33 MB, and nothing more: the server must not wait for the rest.
// mongod: asio_session_impl.cpp, maybeHandshakeSSLForIngress.
func TestHandshakeWithoutTLS(t *testing.T) {
	a := newAuthority(t)
	cert := a.issue("server.pem", pkix.Name{CommonName: "localhost"})
	garbage := []byte{21, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0xdd, 7, 0, 0} // answers a message of the server's
	hello := []byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 7, 7, 7, 7, 7}
	for _, tc := range []struct {
		name  string
		cfg   server.TLS
		first []byte
	}{
		{"handshake", server.TLS{}, hello},
		{"an answer", server.TLS{}, garbage},
		{"an answer, TLS allowed", server.TLS{Mode: server.TLSAllow, CertificateKeyFile: cert}, garbage},
	} {
		t.Run(tc.name, func(t *testing.T) {
			nc, err := net.Dial("tcp", runServer(t, server.Config{TLS: tc.cfg}).Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			if _, err := nc.Write(tc.first); err != nil {
				t.Fatal(err)
			}
			_ = nc.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err = nc.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%v, want the connection closed", err)
			}
		})
	}
}

// TestRefusedOverTLS: a client that connects before the server has started is
// answered over TLS, too.
func TestRefusedOverTLS(t *testing.T) {
	a := newAuthority(t)
	cert := a.issue("server.pem", pkix.Name{CommonName: "localhost"})
	for _, mode := range []string{server.TLSRequire, server.TLSPrefer} {
		srv, err := server.New(server.Config{TLS: server.TLS{Mode: mode, CertificateKeyFile: cert}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = srv.Close(context.Background()) })
		nc, err := tls.Dial("tcp", srv.Addr(), &tls.Config{RootCAs: a.pool, ServerName: "localhost"})
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		m, err := wire.NewClient(nc).RoundTrip(command(`{"hello": 1, "$db": "admin"}`))
		if err != nil {
			t.Fatal(err)
		}
		if m.Body.Lookup("code").Int32() != 94 || m.Body.Lookup("errmsg").Str() != "DuskDB is starting" {
			t.Errorf("%s: the reply is %s", mode, m.Body)
		}
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	a := newAuthority(t)
	cert := a.issue("server.pem", pkix.Name{CommonName: "localhost"})
	for _, tc := range []struct {
		disabled string
		max      uint16
		ok       bool
	}{{"", tls.VersionTLS11, false}, {"", tls.VersionTLS12, true}, {"TLS1_2", tls.VersionTLS12, false}} {
		srv := runServer(t, server.Config{TLS: server.TLS{Mode: server.TLSRequire, CertificateKeyFile: cert, DisabledProtocols: strings.Fields(tc.disabled)}})
		cfg := a.client("")
		cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS10, tc.max
		if err := a.dial(srv, cfg); (err == nil) != tc.ok {
			t.Errorf("%+v: %v", tc, err)
		}
	}
}

func TestTLSConfigIsChecked(t *testing.T) {
	a := newAuthority(t)
	cert := a.issue("server.pem", pkix.Name{CommonName: "localhost"})
	for name, cfg := range map[string]server.TLS{
		"mode":      {Mode: "sometimes"},
		"no cert":   {Mode: server.TLSRequire},
		"no key":    {Mode: server.TLSRequire, CertificateKeyFile: a.path("ca.pem")},
		"no CA":     {Mode: server.TLSRequire, CertificateKeyFile: cert, CAFile: a.path("missing.pem")},
		"protocol":  {Mode: server.TLSRequire, CertificateKeyFile: cert, DisabledProtocols: []string{"SSL2"}},
		"all taken": {Mode: server.TLSRequire, CertificateKeyFile: cert, DisabledProtocols: []string{"TLS1_2", "TLS1_3"}},
	} {
		if _, err := server.New(server.Config{TLS: cfg}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestTLSConfigNeedsTLS refuses what would be served in plain text; the message
// is mongod's.
func TestTLSConfigNeedsTLS(t *testing.T) {
	a := newAuthority(t)
	cert := a.issue("server.pem", pkix.Name{CommonName: "localhost"})
	for name, cfg := range map[string]server.TLS{
		"certificate": {CertificateKeyFile: cert},
		"disabled":    {Mode: server.TLSDisabled, CertificateKeyFile: cert},
		"password":    {CertificateKeyFilePassword: "p"},
		"CA":          {CAFile: a.path("ca.pem")},
		"CRL":         {CRLFile: "crl.pem"},
		"clients":     {AllowConnectionsWithoutCertificates: true},
		"protocols":   {DisabledProtocols: []string{"TLS1_2"}},
	} {
		_, err := server.New(server.Config{TLS: cfg})
		if err == nil || err.Error() != "need to enable TLS via the sslMode/tlsMode flag when using TLS configuration parameters" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestX509(t *testing.T) {
	a := newAuthority(t)
	cfg := rootConfig
	cfg.TLS = server.TLS{
		Mode: server.TLSRequire, CertificateKeyFile: a.issue("server.pem", pkix.Name{CommonName: "localhost"}),
		CAFile: a.path("ca.pem"), AllowConnectionsWithoutCertificates: true,
	}
	srv := runServer(t, cfg)
	root := a.connect(srv, a.client(""), rootCredential()) // SCRAM through TLS
	const subject = "CN=reader,OU=dev,O=Dusk"
	mustRun(t, root, "$external", bson.D{{Key: "createUser", Value: subject}, {Key: "roles", Value: bson.A{bson.D{{Key: "role", Value: "read"}, {Key: "db", Value: "shop"}}}}})
	own := a.client(a.issue("reader.pem", pkix.Name{CommonName: "reader", OrganizationalUnit: []string{"dev"}, Organization: []string{"Dusk"}}))
	x509 := &options.Credential{AuthMechanism: "MONGODB-X509"}
	reader := a.connect(srv, own, x509)
	out := mustRun(t, reader, "shop", bson.D{{Key: "connectionStatus", Value: 1}})
	if users := out["authInfo"].(bson.D)[0].Value.(bson.A); len(users) != 1 || users[0].(bson.D)[0].Value != subject {
		t.Fatalf("logged in as %v", users)
	}
	mustRun(t, reader, "shop", bson.D{{Key: "find", Value: "orders"}})
	_, err := run(reader, "shop", bson.D{{Key: "drop", Value: "orders"}})
	wantError(t, err, 13, "not authorized on shop")

	stranger := a.client(a.issue("stranger.pem", pkix.Name{CommonName: "stranger"}))
	if _, err := run(a.connect(srv, stranger, x509), "shop", bson.D{{Key: "ping", Value: 1}}); err == nil {
		t.Fatal("a stranger got in")
	}
	_, err = run(a.connect(srv, a.client(""), nil), "$external", bson.D{{Key: "authenticate", Value: 1}, {Key: "mechanism", Value: "MONGODB-X509"}, {Key: "user", Value: subject}})
	wantError(t, err, 18, "No verified subject name available from client")
}

// A client whose certificate another authority has signed, for the same name, is
// let in if the server allows it, and cannot log in with it. A valid one can.
func TestInvalidCertificatesAllowed(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	const subject = "CN=reader"
	name := pkix.Name{CommonName: "reader"}
	valid := a.client(a.issue("reader.pem", name))
	forged := a.client(other.issue("reader.pem", name))
	x509 := &options.Credential{AuthMechanism: "MONGODB-X509"}
	for _, allow := range []bool{false, true} {
		cfg := rootConfig
		cfg.TLS = server.TLS{
			Mode: server.TLSRequire, CertificateKeyFile: a.issue("server.pem", pkix.Name{CommonName: "localhost"}),
			CAFile: a.path("ca.pem"), AllowConnectionsWithoutCertificates: true, AllowInvalidCertificates: allow,
		}
		srv := runServer(t, cfg)
		root := a.connect(srv, a.client(""), rootCredential())
		mustRun(t, root, "$external", bson.D{{Key: "createUser", Value: subject}, {Key: "roles", Value: bson.A{}}})
		if err := a.dial(srv, forged); (err == nil) != allow {
			t.Errorf("allowed %t: connecting gives %v", allow, err)
		}
		mustRun(t, a.connect(srv, valid, x509), "shop", bson.D{{Key: "connectionStatus", Value: 1}})
		if !allow {
			continue
		}
		_, err := run(a.connect(srv, forged, nil), "$external", bson.D{{Key: "authenticate", Value: 1}, {Key: "mechanism", Value: "MONGODB-X509"}})
		wantError(t, err, 18, "No verified subject name available from client")
	}
}

func TestRotateCertificates(t *testing.T) {
	old, young := newAuthority(t), newAuthority(t)
	path := old.issue("server.pem", pkix.Name{CommonName: "localhost"})
	srv := runServer(t, server.Config{TLS: server.TLS{Mode: server.TLSRequire, CertificateKeyFile: path}})
	both := old.client("") // a client that goes on after the change
	both.RootCAs = x509.NewCertPool()
	both.RootCAs.AddCert(old.cert)
	both.RootCAs.AddCert(young.cert)
	c := old.connect(srv, both, nil)
	mustRun(t, c, "admin", bson.D{{Key: "ping", Value: 1}})

	if err := os.WriteFile(path, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(c, "admin", bson.D{{Key: "rotateCertificates", Value: 1}}); err == nil {
		t.Fatal("garbage was taken")
	}
	if err := old.dial(srv, old.client("")); err != nil {
		t.Fatalf("the old certificate is gone: %v", err)
	}
	raw, err := os.ReadFile(young.issue("server.pem", pkix.Name{CommonName: "localhost"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, c, "admin", bson.D{{Key: "rotateCertificates", Value: 1}})
	if err := young.dial(srv, young.client("")); err != nil {
		t.Fatal(err)
	}
	if err := old.dial(srv, old.client("")); err == nil {
		t.Fatal("the old certificate is still there")
	}
	mustRun(t, c, "admin", bson.D{{Key: "ping", Value: 1}})

	plain := runServer(t, server.Config{})
	_, err = run(connect(t, plain, nil), "admin", bson.D{{Key: "rotateCertificates", Value: 1}})
	wantError(t, err, 20, "No SSLManager configured")
}
