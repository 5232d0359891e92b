package ddl

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// The changes of collMod to the options of a collection.

// modifyOptions changes the collection's own options.
func (m *collMod) modifyOptions() error {
	a, o := m.args, catalog.NewOptions(m.info.Options)
	v := create.Validation{Validator: a.Validator, Level: a.Level, Action: a.Action}
	if err := v.Set(m.c, o, m.info.Namespace.Coll, m.meta.Collation); err != nil {
		return err
	}
	if a.Validator != nil && a.Validator.IsEmpty() {
		o.Set("validator", value.Value{})
	}
	if err := create.SetPreImages(o, a.PreAndPost); err != nil {
		return err
	}
	if err := m.setCapped(o); err != nil {
		return err
	}
	if err := m.setExpiry(o); err != nil {
		return err
	}
	if !o.Changed {
		return nil
	}
	return m.tx.SetOptions(m.info.Namespace, o.Doc())
}

func (m *collMod) setCapped(o *catalog.Options) error {
	a := m.args
	if a.CappedSize == nil && a.CappedMax == nil || m.meta.Kind == catalog.TimeSeries { // where they are ignored
		return nil
	}
	if m.info.Namespace == oplog.Namespace {
		return mongoerr.New(mongoerr.InvalidOptions, "Cannot resize the oplog using this command. Use the 'replSetResizeOplog' command instead.")
	}
	if !m.meta.Capped {
		return mongoerr.New(mongoerr.InvalidOptions, "Collection must be capped.")
	}
	if err := create.CheckCappedLimits("cappedSize", a.CappedSize, 1, "cappedMax", a.CappedMax); err != nil {
		return err
	}
	if a.CappedSize != nil {
		o.Set("size", value.Int(*a.CappedSize))
	}
	if a.CappedMax != nil {
		o.Set("max", create.CappedDocs(*a.CappedMax))
	}
	return nil
}

// setExpiry changes the expireAfterSeconds of a clustered or time-series
// collection (semantics.md §5, §6).
func (m *collMod) setExpiry(o *catalog.Options) error {
	v := m.args.ExpireAfter
	if v.IsMissing() {
		return nil
	}
	if m.meta.Clustered == nil && m.meta.Kind != catalog.TimeSeries {
		return mongoerr.New(mongoerr.InvalidOptions, "'expireAfterSeconds' option is only supported on collections clustered by _id")
	}
	switch {
	case v.Kind() == value.KindString:
		if v.Str() != "off" {
			return mongoerr.Newf(mongoerr.InvalidOptions, "Invalid string value for the 'clusteredIndex::expireAfterSeconds' option. Got: '%s'. Accepted value is 'off'", v.Str())
		}
		return m.storeExpiry(o, nil)
	case !v.IsNumber():
		return args.WrongType("collMod", "expireAfterSeconds", v, "string, long, int, decimal, double")
	}
	n, err := ttl.ParseCollModSeconds(v, m.c.Now)
	if err != nil {
		return err
	}
	return m.storeExpiry(o, &n)
}

// storeExpiry stores the new number of seconds, nil for off. A time series stores it
// twice: in its own options and in those of its buckets.
func (m *collMod) storeExpiry(o *catalog.Options, n *int64) error {
	if m.meta.Kind == catalog.TimeSeries {
		return m.setSeries(n)
	}
	if n == nil {
		o.Set("expireAfterSeconds", value.Value{})
	} else {
		o.Set("expireAfterSeconds", value.Int64(*n))
	}
	return nil
}
