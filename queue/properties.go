package queue

import (
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// property is one field of the options.
type property struct {
	name  string
	kinds Kind // the kinds that have it
	fixed bool // whether it is set when the collection is created and not changed later
	set   func(c *Config, name string, v value.Value) error
	show  func(c *Config) value.Value
	shown func(c *Config) bool // whether it is listed; nil: always
}

// properties are the fields of the options in the order they are listed.
var properties = []property{
	{name: "topic", kinds: Subscription, fixed: true,
		set: setName(func(c *Config) *string { return &c.Topic }), show: func(c *Config) value.Value { return value.String(c.Topic) }},
	{name: "defaultMessageTimeToLive", kinds: Queue | Topic | Subscription,
		set:  setDuration(func(c *Config) *int64 { return &c.DefaultTimeToLive }, 1, Unlimited),
		show: func(c *Config) value.Value { return value.String(formatDuration(c.DefaultTimeToLive)) }},
	flag("deadLetteringOnMessageExpiration", Queue|Subscription, func(c *Config) *bool { return &c.DeadLetterOnExpiry }),
	flag("deadLetteringOnFilterEvaluationExceptions", Subscription, func(c *Config) *bool { return &c.DeadLetterOnFilter }),
	{name: "lockDuration", kinds: Queue | Subscription,
		set:  setDuration(func(c *Config) *int64 { return &c.LockDuration }, 1, maxLockDuration),
		show: func(c *Config) value.Value { return value.String(formatDuration(c.LockDuration)) }},
	{name: "maxDeliveryCount", kinds: Queue | Subscription, set: setMaxDeliveryCount,
		show: func(c *Config) value.Value { return value.Int32(c.MaxDeliveryCount) }},
	{name: "autoDeleteOnIdle", kinds: Queue | Topic | Subscription,
		set:  setDuration(func(c *Config) *int64 { return &c.AutoDeleteOnIdle }, minAutoDeleteOnIdle, Unlimited),
		show: func(c *Config) value.Value { return value.String(formatDuration(c.AutoDeleteOnIdle)) }},
	flag("requiresSession", Queue|Subscription, func(c *Config) *bool { return &c.RequiresSession }).fixedOnce(),
	flag("requiresDuplicateDetection", Queue|Topic, func(c *Config) *bool { return &c.DetectDuplicates }).fixedOnce(),
	{name: "duplicateDetectionHistoryTimeWindow", kinds: Queue | Topic,
		set:   setDuration(func(c *Config) *int64 { return &c.HistoryWindow }, minHistoryWindow, maxHistoryWindow),
		show:  func(c *Config) value.Value { return value.String(formatDuration(c.HistoryWindow)) },
		shown: func(c *Config) bool { return c.DetectDuplicates || c.HistoryWindow != defaults.HistoryWindow }},
	forward("forwardTo", func(c *Config) *string { return &c.ForwardTo }),
	forward("forwardDeadLetteredMessagesTo", func(c *Config) *string { return &c.ForwardDeadTo }),
	flag("expireOnReceiveOnly", Queue|Subscription, func(c *Config) *bool { return &c.ExpireOnReceiveOnly }).listedIfTrue(),
	{name: "rules", kinds: Subscription,
		set: func(c *Config, name string, v value.Value) (err error) {
			c.Rules, err = parseRules(name, v)
			return err
		},
		show: func(c *Config) value.Value { return value.Array(c.Rules.doc) }},
}

func findProperty(name string) *property {
	for i := range properties {
		if properties[i].name == name {
			return &properties[i]
		}
	}
	return nil
}

// errType refuses a value of the wrong type. expected names the right one as "type 'T'", or
// several as "types '[T, …]'".
func errType(name string, v value.Value, expected string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected %s", name, v.Kind(), expected)
}

// flag is a property that is true or false.
func flag(name string, of Kind, field func(*Config) *bool) property {
	set := func(c *Config, name string, v value.Value) error {
		if v.Kind() != value.KindBool {
			return errType(name, v, "type 'bool'")
		}
		*field(c) = v.Bool()
		return nil
	}
	return property{name: name, kinds: of, set: set, show: func(c *Config) value.Value { return value.Bool(*field(c)) }}
}

// listedIfTrue leaves a flag that is not set out of lists.
func (p property) listedIfTrue() property {
	show := p.show
	p.shown = func(c *Config) bool { return show(c).Bool() }
	return p
}

// fixedOnce makes a flag one that is never changed.
func (p property) fixedOnce() property {
	p.fixed = true
	return p.listedIfTrue()
}

// forward is a property that names another queue or a topic, or nothing: null or "".
func forward(name string, field func(*Config) *string) property {
	set := setName(field)
	return property{name: name, kinds: Queue | Subscription,
		set: func(c *Config, name string, v value.Value) error {
			if v.Kind() == value.KindNull || v.Kind() == value.KindString && v.Str() == "" {
				*field(c) = ""
				return nil
			}
			return set(c, name, v)
		},
		show:  func(c *Config) value.Value { return value.String(*field(c)) },
		shown: func(c *Config) bool { return *field(c) != "" },
	}
}

// setName sets a property to the name of a collection.
func setName(field func(*Config) *string) func(*Config, string, value.Value) error {
	return func(c *Config, name string, v value.Value) error {
		if v.Kind() != value.KindString {
			return errType(name, v, "type 'string'")
		}
		if n := len(v.Str()); n == 0 || n > maxNameLength {
			return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must be a name of 1 to %d bytes, found %d", name, maxNameLength, n)
		}
		*field(c) = string([]byte(v.Str()))
		return nil
	}
}

func setDuration(field func(*Config) *int64, lo, hi int64) func(*Config, string, value.Value) error {
	return func(c *Config, name string, v value.Value) error {
		ms, err := parseDuration(name, v)
		if err != nil {
			return err
		}
		if ms < lo || ms > hi {
			return outOfRange(name, v, lo, hi)
		}
		*field(c) = ms
		return nil
	}
}

func outOfRange(name string, v value.Value, lo, hi int64) error {
	switch {
	case lo == 1 && hi == Unlimited:
		return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must be greater than zero, found %s", name, v)
	case hi == Unlimited:
		return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must be at least %s, found %s", name, formatDuration(lo), v)
	case lo > 1:
		return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must be from %s to %s, found %s", name, formatDuration(lo), formatDuration(hi), v)
	}
	return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must be greater than zero and at most %s, found %s", name, formatDuration(hi), v)
}

func setMaxDeliveryCount(c *Config, name string, v value.Value) error {
	if !v.IsNumber() {
		return errType(name, v, "types '[long, int, decimal, double]'")
	}
	n, ok := v.AsInt64()
	if !ok || n < 1 || n > math.MaxInt32 {
		return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must be an integer of at least 1, found %s", name, v)
	}
	c.MaxDeliveryCount = int32(n)
	return nil
}
