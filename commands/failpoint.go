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

// failPoint is a place in the server where tests can have it fail. The one
// there is, failCommand, stands before every command.
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

// failData is what a failing command is to do, and which commands are meant.
type failData struct {
	doc        value.Doc
	commands   map[string]bool
	all        bool
	appName    string
	threadName string
	namespace  string
	closes     bool
	code       mongoerr.Code
	extra      value.Doc // errorExtraInfo
	labels     []string  // nil: those the server would give
	concern    value.Doc // writeConcernError
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
	if !f.on.Load() {
		return failData{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.data.concerns(c) || !f.fires() {
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
	if d.appName != "" && d.appName != appName(c) {
		return false
	}
	if d.threadName != "" && d.threadName != "conn"+strconv.FormatInt(c.conn.ID, 10) {
		return false
	}
	return d.namespace == "" || d.namespace == requestNamespace(c.cmd.name, c.Body, c.DB)
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
		timer := s.real.NewTimer(d.block)
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-c.ctx.Done():
			return c.interrupted()
		}
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
	if err := s.execute(c); err != nil || d.concern == nil || c.cmd.flags&writes == 0 {
		return err
	}
	c.appendConcernError(&d)
	return nil
}

// appendConcernError adds to a reply that only the write concern failed.
func (c *Call) appendConcernError(d *failData) {
	c.reply.Document("writeConcernError", d.concern)
	labels := d.labels
	if labels == nil {
		labels = mongoerr.LabelsFor(mongoerr.OK, mongoerr.Operation{
			InTransaction: c.generic.autocommit != nil, CommitOrAbort: c.cmd.name == "commitTransaction" || c.cmd.name == "abortTransaction",
			RetryableWrite: c.generic.txnNumber != nil && c.generic.autocommit == nil,
			WriteConcern:   mongoerr.Code(d.concern.Lookup("code").TruncInt64()),
		})
	}
	if len(labels) == 0 {
		return
	}
	c.reply.StartArray("errorLabels")
	for _, l := range labels {
		c.reply.String("", l)
	}
	c.reply.End()
}
