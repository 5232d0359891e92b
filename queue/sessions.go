package queue

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// # Sessions
//
// A queue that requires sessions gives the messages of one sessionId to one receiver at a
// time, who accepts the session and holds its lock. The locks of the messages that it
// receives end with that of the session. A session has a record while somebody holds it or
// it has a state; otherwise it exists by its messages alone.

// session is the record of a session.
type session struct {
	record storage.RecordID // 0: it has no record
	id     string
	token  [16]byte
	until  int64       // end of the lock; 0: there is none
	state  value.Value // state that the receivers keep; missing: none
}

// held reports whether a receiver holds the session.
func (s *session) held(now int64) bool { return s.until > now }

var (
	errSessionLost   = mongoerr.New(mongoerr.SessionLockLost, "The session lock has expired or was released. Accept the session again.")
	errNoSessions    = mongoerr.New(mongoerr.IllegalOperation, "The queue does not have sessions: it was created without requiresSession")
	errNeedsSession  = mongoerr.New(mongoerr.IllegalOperation, "The queue requires sessions: accept one with mqAcceptSession, and receive with its sessionToken")
	errLocksOfOthers = mongoerr.New(mongoerr.IllegalOperation, "The lock of a message of a session is that of the session: renew it with mqRenewSession")
)

// maxSessionState is the largest state of a session, that of Service Bus Premium.
const maxSessionState = 1 << 20

// SessionLock is the lock of a session, by which its receiver names it.
type SessionLock struct {
	Ref   Ref
	Token [16]byte
}

// Accepted is a session that a receiver holds.
type Accepted struct {
	ID    string
	Token [16]byte
	Until int64       // the end of the lock
	State value.Value // missing: none
}

// sessions opens the records of the sessions.
func (e *entity) sessions() (storage.Collection, error) {
	if !e.config.RequiresSession || e.dead {
		return nil, errNoSessions
	}
	return collection(e.tx, sessionsNamespace(e.ns.DB, e.uuid))
}

func decodeSession(r storage.Record) session {
	s := session{record: r.ID, id: r.Doc.Lookup("_id").Str(), state: r.Doc.Lookup("state")}
	if end := r.Doc.Lookup("end"); end.Kind() == value.KindDateTime {
		s.until = end.DateTime()
	}
	_, b := r.Doc.Lookup("token").Binary()
	copy(s.token[:], b)
	return s
}

// session finds the record of a session by its id.
func (e *entity) session(coll storage.Collection, id string) (session, error) {
	r, ok, err := coll.Find(reserved.IDIndex, idKey(id))
	if err != nil || !ok {
		return session{id: id}, err
	}
	return decodeSession(r), nil
}

// saveSession writes the record of a session, or removes it if it says nothing.
func (e *entity) saveSession(coll storage.Collection, s *session) error {
	if s.until == 0 && s.state.IsMissing() {
		if s.record == 0 {
			return nil
		}
		return remove(coll, s.record)
	}
	b := value.NewBuilder()
	b.String("_id", s.id)
	if s.until != 0 {
		b.Date("end", s.until)
		b.Append("token", value.Binary(4, s.token[:]))
	}
	if !s.state.IsMissing() {
		b.Append("state", s.state)
	}
	if s.record != 0 {
		_, err := coll.Update(s.record, b.Doc(), e.now)
		return err
	}
	id, err := coll.Insert(b.Doc(), e.now)
	s.record = id
	return err
}

// Accept describes which session a receiver wants.
type Accept struct {
	Ref   Ref
	ID    string        // the session, if Named; otherwise the next one that has a message to receive
	Named bool          // whether ID is given
	Wait  time.Duration // how long to wait for the next one
	Gone  func() bool   // whether the client has disconnected; nil: unknown
}

// AcceptSession locks a session for a receiver. Without a name it takes the one with the
// oldest message that can be received and that nobody holds; ok is false if there is none.
func (b *Broker) AcceptSession(ctx context.Context, s Store, a Accept, now int64) (got Accepted, ok bool, err error) {
	if a.Named {
		a.Wait = 0
	}
	err = b.await(ctx, s, patience{a.Ref, a.Wait, a.Gone}, now, func(now int64) (bool, int64, error) {
		var due int64
		got, ok, due, err = b.tryAccept(ctx, s, a, now)
		return ok, due, err
	})
	return got, ok, err
}

// tryAccept locks a session if there is one, or says when there may be.
func (b *Broker) tryAccept(ctx context.Context, s Store, a Accept, now int64) (got Accepted, ok bool, due int64, err error) {
	var head mark
	if !a.Named {
		found := false
		head, found, due, err = b.pollSessions(ctx, s, a.Ref, now)
		if err != nil || !found {
			return got, false, due, err
		}
	}
	err = b.update(ctx, s, a.Ref, now, func(e *entity) error {
		got, ok, due = Accepted{}, a.Named, 0
		coll, err := e.sessions()
		if err != nil {
			return err
		}
		if err := e.used(now); err != nil {
			return err
		}
		if _, err := e.processDue(e.share); err != nil {
			return err
		}
		id := a.ID
		if !a.Named {
			from := head
			if low := e.out.lowest; low != 0 { // a lock has lapsed
				from.number = min(from.number, low)
			}
			id, ok, err = e.nextSession(coll, &from)
		}
		switch {
		case err != nil:
			return err
		case !ok:
			due, err = e.nextAcceptable(coll)
		default:
			got, err = e.acceptSession(coll, id)
		}
		return err
	})
	return got, ok, due, err
}

// pollSessions checks in a read transaction whether there is a session to accept or anything to
// store, so that polling does not block writers, and moves the head of the queue. head is where
// to look for the session.
func (b *Broker) pollSessions(ctx context.Context, s Store, ref Ref, now int64) (head mark, found bool, due int64, err error) {
	var q *runtimeState
	if err := b.view(ctx, s, ref, now, func(e *entity) error { q = e.state; return nil }); err != nil {
		return head, false, 0, err
	}
	seen, idle := q.head.at(now), false // read before the view begins
	err = b.view(ctx, s, ref, now, func(e *entity) error {
		head = seen
		coll, err := e.sessions()
		if err != nil {
			return err
		}
		e.state.used(now)
		idle = e.config.idle()
		if _, found, err = e.nextSession(coll, &head); found || err != nil {
			return err
		}
		if found, err = e.isDue(); found || err != nil {
			return err
		}
		due, err = e.nextAcceptable(coll)
		return err
	})
	if err == nil && b.keepsHeads(s) {
		q.head.advance(head, now)
	}
	if err == nil && idle && !found {
		err = b.update(ctx, s, ref, now, func(e *entity) error { return e.used(now) })
	}
	return head, found, due, err
}

// acceptSession locks one session.
func (e *entity) acceptSession(coll storage.Collection, id string) (got Accepted, err error) {
	one, err := e.session(coll, id)
	if err != nil {
		return got, err
	}
	if one.held(e.now) {
		return got, mongoerr.Newf(mongoerr.SessionCannotBeLocked, "The session '%s' is locked by another receiver until %s", id, value.DateTime(one.until))
	}
	one.until = after(e.now, e.config.LockDuration)
	// Unlike the token of a message it does not have the id of the record: in a transaction that
	// is not known before the commit, and nothing else keeps two receivers from accepting
	// different sessions at the same time.
	one.token = uuid.New()
	if err := e.eachLocked(id, false, func(m *message) error { return e.lapse(e.main, m) }); err != nil {
		return got, err
	}
	return Accepted{ID: id, Token: one.token, Until: one.until, State: one.state}, e.saveSession(coll, &one)
}

// sessionScan bounds the messages that are looked at for the next session in their order.
// Behind more messages of locked sessions than that, sessions are tried by their ids.
const sessionScan = 1000

// nextSession finds the session with the oldest message that can be received and that nobody
// holds. It starts at a head, and moves that over what it has passed.
func (e *entity) nextSession(coll storage.Collection, head *mark) (id string, ok bool, err error) {
	locks, seen := map[string]int64{}, 0
	var failed error
	err = walk(e.main, byReady, allReady.from(head.number), func(m *message) bool {
		seen++
		if !m.expired(e.now) {
			end, known := locks[m.session]
			if !known {
				end, failed = e.lockOf(coll, m.session)
				locks[m.session] = end
			}
			if failed != nil {
				return false
			}
			if end == 0 {
				id, ok, head.number = string([]byte(m.session)), true, m.number
				return false
			}
			head.until = min(head.until, end)
		}
		head.number = m.number + 1
		return seen < sessionScan
	})
	if err == nil {
		err = failed
	}
	if ok || err != nil || seen < sessionScan {
		return id, ok, err
	}
	return e.anySession(coll)
}

// lockOf is the end of the lock of a session; 0 if nobody holds it.
func (e *entity) lockOf(coll storage.Collection, id string) (int64, error) {
	s, err := e.session(coll, id)
	if err != nil || !s.held(e.now) {
		return 0, err
	}
	return s.until, nil
}

// anySession finds a session with a message to receive that nobody holds, in the order of the
// ids. It costs a few reads for each session, however many messages they have.
func (e *entity) anySession(coll storage.Collection) (id string, ok bool, err error) {
	for r := (storage.KeyRange{}); ; {
		next, found, err := e.sessionFrom(r)
		if err != nil || !found {
			return "", false, err
		}
		s, err := e.session(coll, next)
		if err != nil {
			return "", false, err
		}
		if !s.held(e.now) {
			ready, _, _, err := e.receivable(sessionLane(next), 0, 1, math.MaxInt)
			if err != nil || len(ready) > 0 {
				return next, len(ready) > 0, err
			}
		}
		r.Lo = sessionLane(next).end()
	}
}

// sessionFrom is the first session with ready messages in a range of bySession.
func (e *entity) sessionFrom(r storage.KeyRange) (id string, ok bool, err error) {
	first, err := heads(e.main, bySession, r, 1)
	if err != nil || len(first) == 0 {
		return "", false, err
	}
	return first[0].session, true, nil
}

// nextAcceptable is the next instant at which a session may be accepted that cannot now.
func (e *entity) nextAcceptable(coll storage.Collection) (due int64, err error) {
	if due, err = e.nextDue(); err != nil {
		return 0, err
	}
	err = coll.ScanRecords(byEnd, storage.KeyRange{Lo: until(e.now).Hi}, func(_ []byte, r storage.Record) bool {
		due = min(due, r.Doc.Lookup("end").DateTime())
		return false
	})
	return due, err
}

// hold finds the session that a receiver holds.
func (e *entity) hold(lock [16]byte) (coll storage.Collection, s session, err error) {
	if coll, err = e.sessions(); err != nil {
		return nil, s, err
	}
	r, ok, err := coll.Find(byToken, value.AppendKey(nil, value.Binary(4, lock[:])))
	if err != nil {
		return nil, s, err
	}
	if ok {
		s = decodeSession(r)
	}
	if !ok || !s.held(e.now) {
		return nil, s, errSessionLost
	}
	return coll, s, nil
}

// withSession runs fn on a session that its receiver holds.
func (b *Broker) withSession(ctx context.Context, st Store, lock SessionLock, now int64, fn func(*entity, storage.Collection, *session) error) error {
	return b.update(ctx, st, lock.Ref, now, func(e *entity) error {
		coll, s, err := e.hold(lock.Token)
		if err != nil {
			return err
		}
		if err := e.used(now); err != nil {
			return err
		}
		return fn(e, coll, &s)
	})
}

// RenewSession extends the lock of a session, with those of its messages, to one lock
// duration from now, and returns its new end.
func (b *Broker) RenewSession(ctx context.Context, st Store, lock SessionLock, now int64) (until int64, err error) {
	err = b.withSession(ctx, st, lock, now, func(e *entity, coll storage.Collection, s *session) error {
		until = after(now, e.config.LockDuration)
		s.until = until
		if err := e.saveSession(coll, s); err != nil {
			return err
		}
		return e.eachLocked(s.id, true, func(m *message) error {
			m.lockedUntil = until
			return e.save(e.main, m)
		})
	})
	return until, err
}

// ReleaseSession ends the lock of a session. Its locked messages can be received again, which
// is no failed delivery; those that have expired are processed as such.
func (b *Broker) ReleaseSession(ctx context.Context, st Store, lock SessionLock, now int64) error {
	return b.withSession(ctx, st, lock, now, func(e *entity, coll storage.Collection, s *session) error {
		err := e.eachLocked(s.id, true, func(m *message) error {
			m.unlock()
			if m.expired(now) && m.state == active {
				return e.expire(m)
			}
			e.out.ready += ifReady(m)
			return e.save(e.main, m)
		})
		if err != nil {
			return err
		}
		e.out.ready++ // the session itself, for receivers that wait for one
		first, err := heads(e.main, bySession, sessionLane(s.id).from(0), 1)
		if err != nil {
			return err
		}
		for i := range first {
			e.out.lowest = earlier(e.out.lowest, first[i].number)
		}
		s.until = 0
		return e.saveSession(coll, s)
	})
}

// eachLocked calls fn for the locked messages of a session: those whose locks hold, or those
// whose locks have lapsed.
func (e *entity) eachLocked(id string, held bool, fn func(*message) error) error {
	key := idKey(id)
	list, err := heads(e.main, byHolder, storage.KeyRange{Lo: key, Hi: append(key[:len(key):len(key)], 0)}, math.MaxInt)
	for i := range list {
		if err == nil && list[i].held(e.now) == held {
			err = fn(&list[i])
		}
	}
	return err
}

// SetSessionState stores the state of a session; null removes it.
func (b *Broker) SetSessionState(ctx context.Context, st Store, lock SessionLock, state value.Value, now int64) error {
	if n := len(value.NewDoc("", state)); n > maxSessionState {
		return mongoerr.Newf(mongoerr.BSONObjectTooLarge, "The state of a session may have at most %d bytes, found %d", maxSessionState, n)
	}
	if state.IsNullish() {
		state = value.Value{}
	}
	return b.withSession(ctx, st, lock, now, func(e *entity, coll storage.Collection, s *session) error {
		s.state = state
		return e.saveSession(coll, s)
	})
}

// SessionState returns the state of a session that the receiver holds; missing: none.
func (b *Broker) SessionState(ctx context.Context, st Store, lock SessionLock, now int64) (state value.Value, err error) {
	err = b.view(ctx, st, lock.Ref, now, func(e *entity) error {
		_, s, err := e.hold(lock.Token)
		state = s.state.Clone()
		return err
	})
	return state, err
}

// SessionInfo describes a session to those who do not hold it.
type SessionInfo struct {
	ID       string
	Until    int64 // the end of its lock; 0: nobody holds it
	HasState bool
	Active   int64 // messages that are ready
}

// Sessions lists sessions behind an id, in the order of the ids, at most limit of them: those
// that have messages to receive, a lock or a state.
func (b *Broker) Sessions(ctx context.Context, st Store, ref Ref, behind string, limit int, now int64) (list []SessionInfo, err error) {
	err = b.view(ctx, st, ref, now, func(e *entity) error {
		list = nil
		coll, err := e.sessions()
		if err != nil {
			return err
		}
		for len(list) < limit {
			one, ok, err := e.sessionBehind(coll, behind)
			if err != nil || !ok {
				return err
			}
			list, behind = append(list, one), one.ID
		}
		return nil
	})
	return list, err
}

// sessionBehind describes the next session behind an id.
func (e *entity) sessionBehind(coll storage.Collection, behind string) (one SessionInfo, ok bool, err error) {
	var lo, loID []byte
	if behind != "" {
		lo, loID = sessionLane(behind).end(), append(idKey(behind), 0)
	}
	id, ok, err := e.sessionFrom(storage.KeyRange{Lo: lo})
	if err != nil {
		return one, false, err
	}
	var s session
	err = coll.ScanRecords(reserved.IDIndex, storage.KeyRange{Lo: loID}, func(_ []byte, r storage.Record) bool {
		s = decodeSession(r)
		s.id = string([]byte(s.id))
		return false
	})
	if err != nil || !ok && s.record == 0 {
		return one, false, err
	}
	if !ok || s.record != 0 && s.id < id {
		id = s.id
	} else if s.id != id {
		s = session{}
	}
	one = SessionInfo{ID: id, HasState: !s.state.IsMissing()}
	if s.held(e.now) {
		one.Until = s.until
	}
	one.Active, err = countIn(e.main, bySession, sessionLane(id).from(0))
	return one, true, err
}

// endSessions removes the locks of sessions that have ended. Until then a session counts as
// free by the end of its lock.
func (e *entity) endSessions(limit int) (int, error) {
	if !e.config.RequiresSession {
		return 0, nil
	}
	coll, err := collection(e.tx, sessionsNamespace(e.ns.DB, e.uuid))
	if err != nil {
		return 0, err
	}
	var ended []session
	err = coll.ScanRecords(byEnd, until(e.now), func(_ []byte, r storage.Record) bool {
		s := decodeSession(r)
		s.id, s.state = string([]byte(s.id)), s.state.Clone()
		ended = append(ended, s)
		return len(ended) < limit
	})
	for i := range ended {
		if err != nil {
			break
		}
		ended[i].until = 0
		err = e.saveSession(coll, &ended[i])
	}
	return len(ended), err
}
