package server_test

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/youmark/pkcs8"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/server"
)

// revoke writes a list with the serial numbers of certificates.
func (a *authority) revoke(name string, until time.Time, certFiles ...string) string {
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Unix(1_000_000_000, 0), NextUpdate: until}
	for _, path := range certFiles {
		pair, err := tls.LoadX509KeyPair(path, path)
		if err != nil {
			a.t.Fatal(err)
		}
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: pair.Leaf.SerialNumber, RevocationTime: time.Unix(1_500_000_000, 0)})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, a.cert, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(name, &pem.Block{Type: "X509 CRL", Bytes: der})
	return a.path(name)
}

func TestRevokedCertificates(t *testing.T) {
	a := newAuthority(t)
	cert := a.issue("server.pem", pkix.Name{CommonName: "localhost"})
	good, bad := a.issue("good.pem", pkix.Name{CommonName: "good"}), a.issue("bad.pem", pkix.Name{CommonName: "bad"})
	later, past := time.Unix(4_000_000_000, 0), time.Unix(1_400_000_000, 0)
	for _, tc := range []struct {
		name       string
		crl        string
		good, bad  bool
		withoutAny bool
	}{
		{"nobody", a.revoke("none.pem", later), true, true, true},
		{"one", a.revoke("one.pem", later, bad), true, false, true},
		{"run out", a.revoke("old.pem", past, bad), false, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := runServer(t, server.Config{TLS: server.TLS{
				Mode: server.TLSRequire, CertificateKeyFile: cert, CAFile: a.path("ca.pem"), CRLFile: tc.crl, AllowConnectionsWithoutCertificates: true,
			}})
			for _, client := range []struct {
				name, file string
				want       bool
			}{{"good", good, tc.good}, {"bad", bad, tc.bad}, {"none", "", tc.withoutAny}} {
				if err := a.dial(srv, a.client(client.file)); (err == nil) != client.want {
					t.Errorf("%s: %v, want success %t", client.name, err, client.want)
				}
			}
		})
	}
}

// TestRevocationsAreReadAgain: a certificate that is revoked while the server runs is
// refused after the next rotation.
func TestRevocationsAreReadAgain(t *testing.T) {
	a := newAuthority(t)
	cert, client := a.issue("server.pem", pkix.Name{CommonName: "localhost"}), a.issue("client.pem", pkix.Name{CommonName: "c"})
	later := time.Unix(4_000_000_000, 0)
	crl := a.revoke("crl.pem", later)
	srv := runServer(t, server.Config{TLS: server.TLS{Mode: server.TLSRequire, CertificateKeyFile: cert, CAFile: a.path("ca.pem"), CRLFile: crl}})
	c := a.connect(srv, a.client(client), nil)
	mustRun(t, c, "admin", bson.D{{Key: "ping", Value: 1}})
	a.revoke("crl.pem", later, client)
	mustRun(t, c, "admin", bson.D{{Key: "rotateCertificates", Value: 1}})
	if err := a.dial(srv, a.client(client)); err == nil {
		t.Fatal("a revoked certificate got in")
	}
}

func TestRevocationFileIsChecked(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	cert := a.issue("server.pem", pkix.Name{CommonName: "localhost"})
	foreign := other.revoke("crl.pem", time.Unix(4_000_000_000, 0))
	for name, cfg := range map[string]server.TLS{
		"missing":           {CAFile: a.path("ca.pem"), CRLFile: a.path("missing.pem")},
		"no list":           {CAFile: a.path("ca.pem"), CRLFile: cert},
		"another authority": {CAFile: a.path("ca.pem"), CRLFile: foreign},
		"no authority":      {CRLFile: a.revoke("crl.pem", time.Unix(4_000_000_000, 0))},
	} {
		cfg.Mode, cfg.CertificateKeyFile = server.TLSRequire, cert
		if _, err := server.New(server.Config{TLS: cfg}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestEncryptedKey(t *testing.T) {
	a := newAuthority(t)
	plain, err := os.ReadFile(a.issue("server.pem", pkix.Name{CommonName: "localhost"}))
	if err != nil {
		t.Fatal(err)
	}
	certBlock, rest := pem.Decode(plain)
	keyBlock, _ := pem.Decode(rest)
	key, err := x509.ParsePKCS8PrivateKey(keyBlock.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	der, err := pkcs8.MarshalPrivateKey(key, []byte("secret"), nil)
	if err != nil {
		t.Fatal(err)
	}
	a.write("encrypted.pem", certBlock, &pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: der})
	a.write("old.pem", certBlock, &pem.Block{Type: "EC PRIVATE KEY", Headers: map[string]string{"DEK-Info": "AES-256-CBC,00"}, Bytes: der})
	srv := runServer(t, server.Config{TLS: server.TLS{Mode: server.TLSRequire, CertificateKeyFile: a.path("encrypted.pem"), CertificateKeyFilePassword: "secret"}})
	if err := a.dial(srv, a.client("")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ file, password, want string }{
		{"encrypted.pem", "", "need tlsCertificateKeyFilePassword"},
		{"encrypted.pem", "guess", "incorrect password"},
		{"old.pem", "secret", "openssl pkcs8"},
	} {
		cfg := server.TLS{Mode: server.TLSRequire, CertificateKeyFile: a.path(tc.file), CertificateKeyFilePassword: tc.password}
		if _, err := server.New(server.Config{TLS: cfg}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s with password %q: %v", tc.file, tc.password, err)
		}
	}
}
