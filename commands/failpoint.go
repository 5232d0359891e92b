package commands

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// failPoint is a place in the server where tests can have it fail.
type failPoint struct {
	mu      sync.Mutex
	on      atomic.Bool // cheap to ask, for those who never set it
	mode    failMode
	count   int64   // left of times or skip
	chance  float64 // of activationProbability
	entered int64   // how often it took effect
	data    failData
	changed *broadcast // signalled when entered grows
}

type failMode uint8

const (
	failOff failMode = iota
	failAlways
	failTimes
	failSkip
	failSometimes
)

// failPoints are those that there are.
type failPoints struct {
	command *failPoint // failCommand: before every command
	getMore *failPoint // failGetMoreAfterCursorCheckout: once a getMore has its cursor
	write   *failPoint // onPrimaryTransactionalWrite: before a retryable write is committed

	timesOut      *failPoint // maxTimeAlwaysTimeOut: where a time limit begins
	neverTimesOut *failPoint // maxTimeNeverTimeOut: the same
}

func newFailPoints() failPoints {
	return failPoints{
		command: newFailPoint(), getMore: newFailPoint(), write: newFailPoint(),
		timesOut: newFailPoint(), neverTimesOut: newFailPoint(),
	}
}

// named finds a fail point, nil if there is none of that name.
func (f *failPoints) named(name string) *failPoint {
	switch name {
	case "failCommand":
		return f.command
	case "failGetMoreAfterCursorCheckout":
		return f.getMore
	case "onPrimaryTransactionalWrite":
		return f.write
	case "maxTimeAlwaysTimeOut":
		return f.timesOut
	case "maxTimeNeverTimeOut":
		return f.neverTimesOut
	}
	return nil
}

// failData is what a failing command is to do, and which commands are meant.
type failData struct {
	doc        value.Doc
	commands   map[string]bool
	all        bool
	appName    string
	threadName string
	namespace  string
	closes     bool
	stays      bool // closeConnection is false, and not only absent
	code       mongoerr.Code
	before     mongoerr.Code // failBeforeCommitExceptionCode
	extra      value.Doc     // errorExtraInfo
	labels     []string      // nil: those the server would give
	concern    value.Doc     // writeConcernError
	block      time.Duration
}

func newFailPoint() *failPoint { return &failPoint{changed: newBroadcast()} }

// set changes the fail point and returns how often it had taken effect.
func (f *failPoint) set(mode failMode, count int64, chance float64, data failData) (entered int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mode, f.count, f.chance, f.data = mode, count, chance, data
	f.on.Store(mode != failOff)
	return f.entered
}

// enter reports whether the fail point takes effect on a command, and how.
func (f *failPoint) enter(c *Call) (failData, bool) {
	return f.enterIf(func(d *failData) bool { return d.concerns(c) })
}

// enterIf is enter with a rule of its own.
func (f *failPoint) enterIf(concerned func(*failData) bool) (failData, bool) {
	if !f.on.Load() {
		return failData{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !concerned(&f.data) || !f.fires() {
		return failData{}, false
	}
	f.entered++
	f.changed.signal()
	return f.data, true
}

// fires counts one look at the fail point. The caller holds the lock.
func (f *failPoint) fires() bool {
	switch f.mode {
	case failAlways:
		return true
	case failTimes:
		if f.count--; f.count <= 0 {
			f.mode = failOff
			f.on.Store(false)
		}
		return true
	case failSkip:
		f.count--
		return f.count < 0
	case failSometimes:
		return rand.Float64() < f.chance //nolint:gosec // no secret
	}
	return false
}

// timesEntered is how often the fail point took effect, and what tells of
// the next time.
func (f *failPoint) timesEntered() (n int64, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.entered, f.changed.wait()
}

// concerns tells whether a command is among those that are to fail.
func (d *failData) concerns(c *Call) bool {
	if c.cmd.name == "configureFailPoint" || c.cmd.name == "waitForFailPoint" {
		return false
	}
	if !d.all && !d.commands[c.cmd.name] && !slices.ContainsFunc(c.cmd.aliases, func(name string) bool { return d.commands[name] }) {
		return false
	}
	return d.concernsClient(c) && (d.namespace == "" || d.namespace == requestNamespace(c.cmd.name, c.Body, c.DB))
}

// concernsClient tells whether the command is of a client that is meant.
func (d *failData) concernsClient(c *Call) bool {
	if d.appName != "" && d.appName != appName(c) {
		return false
	}
	return d.threadName == "" || d.threadName == "conn"+strconv.FormatInt(c.conn.ID, 10)
}

// failGetMore is the error of a getMore that has its cursor, where tests ask
// for one.
func (c *Call) failGetMore(cur *cursor) error {
	d, ok := c.svc.failPoints.getMore.enterIf(func(d *failData) bool {
		return d.concernsClient(c) && (d.namespace == "" || d.namespace == cur.ns.String())
	})
	if !ok {
		return nil
	}
	if d.code == mongoerr.OK {
		d.code = mongoerr.InternalError
	}
	return mongoerr.New(d.code, "Hit the 'failGetMoreAfterCursorCheckout' failpoint")
}

// failWrite is asked before the statements of a retryable write are
// committed: a test may want the connection closed instead of an answer, be
// the write in effect or not. The transaction of the engine may be run more
// than once; that counts once.
func (c *Call) failWrite() error {
	if !c.retry.on || !c.log.hasStatements() {
		return nil
	}
	if c.retry.fails == nil {
		d, ok := c.svc.failPoints.write.enterIf(func(*failData) bool { return true })
		if !ok {
			return nil
		}
		c.retry.fails = &d
	}
	d := c.retry.fails
	c.response.Drop = !d.stays
	if d.before == mongoerr.OK {
		return nil
	}
	return mongoerr.Newf(d.before, "Failing write for %s:%d due to failpoint. The write must not be reflected.", c.session, *c.generic.txnNumber)
}

// appName is the name of the application behind a command. A hello that
// opens a connection brings it along.
func appName(c *Call) string {
	if c.cmd.name == "hello" || c.cmd.name == "isMaster" {
		if client := c.Body.Lookup("client"); client.Kind() == value.KindDocument {
			if app := client.Doc().Lookup("application"); app.Kind() == value.KindDocument {
				return app.Doc().Lookup("name").Str()
			}
		}
	}
	_, name := c.conn.clientInfo()
	return name
}

// failing runs a command on which the fail point took effect.
func (s *Service) failing(c *Call, d failData) error {
	if d.block > 0 {
		if err := s.block(c, d.block); err != nil {
			return err
		}
		c.began = s.real.Now() // the wait is none of the command's
	}
	switch {
	case d.closes:
		c.response.Drop = true
		return nil
	case d.code != 0:
		e := mongoerr.New(d.code, "Failing command via 'failCommand' failpoint")
		for name, v := range d.extra.All() {
			e = e.WithExtra(name, v)
		}
		c.fixedLabels, e.Labels = d.labels != nil, d.labels
		return e
	}
	err := s.execute(c)
	switch {
	case d.concern == nil || c.cmd.flags&writes == 0:
	case err == nil:
		c.fixedLabels = d.labels != nil
		c.concernFailed(d.concern, d.labels)
	default:
		c.injected = d.concern
		if d.labels != nil {
			labelled := *mongoerr.From(err)
			labelled.Labels, c.fixedLabels = d.labels, true
			return &labelled
		}
	}
	return err
}

// block holds a command up. That counts towards its maxTimeMS.
func (s *Service) block(c *Call, d time.Duration) error {
	limited := c.generic.maxTime > 0 && c.cmd.name != "getMore"
	over := limited && c.generic.maxTime <= d
	if over {
		d = c.generic.maxTime
	}
	timer := s.real.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-c.ctx.Done():
		return c.interrupted()
	}
	if over {
		return errMaxTime
	}
	if limited {
		c.generic.maxTime -= d
	}
	return nil
}
