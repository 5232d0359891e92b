package queue

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// sessionsModel compares a broker with one that remembers nothing, and checks that messages
// of a session are received in order and by its holder alone.
type sessionsModel struct {
	*env
	held map[string]Accepted
	sent int
}

// Random histories of receivers of sessions.
func TestSessionsModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &sessionsModel{env: newEnv(t), held: map[string]Accepted{}}
		defer func() { _ = m.engine.Close() }()
		m.create("q", `{"requiresSession": true, "lockDuration": 30, "maxDeliveryCount": 3, "deadLetteringOnMessageExpiration": true}`)
		rt.Repeat(map[string]func(*rapid.T){
			"send": m.sendOne, "accept": m.accepts, "named": m.acceptsNamed, "receive": m.receives, "release": m.releases,
			"renew": m.renews, "clock": m.waits, "sweep": func(*rapid.T) { m.sweep() }, "": func(*rapid.T) { m.nobodyElse() },
		})
	})
}

func (m *sessionsModel) sendOne(rt *rapid.T) {
	m.sent++
	id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(rt, "session")
	live := rapid.SampledFrom([]int{5, 20, 45, 1000}).Draw(rt, "seconds to live")
	later := rapid.SampledFrom([]int64{0, 0, 10}).Draw(rt, "seconds later")
	m.send("q", fmt.Sprintf(`{"_id": %d, "_mq": {"sessionId": %q, "timeToLive": %d, "scheduledEnqueueTimeUtc": {"$date": %d}}}`, m.sent, id, live, m.now()+later*1000))
}

// accepts takes the next session, which must be the one that a broker finds without a head.
func (m *sessionsModel) accepts(rt *rapid.T) {
	m.sweep()
	fresh := NewBroker(m.clock, m.clock, &m.metrics)
	want, any := "", false
	m.must(fresh.view(m.ctx, m.store, ref("q"), m.now(), func(e *entity) error {
		coll, err := e.sessions()
		if err == nil {
			want, any, err = e.nextSession(coll, &mark{until: never})
		}
		return err
	}))
	got, ok, err := m.tryAccept("")
	if err != nil || ok != any || got.ID != want {
		rt.Fatalf("accepted %q, %v, %v, want %q, %v", got.ID, ok, err, want, any)
	}
	if ok {
		m.take(rt, got)
	}
}

func (m *sessionsModel) acceptsNamed(rt *rapid.T) {
	id := rapid.SampledFrom([]string{"a", "b", "z"}).Draw(rt, "session")
	got, _, err := m.tryAccept(id)
	if s, ok := m.held[id]; ok && s.Until > m.now() {
		m.fails(err, mongoerr.SessionCannotBeLocked, "")
		return
	}
	m.must(err)
	m.take(rt, got)
}

// take notes an accepted session, which nobody may hold.
func (m *sessionsModel) take(rt *rapid.T, s Accepted) {
	if other, ok := m.held[s.ID]; ok && other.Until > m.now() {
		rt.Fatalf("two receivers hold %q", s.ID)
	}
	m.held[s.ID] = s
}

// any is a session that was held, perhaps too long ago.
func (m *sessionsModel) any(rt *rapid.T) (s Accepted, ok bool) {
	var ids []string
	for _, id := range []string{"a", "b", "c", "d", "e", "z"} {
		if _, ok := m.held[id]; ok {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return s, false
	}
	return m.held[rapid.SampledFrom(ids).Draw(rt, "held")], true
}

// lost reports whether the lock has ended, which the error must say.
func (m *sessionsModel) lost(s Accepted, err error) bool {
	if s.Until > m.now() {
		m.must(err)
		return false
	}
	m.fails(err, mongoerr.SessionLockLost, "")
	return true
}

func (m *sessionsModel) receives(rt *rapid.T) {
	s, ok := m.any(rt)
	if !ok {
		return
	}
	docs, err := m.receiveIn(s, rapid.IntRange(1, 3).Draw(rt, "messages"))
	if m.lost(s, err) {
		return
	}
	last := int64(0)
	for _, d := range docs {
		if n := mq(d, "sequenceNumber").Int64(); mq(d, "sessionId").Str() != s.ID || n <= last || mq(d, "expiresAtUtc").DateTime() <= m.now() {
			rt.Fatalf("received %s in session %q behind %d", d, s.ID, last)
		} else {
			last = n
		}
		switch rapid.IntRange(0, 3).Draw(rt, "settle") {
		case 0:
			m.must(m.complete("q", d))
		case 1:
			m.abandon("q", d)
		case 2:
			m.deferIt("q", d)
		}
	}
}

func (m *sessionsModel) releases(rt *rapid.T) {
	if s, ok := m.any(rt); ok {
		m.lost(s, m.broker.ReleaseSession(m.ctx, m.store, m.lock(s), m.now()))
		delete(m.held, s.ID)
	}
}

func (m *sessionsModel) renews(rt *rapid.T) {
	if s, ok := m.any(rt); ok {
		until, err := m.broker.RenewSession(m.ctx, m.store, m.lock(s), m.now())
		if !m.lost(s, err) {
			s.Until = until
			m.held[s.ID] = s
		}
	}
}

func (m *sessionsModel) waits(rt *rapid.T) {
	m.must(m.clock.AdvanceMillis(rapid.SampledFrom([]int64{1, 7, 29, 30, 60}).Draw(rt, "seconds") * 1000))
}

// nobodyElse checks that only messages of held sessions are locked, until the session ends.
func (m *sessionsModel) nobodyElse() {
	m.must(m.engine.View(m.ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns("q"))
		if err != nil {
			return err
		}
		return walk(coll, byLock, storage.KeyRange{}, func(o *message) bool {
			if s := m.held[o.session]; o.held(m.now()) && s.Until != o.lockedUntil {
				m.t.Fatalf("message %d of %q is locked until %s, its session until %s", o.number, o.session, value.DateTime(o.lockedUntil), value.DateTime(s.Until))
			}
			return true
		})
	}))
}
