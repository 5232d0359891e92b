package diagnostics

import (
	"errors"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type profileArgs struct {
	Profile    int64       `arg:"profile,required"`
	SlowMS     *int64      `arg:"slowms"`
	SampleRate value.Value `arg:"sampleRate"`
	Filter     value.Value `arg:"filter"`
}

var profileSpec = args.New[profileArgs]("profile")

// runProfile reads or changes the profiling of a database. Levels outside
// 0 to 2 only read.
func runProfile(c *kernel.Call) error {
	var a profileArgs
	if err := profileSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if v, given := c.Body.Get("filter"); given && v.Kind() != value.KindDocument && v.Kind() != value.KindString {
		return mongoerr.Newf(mongoerr.BadValue, "Expected an object, or the string 'unset'. Got: %s", v)
	}
	p := c.Svc.Profiler
	was, slow, rate := p.Of(c.DB), p.SlowMS.Load(), p.SampleRate()
	next, err := a.apply(was)
	if err != nil {
		return err
	}
	if next.Level > 0 && was.Level == 0 {
		if err := createProfile(c); err != nil {
			return err
		}
	}
	p.Set(c.DB, next)
	if a.SlowMS != nil {
		p.SlowMS.Store(*a.SlowMS)
	}
	if !a.SampleRate.IsMissing() {
		p.SetSample(a.SampleRate.AsDouble())
	}
	c.Reply.Int32("was", was.Level).Append("slowms", value.Int(slow)).Double("sampleRate", rate)
	if was.Filter != nil {
		c.Reply.Document("filter", was.Filter.Parsed())
		c.Reply.String("note", "When a filter expression is set, slowms and sampleRate are not used for profiling and slow-query log lines.")
	}
	return nil
}

// apply checks the arguments and returns the setting they ask for.
func (a *profileArgs) apply(s observe.ProfileSetting) (observe.ProfileSetting, error) {
	if a.Profile >= 0 && a.Profile <= 2 {
		s.Level = int32(a.Profile)
	}
	if v := a.SampleRate; !v.IsMissing() {
		if !v.IsNumber() {
			return s, args.WrongType("profile", "sampleRate", v, args.NumberTypes)
		}
		if r := v.AsDouble(); !(r >= 0 && r <= 1) {
			return s, mongoerr.New(mongoerr.BadValue, "'sampleRate' must be between 0.0 and 1.0 inclusive")
		}
	}
	switch v := a.Filter; v.Kind() {
	case value.Missing:
	case value.KindString:
		if v.Str() != "unset" {
			return s, mongoerr.New(mongoerr.BadValue, "Expected filter to be a query or 'unset'")
		}
		s.Filter = nil
	case value.KindDocument:
		m, err := match.Compile(v.Doc().Clone(), match.Options{})
		if err != nil {
			return s, err
		}
		s.Filter = m
	default:
		return s, args.WrongType("profile", "filter", v, "string, object")
	}
	return s, nil
}

// createProfile makes the capped collection for the entries.
func createProfile(c *kernel.Call) error {
	ns := storage.Namespace{DB: c.DB, Coll: "system.profile"}
	err := storage.Retry(c.Ctx, c.Svc.Engine, func(tx storage.Tx) error {
		_, err := tx.Collection(ns)
		if !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		_, err = tx.Create(ns, value.NewDoc("capped", value.Bool(true), "size", value.Int(observe.ProfileBytes)), nil)
		return err
	})
	return kernel.Translate(ns, err)
}
