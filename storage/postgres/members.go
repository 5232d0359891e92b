package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// The servers over one database know each other by a table. Each renews its row
// every beat; one that has not done so for lifetime is taken for dead, and takes
// itself for dead a little earlier. A commit that changes what servers keep in
// memory returns when all living servers have seen it.
const (
	beat     = time.Second
	lifetime = 10 * time.Second
	margin   = 2 * time.Second
)

// members is this server among the others.
type members struct {
	s        *store
	channel  string      // channel of notifications
	notifies atomic.Bool // whether the database has them

	started  chan struct{} // closed after the first beat
	changes  chan struct{}
	follow   atomic.Pointer[func(kvshared.Head, []kvshared.StatsRow) (bool, error)]
	sent     atomic.Int64  // when the last beat that succeeded was sent, in nanoseconds of the process
	others   atomic.Int64  // living servers beside this one
	freed    atomic.Bool   // transactions have ended whose writes others may wait for
	seen     int64         // the version of the last refresh; only the goroutine of the beats uses it, and timed
	timed    time.Duration // when the database's time was measured last
	lookout  lookout       // only the goroutine of the beats uses it
	news     bool          // others have done something since the last beat began; only the goroutine of the beats uses it
	readings readings
	failure  atomic.Value // failed: why the last beat that failed did
	silent   atomic.Bool  // nothing was heard of the database for lifetime

	mu     sync.Mutex
	wanted map[string]time.Time // until when a job is this server's; the zero time: it is another's
	begun  time.Time            // for the monotonic clock
}

func newMembers(s *store) *members {
	return &members{s: s, channel: "duskdb_" + s.opts.Schema, started: make(chan struct{}), changes: make(chan struct{}, 1), wanted: map[string]time.Time{}, begun: clock.System().Now()}
}

// now is the time since the engine was opened, which no change of the clock
// affects.
func (m *members) now() time.Duration { return clock.System().Now().Sub(m.begun) }

// current reports whether this server is certainly alive to the others: then it
// has seen all commits that had to be seen.
func (m *members) current() bool {
	return m.sent.Load() > 0 && m.now() < time.Duration(m.sent.Load())+lifetime-margin
}

// run beats until the store is closed.
func (m *members) run() {
	ctx := m.s.life
	var c *conn
	var away bool
	var swept time.Duration
	heard := m.now()
	for ctx.Err() == nil {
		var err error
		if c == nil || c.broken != nil {
			if c, err = m.connect(ctx); err == nil {
				heard = m.now()
			}
		}
		if err == nil {
			err = m.heartbeat(ctx, c)
		}
		if c != nil && isLockTimeout(err) {
			if waitedForTable(err) {
				m.lookout.asked, m.lookout.waits = true, "this one"
			}
			err = errors.Join(err, m.lookOut(ctx, c))
		}
		if err == nil && m.now() > swept+sweepBeats*beat {
			swept = m.now()
			err = m.s.sweep(ctx, c)
		}
		if err != nil && !away && ctx.Err() == nil {
			m.s.opts.Logger("storage: the database cannot be reached: %v", m.s.explain(ctx, err))
		} else if err == nil && away {
			m.s.opts.Logger("storage: the database can be reached again")
		}
		if err != nil {
			m.failure.Store(failed{err})
		}
		if isAnswer(err) {
			heard = m.now()
		}
		silent := away && m.now() > heard+lifetime // one beat fails if the process was stopped
		if m.silent.Store(silent); silent {
			m.s.giveUp()
		}
		if away = err != nil; c != nil && away && (c.broken != nil || !isLockTimeout(err)) {
			c.close()
			c = nil
		}
		m.rest(ctx, c)
	}
	if c != nil {
		c.close()
	}
}

// isAnswer reports whether a beat, which may have failed, got an answer.
func isAnswer(err error) bool {
	var pe *pgconn.PgError
	return err == nil || errors.As(err, &pe)
}

// rest waits for the next beat, or for a notification that others have done something. Meanwhile it
// tells what sessions do with snapshots.
func (m *members) rest(ctx context.Context, c *conn) {
	over, end := context.WithTimeout(ctx, beat)
	defer end()
	if c == nil || !m.notifies.Load() {
		<-over.Done()
		return
	}
	for {
		m.tellReadings(c)
		if over.Err() != nil || m.news || c.broken != nil { // the next beat reports what is broken
			return
		}
		ctx, end := m.readings.awaiting(over, m.now())
		_ = c.wait(ctx)
		end()
	}
}

// connect opens the connection of the beats, which also gets notifications.
func (m *members) connect(ctx context.Context) (*conn, error) {
	ctx, end := context.WithTimeout(ctx, lifetime/2)
	defer end()
	c, err := m.s.connect(ctx)
	if err != nil {
		return nil, err
	}
	c.notify = func(_, payload string) {
		if m.readings.heard(m.s.id, payload) {
			return
		}
		m.news = true
		if payload == noteFreed {
			m.freed.Store(true)
		}
	}
	c.simple("listen " + quoted(m.channel))
	err = c.run(ctx, nil)
	m.notifies.Store(err == nil)
	m.lookout.learn(ctx, c)
	if c.broken != nil { // also if the context has ended right behind the answer
		c.close()
		return nil, c.broken
	}
	return c, nil
}

// heartbeat is one beat.
func (m *members) heartbeat(ctx context.Context, c *conn) error {
	ctx, end := context.WithTimeout(ctx, lifetime/2)
	defer end()
	m.news = false
	at, floor := m.now(), m.s.newest.Load()
	read := reading{sent: m.s.time.passed()}
	c.queue(renewServer, []byte(m.s.id), []byte(m.s.opts.Address), int8Value(m.seen))
	jobs := m.jobs()
	c.queue(renewLeases, []byte(m.s.id), jobsOf(jobs))
	c.queue(countOthers, []byte(m.s.id))
	c.queue(databaseTime)
	c.queue(selectHead)
	c.queue(changedStats, int8Value(m.seen))
	c.queue(deadClaims)
	m.lookout.ask(c, at)
	var leased []string
	var head kvshared.Head
	var rows []kvshared.StatsRow
	var others, dead int64
	err := c.run(ctx, func(n int, v [][]byte) error {
		switch n {
		case 1:
			leased = append(leased, string(v[0]))
		case 2:
			others = int64Of(v[0])
		case 3:
			read.micros = int64Of(v[0])
		case 4:
			head = headOf(v)
		case 5:
			rows = append(rows, kvshared.StatsRow{Num: uint32(int64Of(v[0])), Version: int64Of(v[1]), Row: clone(v[2])})
		case 6:
			dead = int64Of(v[0])
		case 7:
			m.lookout.waits = string(v[0])
		}
		return nil
	})
	if err == nil {
		err = m.s.progressed(c, floor, head)
	}
	if err != nil {
		return err
	}
	read.received = m.s.time.passed()
	if dead > 0 {
		m.freed.Store(true)
		if others > 0 && m.notifies.Load() {
			c.queue(notifyOthers, []byte(m.channel), []byte(noteFreed))
			if err := c.run(ctx, nil); err != nil {
				return err
			}
		}
	}
	m.others.Store(others)
	m.leased(jobs, leased, at)
	if head.Version > m.seen {
		if err := m.refresh(ctx, head, rows); err != nil {
			return err
		}
		c.queue(noteSeen, []byte(m.s.id), int8Value(m.seen))
		if err := c.run(ctx, nil); err != nil {
			return err
		}
	}
	if m.freed.Swap(false) {
		m.tell()
	}
	if err := m.keepTime(ctx, c, read); err != nil {
		return err
	}
	if m.sent.Swap(max(int64(at), 1)) == 0 {
		close(m.started)
	}
	return m.lookOut(ctx, c)
}

// keepTime measures the database's time from time to time, and at once if a beat has
// found another one than the clock shows.
func (m *members) keepTime(ctx context.Context, c *conn, read reading) error {
	if m.s.time.agrees(read) && read.received < m.timed+measureEvery {
		return nil
	}
	back, err := m.s.time.measure(ctx, c)
	if err != nil {
		return err
	}
	m.timed = read.received
	if back > 0 {
		m.s.opts.Logger("storage: the clock of the database was set back by %v; what has expired in that time and was not removed is there again", back)
	}
	return nil
}

// refresh takes what has changed.
func (m *members) refresh(ctx context.Context, head kvshared.Head, rows []kvshared.StatsRow) error {
	fn := m.follow.Load()
	if fn == nil {
		return nil
	}
	news, err := (*fn)(head, rows)
	if err != nil {
		return err
	}
	m.seen = head.Version
	if news {
		m.tell()
	}
	return nil
}

// tell reports news to those who wait.
func (m *members) tell() {
	select {
	case m.changes <- struct{}{}:
	default:
	}
}

func (m *members) jobs() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []string
	for job := range m.wanted {
		list = append(list, job)
	}
	return list
}

func jobsOf(list []string) []byte {
	a := newArray(typeText, len(list), 16*len(list))
	for _, job := range list {
		a.add([]byte(job))
	}
	return a.value()
}

// leased notes which of the jobs that a beat requested it was granted; at is when it was sent.
// Jobs requested since stay as they are.
func (m *members) leased(requested, granted []string, at time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, job := range requested {
		m.wanted[job] = time.Time{}
	}
	for _, job := range granted {
		m.wanted[job] = m.begun.Add(at + leaseTime - margin/2)
	}
}

// leaseTime is how long a lease outlives its server. Another one gets it at its next
// beat.
const leaseTime = 8 * time.Second

// lease reports whether a job is this server's.
func (m *members) lease(job string) bool {
	m.mu.Lock()
	until, known := m.wanted[job]
	if !known {
		m.wanted[job] = time.Time{}
	}
	m.mu.Unlock()
	if known {
		return clock.System().Now().Before(until)
	}
	return m.ask(job)
}

// ask tries to get the lease of a job that was not requested before.
func (m *members) ask(job string) bool {
	ctx, end := context.WithTimeout(m.s.life, beat)
	defer end()
	l, err := m.s.pool.get(ctx)
	if err != nil {
		return false
	}
	defer m.s.pool.put(l)
	at, got := m.now(), false
	l.queue(renewLeases, []byte(m.s.id), jobsOf([]string{job}))
	if err := l.run(ctx, func(int, [][]byte) error { got = true; return nil }); err != nil || !got {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wanted[job] = m.begun.Add(at + leaseTime - margin/2)
	return true
}

// awaitSeen waits until all living servers have seen a commit.
func (m *members) awaitSeen(ctx context.Context, version int64) {
	pause := storage.Backoff{}
	begun := m.now()
	m.s.metrics.seen.count.Add(1)
	defer func() { m.s.metrics.seen.nanos.Add(int64(m.now() - begun)) }()
	for m.now()-begun < lifetime+margin {
		waiting, err := m.unseen(ctx, version)
		if err == nil && waiting == 0 {
			return
		}
		select {
		case <-clock.System().After(min(pause.Next(), 20*time.Millisecond)):
		case <-ctx.Done():
			return
		}
	}
}

func (m *members) unseen(ctx context.Context, version int64) (n int64, err error) {
	l, err := m.s.pool.get(ctx)
	if err != nil {
		return 0, err
	}
	defer m.s.pool.put(l)
	l.queue(countUnseen, []byte(m.s.id), int8Value(version))
	err = l.run(ctx, func(_ int, v [][]byte) error { n = int64Of(v[0]); return nil })
	return n, err
}

// join adds this server to the list, with a commit that the others must see: from
// then on each of them knows that it is not alone.
func (m *members) join(ctx context.Context) error {
	l, err := m.s.pool.get(ctx)
	if err != nil {
		return err
	}
	var version, others int64
	l.queue(begin)
	l.queue(lockHead)
	l.queue(raiseHead)
	l.queue(joinServers, []byte(m.s.id), []byte(m.s.opts.Address))
	l.queue(countOthers, []byte(m.s.id))
	l.queue(deadClaims)
	l.queue(forgetServers)
	l.queue(strayClaims)
	l.queue(strayNumbers)
	l.queue(commit)
	err = l.run(ctx, func(n int, v [][]byte) error {
		switch n {
		case 2:
			version = int64Of(v[0])
		case 4:
			others = int64Of(v[0])
		}
		return nil
	})
	if err == nil && others > 0 {
		l.simple(fmt.Sprintf("notify %s", quoted(m.channel)))
		_ = l.run(ctx, nil) // it only makes the others look sooner
	}
	m.s.pool.put(l)
	if err == nil && others > 0 {
		m.awaitSeen(ctx, version)
	}
	return err
}

// leave removes this server from the list, and gives its jobs to the others.
func (m *members) leave() {
	ctx, end := context.WithTimeout(context.Background(), leaveTime)
	defer end()
	l, err := m.s.pool.get(ctx)
	if err != nil {
		return // it is removed when it has not been heard of for a while
	}
	defer m.s.pool.put(l)
	l.queue(leaveJobs, []byte(m.s.id))
	l.queue(leaveServers, []byte(m.s.id))
	l.queue(leaveClaims, []byte(m.s.id))
	l.queue(leaveNumbers, []byte(m.s.id))
	_ = l.run(ctx, nil)
}

// leaveTime is how long the end of a server may wait for the database.
const leaveTime = 2 * time.Second
