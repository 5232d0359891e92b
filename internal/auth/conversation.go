package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"strconv"

	"github.com/xdg-go/scram"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// ErrFailed is the only error that a client gets for a failed login.
var ErrFailed = mongoerr.New(mongoerr.AuthenticationFailed, "Authentication failed.")

// Conversation is a SCRAM login in progress. It belongs to one connection.
type Conversation struct {
	m         *Manager
	peer      Peer
	db        string
	line      *mechanism
	skipEmpty bool
	scram     *scram.ServerConversation
	user      *User // the user, if the proof is right; nil for an unknown user
	steps     int
	verified  bool
}

// Peer holds the addresses of a connection: the client's and the server's.
type Peer struct {
	Remote string // "host:port"
	Local  string
}

// maxPayload is the largest message of a client in one step.
const maxPayload = 4096

// Begin starts a login with a mechanism, for users of a database.
// skipEmptyExchange spares the last, empty round trip.
func (m *Manager) Begin(peer Peer, db, mechanism string, skipEmptyExchange bool) (*Conversation, error) {
	line := mechanismOf(mechanism)
	if line == nil || !m.Enabled(mechanism) {
		return nil, mongoerr.Newf(mongoerr.MechanismUnavailable, "Received authentication for mechanism %s which is unknown or not enabled", strconv.QuoteToASCII(mechanism)[1:len(strconv.QuoteToASCII(mechanism))-1])
	}
	return &Conversation{m: m, peer: peer, db: db, line: line, skipEmpty: skipEmptyExchange}, nil
}

// DB is the database that the login is for.
func (v *Conversation) DB() string { return v.db }

// Mechanism is the name of the mechanism.
func (v *Conversation) Mechanism() string { return v.line.name }

// Step takes the client's next message and returns the answer. done reports
// whether the login is complete: User is logged in. Any error ends the
// conversation.
func (v *Conversation) Step(ctx context.Context, payload []byte) (reply []byte, done bool, err error) {
	if len(payload) > maxPayload {
		return nil, false, v.fail(ctx)
	}
	v.steps++
	switch v.steps {
	case 1:
		return v.first(ctx, string(payload))
	case 2:
		return v.proof(ctx, string(payload))
	case 3:
		if v.verified && len(payload) == 0 {
			return nil, true, nil
		}
	}
	return nil, false, v.fail(ctx)
}

// first looks the user up and answers with salt and nonce.
func (v *Conversation) first(ctx context.Context, payload string) ([]byte, bool, error) {
	var failure error
	srv, err := v.line.hash.NewServer(func(name string) (scram.StoredCredentials, error) {
		var c scram.StoredCredentials
		c, v.user, failure = v.m.lookup(ctx, Name{Name: name, DB: v.db}, v.line, v.peer)
		return c, failure
	})
	if err != nil {
		return nil, false, err
	}
	v.scram = srv.NewConversation()
	reply, err := v.scram.Step(payload)
	if failure != nil {
		return nil, false, failure
	}
	if err != nil || !v.forSelf() {
		return nil, false, v.fail(ctx)
	}
	return []byte(reply), false, nil
}

// forSelf reports whether the authorization identity, if given, is the user
// that logs in.
func (v *Conversation) forSelf() bool {
	identity := v.scram.AuthzID()
	return identity == "" || identity == v.scram.Username()
}

// proof checks the client's proof that it knows the password.
func (v *Conversation) proof(ctx context.Context, payload string) ([]byte, bool, error) {
	place, err := v.m.throttle.admit(ctx, v.peer.Remote, v.Name())
	if err != nil {
		return nil, false, err
	}
	reply, err := v.scram.Step(payload)
	if err != nil || !v.scram.Valid() || v.user == nil {
		return nil, false, v.failFrom(ctx, place)
	}
	v.m.throttle.succeeded(v.peer.Remote, v.Name(), place)
	v.verified = true
	return []byte(reply), v.skipEmpty, nil
}

// fail ends a conversation before a password was looked at.
func (v *Conversation) fail(ctx context.Context) error { return v.failFrom(ctx, nil) }

// failFrom ends the conversation and counts the failure. The reply is delayed,
// longer after more failures for this user from this address, also if the client hangs up.
func (v *Conversation) failFrom(ctx context.Context, place *failures) error {
	v.steps = 3
	v.verified = false
	return v.m.throttle.failed(ctx, v.peer.Remote, v.Name(), place)
}

// User returns the user that is logged in after the last step.
func (v *Conversation) User() *User {
	if !v.verified {
		return nil
	}
	return v.user
}

// Name is the name the client gave, for the log.
func (v *Conversation) Name() Name {
	if v.scram == nil {
		return Name{DB: v.db}
	}
	return Name{Name: v.scram.Username(), DB: v.db}
}

// lookup reads the credentials of a user. For a user that does not exist or
// may not log in from this address it returns fake credentials, always the
// same ones, and no user.
func (m *Manager) lookup(ctx context.Context, n Name, line *mechanism, peer Peer) (c scram.StoredCredentials, u *User, err error) {
	err = m.View(ctx, func(cat *Catalog) error {
		d, err := cat.User(n)
		if d == nil || err != nil {
			return err
		}
		var ok bool
		if c, ok = storedCredential(d.Lookup("credentials").Doc(), line.name); !ok {
			return ErrFailed // the client may continue with another mechanism
		}
		user, in, err := cat.userOf(d)
		if err == nil && allowed(d.Lookup("authenticationRestrictions").Doc(), in.restrictions, peer) {
			u = user
		}
		return err
	})
	if u == nil {
		c = m.fakeCredentials(n, line)
	}
	return c, u, err
}

// fakeCredentials are those of a user that cannot log in.
func (m *Manager) fakeCredentials(n Name, line *mechanism) scram.StoredCredentials {
	derive := func(what string) []byte {
		mac := hmac.New(sha256.New, m.secret[:])
		mac.Write([]byte(what + "\x00" + line.name + "\x00" + n.DB + "\x00" + n.Name))
		return mac.Sum(nil)
	}
	size := line.hash().Size()
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(derive("salt")[:line.saltBytes]), Iters: m.options.Iterations(line.name)},
		StoredKey:  derive("stored")[:size], ServerKey: derive("server")[:size],
	}
}

// LoginX509 logs in the user of $external whose name is the subject of the
// client's certificate.
func (m *Manager) LoginX509(ctx context.Context, peer Peer, subject string) (u *User, err error) {
	if !m.Enabled(X509) {
		return nil, mongoerr.Newf(mongoerr.MechanismUnavailable, "Received authentication for mechanism %s which is unknown or not enabled", X509)
	}
	err = m.View(ctx, func(cat *Catalog) error {
		d, err := cat.User(Name{Name: subject, DB: External})
		if d == nil || err != nil {
			return err
		}
		user, in, err := cat.userOf(d)
		if err == nil && allowed(d.Lookup("authenticationRestrictions").Doc(), in.restrictions, peer) {
			u = user
		}
		return err
	})
	if err == nil && u == nil {
		err = ErrFailed
	}
	return u, err
}

// SupportedMechanisms are the SCRAM mechanisms a user can log in with. For a
// user that does not exist it returns all of them.
func (m *Manager) SupportedMechanisms(ctx context.Context, n Name) (names []string, err error) {
	err = m.View(ctx, func(cat *Catalog) error {
		d, err := cat.User(n)
		if err != nil {
			return err
		}
		names = nil
		for _, line := range mechanisms {
			if m.Enabled(line.name) && (d == nil || has(d, line.name)) {
				names = append(names, line.name)
			}
		}
		if d != nil && n.DB == External && m.Enabled(X509) {
			names = append(names, X509)
		}
		return nil
	})
	return names, err
}

func has(user value.Doc, mechanism string) bool {
	return user.Lookup("credentials").Doc().Has(mechanism)
}
