package commands

import (
	"errors"

	"github.com/duskdb/duskdb/mongoerr"
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

var profileSpec = newArgs[profileArgs]("profile")

// runProfile reads or changes the profiling of a database. Levels outside
// 0 to 2 only read.
func runProfile(c *Call) error {
	var a profileArgs
	if err := profileSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if v, given := c.Body.Get("filter"); given && v.Kind() != value.KindDocument && v.Kind() != value.KindString {
		return mongoerr.Newf(mongoerr.BadValue, "Expected an object, or the string 'unset'. Got: %s", v)
	}
	p := c.svc.profiler
	was, slow, rate := p.of(c.DB), p.slowMS.Load(), p.sampleRate()
	next, err := a.apply(was)
	if err != nil {
		return err
	}
	if next.level > 0 && was.level == 0 {
		if err := c.createProfile(); err != nil {
			return err
		}
	}
	p.set(c.DB, next)
	if a.SlowMS != nil {
		p.slowMS.Store(*a.SlowMS)
	}
	if !a.SampleRate.IsMissing() {
		p.setSample(a.SampleRate.AsDouble())
	}
	c.reply.Int32("was", was.level).Append("slowms", value.Int(slow)).Double("sampleRate", rate)
	if was.filter != nil {
		c.reply.Document("filter", was.spec)
		c.reply.String("note", "When a filter expression is set, slowms and sampleRate are not used for profiling and slow-query log lines.")
	}
	return nil
}

// apply checks the arguments and returns the setting they ask for.
func (a *profileArgs) apply(s profileSetting) (profileSetting, error) {
	if a.Profile >= 0 && a.Profile <= 2 {
		s.level = int32(a.Profile)
	}
	if v := a.SampleRate; !v.IsMissing() {
		if !v.IsNumber() {
			return s, wrongType("profile", "sampleRate", v, numberTypes)
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
		s.filter, s.spec = nil, nil
	case value.KindDocument:
		spec := v.Doc().Clone()
		m, err := match.Compile(spec, match.Options{})
		if err != nil {
			return s, err
		}
		s.filter, s.spec = m, spec
	default:
		return s, wrongType("profile", "filter", v, "string, object")
	}
	return s, nil
}

// createProfile makes the capped collection for the entries.
func (c *Call) createProfile() error {
	ns := storage.Namespace{DB: c.DB, Coll: "system.profile"}
	err := c.svc.engine.Update(c.ctx, func(tx storage.Tx) error {
		_, err := tx.Collection(ns)
		if !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		_, err = tx.Create(ns, value.NewDoc("capped", value.Bool(true), "size", value.Int(profileBytes)), nil)
		return err
	})
	return translate(ns, err)
}
