package observe_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/observe"
)

// The settings of the profiler, with their defaults in mongod: level 0, slow from 100 ms,
// all slow operations count.
func TestProfilerSettings(t *testing.T) {
	p := observe.NewProfiler(nil)
	if p.SlowMS.Load() != 100 || p.SampleRate() != 1 || p.Of("a").Level != 0 || !p.Sampled() {
		t.Errorf("by default %d ms, %v, %+v", p.SlowMS.Load(), p.SampleRate(), p.Of("a"))
	}
	p = observe.NewProfiler(&observe.Profiling{Level: 1, SlowMS: 7, SampleRate: 0})
	for db, want := range map[string]int32{"a": 1, "admin": 1, "local": 0, "config": 0} {
		if got := p.Of(db).Level; got != want {
			t.Errorf("%s has level %d at first, want %d", db, got, want)
		}
	}
	if p.SlowMS.Load() != 7 || p.Sampled() {
		t.Errorf("%d ms, sampled at rate %v", p.SlowMS.Load(), p.SampleRate())
	}
	p.Set("a", observe.ProfileSetting{Level: 2})
	p.Set("local", observe.ProfileSetting{Level: 1})
	for db, want := range map[string]int32{"a": 2, "b": 1, "local": 1, "config": 0} {
		if got := p.Of(db).Level; got != want {
			t.Errorf("%s has level %d, want %d", db, got, want)
		}
	}
	p.SetSample(0.5)
	yes := 0
	for range 2000 {
		if p.Sampled() {
			yes++
		}
	}
	if p.SampleRate() != 0.5 || yes < 700 || yes > 1300 {
		t.Errorf("%d of 2000 at a rate of %v", yes, p.SampleRate())
	}
}

func TestProfilingCheck(t *testing.T) {
	nan := 0.0
	nan /= nan
	for _, tt := range []struct {
		p   *observe.Profiling
		err string
	}{
		{nil, ""}, {&observe.Profiling{}, ""}, {&observe.Profiling{Level: 2, SampleRate: 1}, ""},
		{&observe.Profiling{Level: 3}, "the level of profiling must be 0, 1 or 2, not 3"},
		{&observe.Profiling{Level: -1}, "the level of profiling must be 0, 1 or 2, not -1"},
		{&observe.Profiling{SampleRate: 1.5}, "the sample rate of slow operations must be between 0 and 1, not 1.5"},
		{&observe.Profiling{SampleRate: nan}, "the sample rate of slow operations must be between 0 and 1, not NaN"},
	} {
		if got := shown(tt.p.Check()); got != tt.err {
			t.Errorf("%+v: %q, want %q", tt.p, got, tt.err)
		}
	}
}

// summary is the plan of a query.
type summary string

func (s summary) ByID() bool               { return false }
func (summary) ScansAll() bool             { return false }
func (s summary) Shapes() (string, string) { return "", "" }
func (s summary) Summary() string          { return string(s) }

func TestPlanSummary(t *testing.T) {
	if got := observe.PlanSummary("IDHACK", nil); got != "IDHACK" {
		t.Error(got)
	}
	if got := observe.PlanSummary("", summary("IXSCAN { a: 1 }")); got != "IXSCAN { a: 1 }" {
		t.Error(got)
	}
	if got := observe.ISOTime(1767225600001); got != "2026-01-01T00:00:00.001+00:00" {
		t.Error(got)
	}
}
