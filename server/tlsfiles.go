package server

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/youmark/pkcs8"

	"github.com/duskdb/duskdb/clock"
)

// load reads the files that t names.
func (t *TLS) load() (*tls.Config, error) {
	if t.CertificateKeyFile == "" {
		return nil, errors.New("need tlsCertificateKeyFile when TLS is enabled")
	}
	cert, err := loadKeyPair(t.CertificateKeyFile, t.CertificateKeyFilePassword)
	if err != nil {
		return nil, fmt.Errorf("tlsCertificateKeyFile: the certificate and key in %s cannot be used: %w", t.CertificateKeyFile, err)
	}
	cfg := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS13}
	if err := t.disable(cfg); err != nil {
		return nil, err
	}
	if t.CAFile == "" {
		if t.CRLFile != "" {
			return nil, errors.New("tlsCRLFile needs tlsCAFile")
		}
		return cfg, nil
	}
	return cfg, t.authorities(cfg)
}

// authorities configures the check of clients' certificates.
func (t *TLS) authorities(cfg *tls.Config) error {
	text, err := os.ReadFile(t.CAFile)
	if err != nil {
		return fmt.Errorf("tlsCAFile: %w", err)
	}
	cfg.ClientCAs = x509.NewCertPool()
	if !cfg.ClientCAs.AppendCertsFromPEM(text) {
		return fmt.Errorf("tlsCAFile: %s has no certificate in PEM form", t.CAFile)
	}
	cfg.ClientAuth = tls.RequireAndVerifyClientCert
	if t.AllowConnectionsWithoutCertificates {
		cfg.ClientAuth = tls.VerifyClientCertIfGiven
	}
	if t.AllowInvalidCertificates {
		cfg.ClientAuth = tls.RequestClientCert
		return nil
	}
	if t.CRLFile == "" {
		return nil
	}
	revoked, err := loadRevocations(t.CRLFile, text)
	if err != nil {
		return fmt.Errorf("tlsCRLFile: the revocation lists in %s cannot be used: %w", t.CRLFile, err)
	}
	cfg.VerifyConnection = revoked.verify
	return nil
}

// disable excludes TLS versions.
func (t *TLS) disable(cfg *tls.Config) error {
	for _, name := range t.DisabledProtocols {
		switch name {
		case "none", "noTLS1_0", "noTLS1_1", "TLS1_0", "TLS1_1":
		case "TLS1_2":
			cfg.MinVersion = tls.VersionTLS13
		case "TLS1_3":
			cfg.MaxVersion = tls.VersionTLS12
		default:
			return fmt.Errorf("unrecognized disabledProtocols '%s'; they are TLS1_2 and TLS1_3", name)
		}
	}
	if cfg.MinVersion > cfg.MaxVersion {
		return errors.New("all supported TLS versions are disabled")
	}
	return nil
}

// loadKeyPair reads a certificate and its key, which may be encrypted in the
// form of PKCS #8, from one file.
func loadKeyPair(path, password string) (tls.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return tls.Certificate{}, err
	}
	plain, err := decryptKeys(text, password)
	if err != nil {
		return tls.Certificate{}, err
	}
	if err := hasPair(plain); err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(plain, plain)
}

// hasPair reports which of the two is missing in a PEM file.
func hasPair(text []byte) error {
	cert, key := false, false
	for block := range pemBlocks(text) {
		cert = cert || block.Type == "CERTIFICATE"
		key = key || strings.HasSuffix(block.Type, "PRIVATE KEY")
	}
	switch {
	case !cert && !key:
		return errors.New("it has neither in PEM form")
	case !cert:
		return errors.New("it has no certificate in PEM form")
	case !key:
		return errors.New("it has no key in PEM form")
	}
	return nil
}

// pemBlocks yields the blocks of a PEM file.
func pemBlocks(text []byte) iter.Seq[*pem.Block] {
	return func(yield func(*pem.Block) bool) {
		for block, rest := pem.Decode(text); block != nil && yield(block); block, rest = pem.Decode(rest) {
		}
	}
}

// decryptKeys replaces the encrypted keys of a PEM file by plain ones.
func decryptKeys(text []byte, password string) ([]byte, error) {
	var out []byte
	for block := range pemBlocks(text) {
		switch {
		case block.Headers["DEK-Info"] != "":
			return nil, errors.New("the key is encrypted in the old PEM format; convert it with openssl pkcs8 -topk8")
		case block.Type != "ENCRYPTED PRIVATE KEY":
		case password == "":
			return nil, errors.New("the key is encrypted: need tlsCertificateKeyFilePassword")
		default:
			key, err := pkcs8.ParsePKCS8PrivateKey(block.Bytes, []byte(password))
			if err != nil {
				return nil, err
			}
			der, err := x509.MarshalPKCS8PrivateKey(key)
			if err != nil {
				return nil, err
			}
			block = &pem.Block{Type: "PRIVATE KEY", Bytes: der}
		}
		out = append(out, pem.EncodeToMemory(block)...)
	}
	return out, nil
}

// revocations are lists of revoked certificates by the subject of the
// authority that made the list.
type revocations map[string]*revocationList

type revocationList struct {
	until   time.Time // the list is valid until then; zero: not given
	serials map[string]bool
}

// loadRevocations reads lists, which authorities must have signed.
func loadRevocations(path string, authorities []byte) (revocations, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	signers, err := parseCertificates(authorities)
	if err != nil {
		return nil, err
	}
	lists := revocations{}
	for block := range pemBlocks(text) {
		if block.Type != "X509 CRL" {
			continue
		}
		crl, err := x509.ParseRevocationList(block.Bytes)
		if err != nil {
			return nil, err
		}
		if !signedByOne(crl, signers) {
			return nil, fmt.Errorf("the revocation list of %s is not signed by any authority in tlsCAFile", crl.Issuer)
		}
		lists.add(crl)
	}
	if len(lists) == 0 {
		return nil, errors.New("no revocation list in the file")
	}
	return lists, nil
}

func parseCertificates(text []byte) (certs []*x509.Certificate, err error) {
	for block := range pemBlocks(text) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		certs = append(certs, cert)
	}
	return certs, nil
}

func signedByOne(crl *x509.RevocationList, signers []*x509.Certificate) bool {
	for _, s := range signers {
		if string(s.RawSubject) == string(crl.RawIssuer) && crl.CheckSignatureFrom(s) == nil {
			return true
		}
	}
	return false
}

func (r revocations) add(crl *x509.RevocationList) {
	l := &revocationList{until: crl.NextUpdate, serials: map[string]bool{}}
	for _, e := range crl.RevokedCertificateEntries {
		l.serials[e.SerialNumber.String()] = true
	}
	r[string(crl.RawIssuer)] = l
}

// verify refuses a client whose certificate is revoked or, as mongod does,
// whose authority has no valid revocation list.
func (r revocations) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return nil
	}
	cert := state.PeerCertificates[0]
	l := r[string(cert.RawIssuer)]
	switch {
	case l == nil:
		return fmt.Errorf("no revocation list from %s", cert.Issuer)
	case !l.until.IsZero() && clock.System().Now().After(l.until):
		return fmt.Errorf("the revocation list of %s has expired", cert.Issuer)
	case l.serials[cert.SerialNumber.String()]:
		return fmt.Errorf("the certificate of %s is revoked", cert.Subject)
	}
	return nil
}
