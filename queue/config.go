package queue

import (
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Option is the name of the collection option.
const Option = "messageQueue"

// deadLetterOf is the only field of the option of a dead-letter queue: the
// name of the queue it belongs to.
const deadLetterOf = "deadLetterOf"

// Config is the configuration of a queue. Durations are in milliseconds.
type Config struct {
	DefaultTimeToLive  int64
	DeadLetterOnExpiry bool
	LockDuration       int64
	MaxDeliveryCount   int32
	AutoDeleteOnIdle   int64
}

// defaults is a Config without any option.
var defaults = Config{
	DefaultTimeToLive: Unlimited,
	LockDuration:      millisPerMinute,
	MaxDeliveryCount:  10,
	AutoDeleteOnIdle:  Unlimited,
}

// The bounds of Service Bus.
const (
	maxLockDuration     = 5 * millisPerMinute
	minAutoDeleteOnIdle = 5 * millisPerMinute
)

// property is one field of the option.
type property struct {
	name string
	set  func(c *Config, name string, v value.Value) error
	show func(c *Config) value.Value
}

// properties are the fields of the option in the order they are listed.
var properties = []property{
	{"defaultMessageTimeToLive",
		durationProperty(func(c *Config) *int64 { return &c.DefaultTimeToLive }, 1, Unlimited),
		func(c *Config) value.Value { return value.String(formatDuration(c.DefaultTimeToLive)) }},
	{"deadLetteringOnMessageExpiration", setDeadLettering,
		func(c *Config) value.Value { return value.Bool(c.DeadLetterOnExpiry) }},
	{"lockDuration",
		durationProperty(func(c *Config) *int64 { return &c.LockDuration }, 1, maxLockDuration),
		func(c *Config) value.Value { return value.String(formatDuration(c.LockDuration)) }},
	{"maxDeliveryCount", setMaxDeliveryCount,
		func(c *Config) value.Value { return value.Int32(c.MaxDeliveryCount) }},
	{"autoDeleteOnIdle",
		durationProperty(func(c *Config) *int64 { return &c.AutoDeleteOnIdle }, minAutoDeleteOnIdle, Unlimited),
		func(c *Config) value.Value { return value.String(formatDuration(c.AutoDeleteOnIdle)) }},
}

// unsupported are properties of Service Bus that this server does not have.
var unsupported = map[string]bool{
	"requiresSession": true, "requiresDuplicateDetection": true, "duplicateDetectionHistoryTimeWindow": true,
	"forwardTo": true, "forwardDeadLetteredMessagesTo": true, "enablePartitioning": true, "enableExpress": true,
	"enableBatchedOperations": true, "maxSizeInMegabytes": true, "maxMessageSizeInKilobytes": true,
	"subscriptions": true, "topic": true, "rules": true,
}

// ParseConfig reads the option of create. command names the command in
// messages.
func ParseConfig(command string, v value.Value) (Config, error) {
	c := defaults
	err := c.parse(command, v)
	return c, err
}

// parse changes the properties that the option names.
func (c *Config) parse(command string, v value.Value) error {
	if v.Kind() != value.KindDocument {
		return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type 'object'", command, Option, v.Kind())
	}
	seen := map[string]bool{}
	for it := v.Doc().Iter(); it.Next(); {
		name := command + "." + Option + "." + it.Key()
		p := findProperty(it.Key())
		switch {
		case unsupported[it.Key()]:
			return mongoerr.Newf(mongoerr.InvalidOptions, "The message queue property '%s' is not supported", it.Key())
		case it.Key() == deadLetterOf:
			return mongoerr.Newf(mongoerr.InvalidOptions, "A dead-letter queue comes into being with its queue and cannot be created; a dump with queues is restored by 'duskdb import'")
		case p == nil:
			return mongoerr.UnknownField(name)
		case seen[it.Key()]:
			return mongoerr.DuplicateField(name)
		}
		seen[it.Key()] = true
		if err := p.set(c, name, it.Value()); err != nil {
			return err
		}
	}
	return nil
}

func findProperty(name string) *property {
	for i := range properties {
		if properties[i].name == name {
			return &properties[i]
		}
	}
	return nil
}

func durationProperty(field func(*Config) *int64, lo, hi int64) func(*Config, string, value.Value) error {
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
	}
	return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must be greater than zero and at most %s, found %s", name, formatDuration(hi), v)
}

func setDeadLettering(c *Config, name string, v value.Value) error {
	if v.Kind() != value.KindBool {
		return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected type 'bool'", name, v.Kind())
	}
	c.DeadLetterOnExpiry = v.Bool()
	return nil
}

func setMaxDeliveryCount(c *Config, name string, v value.Value) error {
	if !v.IsNumber() {
		return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected types '[long, int, decimal, double]'", name, v.Kind())
	}
	n, ok := v.AsInt64()
	if !ok || n < 1 || n > math.MaxInt32 {
		return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must be an integer of at least 1, found %s", name, v)
	}
	c.MaxDeliveryCount = int32(n)
	return nil
}

// Doc returns the complete option as it is stored and listed.
func (c *Config) Doc() value.Doc {
	b := value.NewBuilder()
	for i := range properties {
		b.Append(properties[i].name, properties[i].show(c))
	}
	return b.Doc()
}

// idle reports whether the queue is deleted when it is idle.
func (c *Config) idle() bool { return c.AutoDeleteOnIdle < Unlimited }

// IsQueue reports whether the options of a collection make it a message queue
// or a dead-letter queue.
func IsQueue(options value.Doc) bool {
	return options != nil && options.Lookup(Option).Kind() == value.KindDocument
}

// DeadLetterOf returns the name of the queue that a dead-letter queue with
// these options belongs to, or "" for other collections.
func DeadLetterOf(options value.Doc) string {
	if !IsQueue(options) {
		return ""
	}
	return options.Lookup(Option).Doc().Lookup(deadLetterOf).Str()
}
