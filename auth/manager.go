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

// Options configures a Manager. All fields but FailedDelay are required.
type Options struct {
	Engine     storage.Engine
	IDIndex    storage.IndexSpec          // of the collections it makes
	Clock      clock.Clock                // the real one
	Mechanisms func() []string            // that are enabled
	Iterations func(mechanism string) int // for new credentials
	// FailedDelay is the least delay of the reply to a failed login; nil: no
	// delay.
	FailedDelay func() time.Duration
}

// Manager reads users and caches them compiled. It is safe for concurrent use.
type Manager struct {
	options    Options
	throttle   *Throttle
	secret     [32]byte      // of fake credentials
	generation atomic.Uint64 // grows whenever any user or role changes
	mu         sync.RWMutex
	users      map[Name]*User
	populated  atomic.Bool // a user is known to exist
	pending    atomic.Bool // users or roles were written in a transaction
}

// New makes a Manager.
func New(o Options) *Manager {
	m := &Manager{options: o, throttle: NewThrottle(o.Clock), users: map[Name]*User{}}
	m.throttle.least = o.FailedDelay
	_, _ = rand.Read(m.secret[:]) // never fails
	return m
}

// In returns the Catalog of a transaction.
func (m *Manager) In(tx storage.Tx, now int64) *Catalog {
	return &Catalog{tx: tx, id: m.options.IDIndex, now: now}
}

// View runs fn over the committed users and roles.
func (m *Manager) View(ctx context.Context, fn func(*Catalog) error) error {
	return m.options.Engine.View(ctx, func(tx storage.Tx) error { return fn(m.In(tx, 0)) })
}

// Invalidate makes all compiled users stale. It must be called after every
// change to users or roles.
func (m *Manager) Invalidate() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generation.Add(1)
	m.populated.Store(false)
	clear(m.users)
}

// ChangedInTransaction records that an open transaction has written to users
// or roles.
func (m *Manager) ChangedInTransaction() { m.pending.Store(true) }

// TransactionCommitted makes users stale if any transaction may have changed
// them. It does not track which one, because such transactions are rare.
func (m *Manager) TransactionCommitted() {
	if m.pending.Load() {
		m.Invalidate()
	}
}

// Current returns the user as it is now: the same one if nothing changed,
// nil if it does not exist any more.
func (m *Manager) Current(ctx context.Context, u *User) (*User, error) {
	if u == nil || u.generation == m.generation.Load() {
		return u, nil
	}
	m.mu.RLock()
	known := m.users[u.Name]
	m.mu.RUnlock()
	if known != nil {
		return sameUser(u, known), nil
	}
	generation := m.generation.Load() // before the user is read
	var now *User
	err := m.View(ctx, func(cat *Catalog) error {
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
	now.generation = generation
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

// keep gives a user that was just read an old generation, so that the first
// Current reads it again: it may have changed since.
func (m *Manager) keep(u *User) *User {
	u.generation = m.generation.Load() - 1
	return u
}

// remember caches a user, unless something changed meanwhile.
func (m *Manager) remember(u *User) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u.generation == m.generation.Load() {
		m.users[u.Name] = u
	}
}

// HasUsers reports whether any user exists.
func (m *Manager) HasUsers(ctx context.Context) (bool, error) {
	if m.populated.Load() {
		return true, nil
	}
	generation := m.generation.Load()
	var any bool
	err := m.View(ctx, func(cat *Catalog) (err error) {
		any, err = cat.HasUsers()
		return err
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	if any && generation == m.generation.Load() {
		m.populated.Store(true)
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
			u = m.keep(user)
		}
		return err
	})
	return u, err
}
