package observe_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/observe"
)

func always(*observe.FailData) bool { return true }

// The modes of configureFailPoint, after fail_point.h of mongod: times counts the times
// it takes effect, skip those it does not.
func TestFailPointModes(t *testing.T) {
	for name, tt := range map[string]struct {
		mode   observe.FailMode
		count  int64
		chance float64
		want   string // what five looks see
	}{
		"off":      {observe.FailOff, 0, 0, "....."},
		"alwaysOn": {observe.FailAlways, 0, 0, "xxxxx"},
		"times":    {observe.FailTimes, 2, 0, "xx..."},
		"skip":     {observe.FailSkip, 3, 0, "...xx"},
		"certain":  {observe.FailSometimes, 0, 1, "xxxxx"},
		"never":    {observe.FailSometimes, 0, 0, "....."},
	} {
		t.Run(name, func(t *testing.T) {
			points := observe.NewFailPoints()
			f := points.Command
			if n := f.Set(tt.mode, tt.count, tt.chance, observe.FailData{AppName: "app"}); n != 0 {
				t.Errorf("entered %d times before", n)
			}
			got, entered := "", int64(0)
			for range tt.want {
				if _, on := f.EnterIf(func(*observe.FailData) bool { return false }); on {
					t.Error("it took effect on what it does not concern")
				}
				_, changed := f.TimesEntered()
				d, on := f.EnterIf(always)
				signalled := false
				select {
				case <-changed:
					signalled = true
				default:
				}
				if on != signalled || on != (d.AppName == "app") {
					t.Errorf("entered %v with %+v, signalled %v", on, d, signalled)
				}
				if on {
					got += "x"
					entered++
				} else {
					got += "."
				}
			}
			if n, _ := f.TimesEntered(); got != tt.want || n != entered {
				t.Errorf("%s, entered %d, want %s", got, n, tt.want)
			}
			if n := f.Set(observe.FailOff, 0, 0, observe.FailData{}); n != entered {
				t.Errorf("entered %d times, want %d", n, entered)
			}
		})
	}
}

// Each fail point has its name in mongod, and is one of its own.
func TestFailPointsAreNamed(t *testing.T) {
	points := observe.NewFailPoints()
	for name, want := range map[string]*observe.FailPoint{
		"failCommand": points.Command, "failGetMoreAfterCursorCheckout": points.GetMore, "onPrimaryTransactionalWrite": points.Write,
		"maxTimeAlwaysTimeOut": points.TimesOut, "maxTimeNeverTimeOut": points.NeverTimesOut, "checkForInterruptFail": points.Interrupts,
	} {
		got := points.Named(name)
		if got == nil || got != want {
			t.Errorf("%s: %p, want %p", name, got, want)
			continue
		}
		got.Set(observe.FailAlways, 0, 0, observe.FailData{ThreadName: name})
		if d, on := want.EnterIf(always); !on || d.ThreadName != name {
			t.Errorf("%s has %+v", name, d)
		}
	}
	if points.Named("noSuchFailPoint") != nil {
		t.Error("an unknown name has a fail point")
	}
}
