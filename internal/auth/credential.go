package auth

import (
	"crypto/md5" //nolint:gosec // what SCRAM-SHA-1 in MongoDB is defined over
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/xdg-go/scram"
	"github.com/xdg-go/stringprep"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Names of the mechanisms.
const (
	SHA1   = "SCRAM-SHA-1"
	SHA256 = "SCRAM-SHA-256"
	X509   = "MONGODB-X509"
)

// mechanism is one line of the table of SCRAM mechanisms.
type mechanism struct {
	name      string
	hash      scram.HashGeneratorFcn
	saltBytes int // fills one block of the hash together with the counter
}

// mechanisms are in the order of preference in which hello names them.
var mechanisms = []mechanism{
	{SHA256, scram.SHA256, 28},
	{SHA1, scram.SHA1, 16},
}

func mechanismOf(name string) *mechanism {
	for i := range mechanisms {
		if mechanisms[i].name == name {
			return &mechanisms[i]
		}
	}
	return nil
}

// Password is a password to store.
type Password struct {
	Text string
	// Digested reports whether Text is the MD5 digest already, as clients send it
	// with digestPassword: false.
	Digested   bool
	Mechanisms []string // nil: all that are possible
}

// PasswordDigest is the MD5 digest that SCRAM-SHA-1 uses as the password.
func PasswordDigest(user, password string) string {
	sum := md5.Sum([]byte(user + ":mongo:" + password)) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// credentials makes the credentials document of a password. The computation is
// slow by design, so it must not run within a transaction.
func (m *Manager) credentials(user string, p Password) (value.Doc, error) {
	names, err := m.chosenMechanisms(p)
	if err != nil {
		return nil, err
	}
	b := value.NewBuilder()
	for _, name := range names {
		line := mechanismOf(name)
		secret, err := secretFor(line.name, user, p)
		if err != nil {
			return nil, err
		}
		salt := make([]byte, line.saltBytes)
		if _, err := rand.Read(salt); err != nil {
			return nil, err
		}
		c, err := store(line, secret, salt, m.options.Iterations(line.name))
		if err != nil {
			return nil, err
		}
		b.StartDocument(line.name)
		b.Int32("iterationCount", int32(c.Iters)).String("salt", base64.StdEncoding.EncodeToString(salt)).
			String("storedKey", base64.StdEncoding.EncodeToString(c.StoredKey)).String("serverKey", base64.StdEncoding.EncodeToString(c.ServerKey))
		b.End()
	}
	return b.Doc(), nil
}

// chosenMechanisms are those a password is stored for, in alphabetical order
// as mongod stores them.
func (m *Manager) chosenMechanisms(p Password) ([]string, error) {
	if err := m.checkMechanisms(p.Mechanisms); err != nil {
		return nil, err
	}
	wanted := p.Mechanisms
	if wanted == nil {
		wanted = m.enabled()
	}
	var out []string
	for _, name := range []string{SHA1, SHA256} {
		for _, w := range wanted {
			if w != name {
				continue
			}
			if name == SHA256 && p.Digested {
				return nil, mongoerr.New(mongoerr.BadValue, "Use of SCRAM-SHA-256 requires undigested passwords")
			}
			out = append(out, name)
			break
		}
	}
	if out == nil {
		return nil, mongoerr.New(mongoerr.BadValue, "No mechanism is enabled that the password could be stored for")
	}
	return out, nil
}

// checkMechanisms refuses an empty list and names that are not known or not
// enabled.
func (m *Manager) checkMechanisms(names []string) error {
	if names == nil {
		return nil
	}
	if len(names) == 0 {
		return mongoerr.New(mongoerr.BadValue, "mechanisms field must not be empty")
	}
	for _, name := range names {
		if mechanismOf(name) == nil {
			return mongoerr.Newf(mongoerr.BadValue, "Unknown auth mechanism '%s'", name)
		}
		if !m.Enabled(name) {
			return mongoerr.Newf(mongoerr.BadValue, "%s is not supported in this server's authenticationMechanisms", name)
		}
	}
	return nil
}

// secretFor returns the text that the mechanism hashes.
func secretFor(mechanism, user string, p Password) (string, error) {
	if mechanism == SHA1 {
		if p.Digested {
			return p.Text, nil
		}
		return PasswordDigest(user, p.Text), nil
	}
	prepared, err := stringprep.SASLprep.Prepare(p.Text)
	if err != nil {
		reason := "PROHIBITED"
		if !strings.HasPrefix(err.Error(), "prohibited") { // right-to-left text that does not stay so
			reason = "CHECK_BIDI"
		}
		return "", mongoerr.Newf(50692, "Error preflighting normalization: U_STRINGPREP_%s_ERROR", reason)
	}
	return prepared, nil
}

func store(line *mechanism, secret string, salt []byte, iterations int) (scram.StoredCredentials, error) {
	client, err := line.hash.NewClientUnprepped("", secret, "")
	if err != nil {
		return scram.StoredCredentials{}, err
	}
	return client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: iterations})
}

// storedCredential reads one mechanism's part of a credentials document.
func storedCredential(d value.Doc, mechanism string) (c scram.StoredCredentials, ok bool) {
	part := d.Lookup(mechanism).Doc()
	if part == nil {
		return c, false
	}
	decode := func(name string) []byte {
		raw, err := base64.StdEncoding.DecodeString(strings.Clone(part.Lookup(name).Str()))
		if err != nil {
			return nil
		}
		return raw
	}
	c.Salt, c.Iters = string(decode("salt")), int(part.Lookup("iterationCount").SafeInt64())
	c.StoredKey, c.ServerKey = decode("storedKey"), decode("serverKey")
	return c, c.Salt != "" && c.Iters > 0 && c.StoredKey != nil && c.ServerKey != nil
}
