package auth

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// Options configures a Manager. All fields but FailedDelay and Secret are required.
type Options struct {
	Engine     storage.Engine
	Clock      clock.Clock                // the real one
	Mechanisms func() []string            // the names of the enabled mechanisms
	Iterations func(mechanism string) int // for new credentials
	// FailedDelay is the least delay of the reply to a failed login; nil: no
	// delay.
	FailedDelay func() time.Duration
	// Secret is what the answers to unknown users are made from, 32 bytes; nil: random ones.
	Secret []byte
}

// Manager reads users and caches them compiled. It is safe for concurrent use.
type Manager struct {
	options      Options
	throttle     *Throttle
	secret       [32]byte      // key of fake credentials
	forgotten    atomic.Uint64 // how often Invalidate was called
	mu           sync.RWMutex
	users        map[Name]*User
	usersVersion version       // version at which users was compiled
	populated    atomic.Uint64 // the stamp at which a user was seen to exist
}

// New makes a Manager.
func New(o Options) *Manager {
	m := &Manager{options: o, throttle: NewThrottle(o.Clock), users: map[Name]*User{}}
	m.throttle.least = o.FailedDelay
	if copy(m.secret[:], o.Secret) == 0 {
		_, _ = rand.Read(m.secret[:]) // never fails
	}
	return m
}

// In returns the Catalog of a transaction.
func (m *Manager) In(tx storage.Tx, now int64) *Catalog {
	return &Catalog{tx: tx, now: now}
}

// View runs fn over the committed users and roles.
func (m *Manager) View(ctx context.Context, fn func(*Catalog) error) error {
	return m.options.Engine.View(ctx, func(tx storage.Tx) error { return fn(m.In(tx, 0)) })
}

// version identifies a state of the users and roles. What was compiled at one
// version is valid until the version changes. It is never zero.
type version struct {
	users, roles uint64 // stamps of the collections
	forgotten    uint64
}

// version returns the current version. A caller that reads users calls it first.
func (m *Manager) version() (v version, err error) {
	v.forgotten = m.forgotten.Load() + 1
	if v.users, err = m.options.Engine.Stamp(usersNS); err == nil {
		v.roles, err = m.options.Engine.Stamp(rolesNS)
	}
	return v, err
}

// Invalidate has all users read again, whether they have changed or not.
func (m *Manager) Invalidate() { m.forgotten.Add(1) }

// Current returns the user as it is now: the same one if nothing changed,
// nil if it does not exist any more.
func (m *Manager) Current(ctx context.Context, u *User) (*User, error) {
	if u == nil {
		return nil, nil
	}
	v, err := m.version()
	if err != nil || u.version == v {
		return u, err
	}
	m.mu.RLock()
	known := m.users[u.Name]
	m.mu.RUnlock()
	if known != nil && known.version == v {
		return sameUser(u, known), nil
	}
	var now *User
	err = m.View(ctx, func(cat *Catalog) error {
		d, err := cat.User(u.Name)
		if d == nil || err != nil {
			return err
		}
		now, _, err = cat.userOf(d)
		return err
	})
	if err != nil || now == nil {
		return nil, err
	}
	now.version = v
	m.remember(now)
	return sameUser(u, now), nil
}

// sameUser returns now, unless that is another user of the same name.
func sameUser(old, now *User) *User {
	if old.ID != now.ID {
		return nil
	}
	return now
}

// remember caches a user. Those of another version are dropped: they would be
// read again anyway.
func (m *Manager) remember(u *User) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.usersVersion != u.version {
		m.usersVersion = u.version
		clear(m.users)
	}
	m.users[u.Name] = u
}

// HasUsers reports whether any user exists.
func (m *Manager) HasUsers(ctx context.Context) (any bool, err error) {
	stamp, err := m.options.Engine.Stamp(usersNS)
	if err != nil || stamp == 0 || stamp == m.populated.Load() {
		return err == nil && stamp != 0, err
	}
	err = m.View(ctx, func(cat *Catalog) (err error) {
		any, err = cat.HasUsers()
		return err
	})
	if any && err == nil {
		m.populated.Store(stamp)
	}
	return any, err
}

// Enabled reports whether a mechanism may be used.
func (m *Manager) Enabled(mechanism string) bool {
	return slices.Contains(m.options.Mechanisms(), mechanism)
}

// enabled lists the SCRAM mechanisms that may be used.
func (m *Manager) enabled() (names []string) {
	for _, line := range mechanisms {
		if m.Enabled(line.name) {
			names = append(names, line.name)
		}
	}
	return names
}

// Find reads a user, or nil.
func (m *Manager) Find(ctx context.Context, n Name) (u *User, err error) {
	err = m.View(ctx, func(cat *Catalog) error {
		d, err := cat.User(n)
		if d == nil || err != nil {
			return err
		}
		user, _, err := cat.userOf(d)
		if err == nil {
			u = user
		}
		return err
	})
	return u, err
}
