package observe

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/commands/broadcast"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// FailPoint is a place in the server where tests can have it fail.
type FailPoint struct {
	mu      sync.Mutex
	on      atomic.Bool // cheap to check
	mode    FailMode
	count   int64   // remaining number of times or skip
	chance  float64 // the activationProbability
	entered int64   // how often it took effect
	data    FailData
	changed *broadcast.Broadcast // signalled when entered grows
}

// FailMode says when a fail point takes effect.
type FailMode uint8

const (
	FailOff       FailMode = iota // without effect
	FailAlways                    // takes effect every time
	FailTimes                     // so many times, then it is off
	FailSkip                      // every time but so many at first
	FailSometimes                 // takes effect with a probability
)

// FailPoints are the fail points of a server.
type FailPoints struct {
	Command *FailPoint // failCommand: before every command
	GetMore *FailPoint // failGetMoreAfterCursorCheckout: once a getMore has its cursor
	Write   *FailPoint // onPrimaryTransactionalWrite: before a retryable write is committed

	TimesOut      *FailPoint // maxTimeAlwaysTimeOut: where a time limit begins
	NeverTimesOut *FailPoint // maxTimeNeverTimeOut: the same

	Interrupts *FailPoint // checkForInterruptFail: where an operation looks whether it was killed
}

// NewFailPoints returns fail points that are all off.
func NewFailPoints() FailPoints {
	return FailPoints{
		Command: newFailPoint(), GetMore: newFailPoint(), Write: newFailPoint(),
		TimesOut: newFailPoint(), NeverTimesOut: newFailPoint(), Interrupts: newFailPoint(),
	}
}

// Named finds a fail point, nil for an unknown name.
func (f *FailPoints) Named(name string) *FailPoint {
	switch name {
	case "failCommand":
		return f.Command
	case "failGetMoreAfterCursorCheckout":
		return f.GetMore
	case "onPrimaryTransactionalWrite":
		return f.Write
	case "maxTimeAlwaysTimeOut":
		return f.TimesOut
	case "maxTimeNeverTimeOut":
		return f.NeverTimesOut
	case "checkForInterruptFail":
		return f.Interrupts
	}
	return nil
}

// FailData says which commands fail, and how.
type FailData struct {
	Commands   map[string]bool // failCommands: their names
	All        bool            // every command, whatever its name
	AppName    string          // "": any client
	ThreadName string          // "": any connection
	Namespace  string          // "": any
	Closes     bool            // closeConnection
	Stays      bool            // closeConnection is false, and not only absent
	Code       mongoerr.Code   // errorCode, 0: none
	Before     mongoerr.Code   // failBeforeCommitExceptionCode
	Extra      value.Doc       // errorExtraInfo
	Labels     []string        // nil: those the server would give
	Concern    value.Doc       // writeConcernError
	Block      time.Duration   // how long the command waits first
	Chance     float64         // chance: the probability, besides the mode
}

func newFailPoint() *FailPoint { return &FailPoint{changed: broadcast.New()} }

// Set changes the fail point and returns how often it had taken effect.
func (f *FailPoint) Set(mode FailMode, count int64, chance float64, data FailData) (entered int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mode, f.count, f.chance, f.data = mode, count, chance, data
	f.on.Store(mode != FailOff)
	return f.entered
}

// On reports whether the fail point is on.
func (f *FailPoint) On() bool { return f.on.Load() }

// EnterIf reports whether the fail point takes effect, if concerned accepts its data,
// which it returns.
func (f *FailPoint) EnterIf(concerned func(*FailData) bool) (FailData, bool) {
	if !f.on.Load() {
		return FailData{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !concerned(&f.data) || !f.fires() {
		return FailData{}, false
	}
	f.entered++
	f.changed.Signal()
	return f.data, true
}

// fires counts one evaluation of the fail point. The caller holds the lock.
func (f *FailPoint) fires() bool {
	switch f.mode {
	case FailAlways:
		return true
	case FailTimes:
		if f.count--; f.count <= 0 {
			f.mode = FailOff
			f.on.Store(false)
		}
		return true
	case FailSkip:
		f.count--
		return f.count < 0
	case FailSometimes:
		return rand.Float64() < f.chance //nolint:gosec // no secret
	}
	return false
}

// TimesEntered returns how often the fail point took effect, and a channel that is closed
// the next time.
func (f *FailPoint) TimesEntered() (n int64, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.entered, f.changed.Wait()
}
