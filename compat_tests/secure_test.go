package compat

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

	bsonv1 "go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/internal/needs"
)

// certificate makes a certificate for this machine: a file for the server,
// with its key, and one with the authority that has signed it, for clients.
func certificate(t *testing.T) (withKey, authority string) {
	t.Helper()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of the tests"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caKey, caDER := sign(t, ca, ca, nil)
	key, der := sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, KeyUsage: x509.KeyUsageDigitalSignature,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, ca, caKey)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	withKey, authority = filepath.Join(dir, "server.pem"), filepath.Join(dir, "ca.pem")
	block := func(kind string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}) }
	for path, content := range map[string][]byte{
		withKey: append(block("PRIVATE KEY", private), block("CERTIFICATE", der)...), authority: block("CERTIFICATE", caDER),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return withKey, authority
}

// sign makes a certificate with a new key; without a signer's key it signs
// itself.
func sign(t *testing.T, c, signer *x509.Certificate, with *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if with == nil {
		with = key
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, c, signer, key.Public(), with)
	if err != nil {
		t.Fatal(err)
	}
	return key, der
}

// secured starts a server that speaks TLS only and demands logins. It returns
// what clients in other languages find in their environment: SECURE_URI,
// without the mechanism of the login, and CA_FILE.
func secured(t *testing.T) (uri string, env []string) {
	t.Helper()
	withKey, authority := certificate(t)
	s := startWith(t, []string{"DUSKDB_ROOT_USERNAME=ada", "DUSKDB_ROOT_PASSWORD=s3cret"}, t.TempDir(),
		"--tlsMode", "requireTLS", "--tlsCertificateKeyFile", withKey)
	_, address, _ := strings.Cut(s.URI, "//")
	address, _, _ = strings.Cut(address, "/")
	uri = "mongodb://ada:s3cret@" + address + "/?directConnection=true&authSource=admin&tls=true"
	return uri + "&tlsCAFile=" + authority, []string{"SECURE_URI=" + uri, "CA_FILE=" + authority}
}

// mechanisms are the logins that each client tries.
var mechanisms = []string{"SCRAM-SHA-256", "SCRAM-SHA-1"}

func TestGoV2Secured(t *testing.T) {
	t.Parallel()
	uri, _ := secured(t)
	for _, m := range mechanisms {
		c := connect(t, uri+"&compressors=zstd&authMechanism="+m).Database("secure").Collection(m)
		if _, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
			t.Errorf("%s: %v", m, err)
		}
	}
	wrong := connect(t, strings.Replace(uri, "s3cret", "wrong", 1))
	if err := wrong.Database("secure").RunCommand(t.Context(), bson.D{{Key: "count", Value: "c"}}).Err(); err == nil || !strings.Contains(err.Error(), "Authentication failed") {
		t.Errorf("a wrong password: %v", err)
	}
}

func TestGoV1Secured(t *testing.T) {
	t.Parallel()
	uri, _ := secured(t)
	for _, m := range mechanisms {
		c := connectV1(t, uri+"&compressors=snappy&authMechanism="+m).Database("secure").Collection(m)
		if _, err := c.InsertOne(t.Context(), bsonv1.M{"_id": 1}); err != nil {
			t.Errorf("%s: %v", m, err)
		}
	}
}

func TestMongoshSecured(t *testing.T) {
	t.Parallel()
	needs.Client(t, "node", "npm")
	uri, _ := secured(t)
	for _, m := range mechanisms {
		mongosh(t, uri+"&compressors=zlib&authMechanism="+m, "secured.js").reports(t)
	}
}
