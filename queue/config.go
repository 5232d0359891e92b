package queue

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The options of create and collMod that make a collection one of the kinds.
const (
	Option             = "messageQueue"
	TopicOption        = "messageTopic"
	SubscriptionOption = "messageSubscription"
)

// Kind is what a collection of messages is.
type Kind uint8

// The kinds. Their values are bits, for the kinds that have a property.
const (
	Queue        Kind = 1 << iota // messages of its own, for receivers
	Topic                         // hands each message to its subscriptions, and keeps scheduled ones
	Subscription                  // a queue that gets the messages of a topic which its rules select
)

// kinds are the options of the kinds, and what messages call them.
var kinds = []struct {
	kind         Kind
	option, text string
}{
	{Queue, Option, "message queue"},
	{Topic, TopicOption, "message topic"},
	{Subscription, SubscriptionOption, "message subscription"},
}

// Option is the option that makes a collection one of the kind.
func (k Kind) Option() string {
	for _, o := range kinds {
		if o.kind == k {
			return o.option
		}
	}
	return ""
}

// String is how messages call the kind.
func (k Kind) String() string {
	for _, o := range kinds {
		if o.kind == k {
			return o.text
		}
	}
	return "collection"
}

// KindOf reads what the options of a collection make it, and that option; 0 for a
// collection that is not for messages.
func KindOf(options value.Doc) (Kind, value.Doc) {
	if options == nil {
		return 0, nil
	}
	for _, o := range kinds {
		if v := options.Lookup(o.option); v.Kind() == value.KindDocument {
			return o.kind, v.Doc()
		}
	}
	return 0, nil
}

// Given returns which of the options of the kinds a command has, and its value; 0: none.
func Given(queue, topic, subscription value.Value) (Kind, value.Value) {
	for i, v := range []value.Value{queue, topic, subscription} {
		if !v.IsMissing() {
			return kinds[i].kind, v
		}
	}
	return 0, value.Value{}
}

// deadLetterOf is the only field of the option of a dead-letter queue: the
// name of the queue it belongs to.
const deadLetterOf = "deadLetterOf"

// Config is the configuration of a queue, topic or subscription. Durations are in
// milliseconds.
type Config struct {
	Kind                Kind
	Topic               string // the topic of a subscription
	DefaultTimeToLive   int64
	DeadLetterOnExpiry  bool
	DeadLetterOnFilter  bool // whether a message goes there on which a rule fails
	ExpireOnReceiveOnly bool // whether sweeps leave expired messages alone
	LockDuration        int64
	MaxDeliveryCount    int32
	RequiresSession     bool
	DetectDuplicates    bool
	HistoryWindow       int64 // how long the ids of messages are kept to find duplicates
	ForwardTo           string
	ForwardDeadTo       string // the queue or topic that gets the dead letters
	AutoDeleteOnIdle    int64
	Rules               Rules
}

// defaults is a Config without any option.
var defaults = Config{
	DefaultTimeToLive:  Unlimited,
	DeadLetterOnFilter: true,
	LockDuration:       millisPerMinute,
	MaxDeliveryCount:   10,
	HistoryWindow:      10 * millisPerMinute,
	AutoDeleteOnIdle:   Unlimited,
}

// The bounds of Service Bus.
const (
	maxLockDuration     = 5 * millisPerMinute
	minAutoDeleteOnIdle = 5 * millisPerMinute
	minHistoryWindow    = 20 * 1000
	maxHistoryWindow    = 7 * 24 * 60 * millisPerMinute
)

// unsupported are properties of Service Bus that this server does not have.
var unsupported = map[string]bool{
	"enablePartitioning": true, "enableExpress": true, "enableBatchedOperations": true, "maxSizeInMegabytes": true,
	"maxMessageSizeInKilobytes": true, "supportOrdering": true, "status": true, "userMetadata": true,
	"filteringMessagesBeforePublishing": true, "isAnonymousAccessible": true, "authorizationRules": true,
	"enableSubscriptionPartitioning": true, "isClientAffine": true, "clientAffineProperties": true,
}

// ParseConfig reads the option of create that makes a collection one of a kind. command
// names the command in messages.
func ParseConfig(command string, kind Kind, v value.Value) (Config, error) {
	c := defaults
	c.Kind = kind
	if kind == Subscription {
		c.Rules = defaultRules
	}
	err := c.parse(command, v, true)
	if err == nil && kind == Subscription && c.Topic == "" {
		err = mongoerr.Newf(mongoerr.IDLFailedToParse, "BSON field '%s.%s.topic' is missing but a required field", command, kind.Option())
	}
	return c, err
}

// parse changes the properties that the option names. Without fresh, those that cannot
// change later must be what they are.
func (c *Config) parse(command string, v value.Value, fresh bool) error {
	option := c.Kind.Option()
	if v.Kind() != value.KindDocument {
		return errType(command+"."+option, v, "type 'object'")
	}
	seen, before := map[string]bool{}, *c
	for it := v.Doc().Iter(); it.Next(); {
		name := command + "." + option + "." + it.Key()
		p := findProperty(it.Key())
		switch {
		case unsupported[it.Key()]:
			return mongoerr.Newf(mongoerr.InvalidOptions, "The %s property '%s' is not supported", c.Kind, it.Key())
		case it.Key() == deadLetterOf:
			return mongoerr.Newf(mongoerr.InvalidOptions, "A dead-letter queue comes into being with its queue and cannot be created; a dump with queues is restored by 'duskdb import'")
		case p != nil && p.kinds&c.Kind == 0:
			return mongoerr.Newf(mongoerr.InvalidOptions, "A %s does not have the property '%s'", c.Kind, it.Key())
		case p == nil:
			return mongoerr.UnknownField(name)
		case seen[it.Key()]:
			return mongoerr.DuplicateField(name)
		}
		seen[it.Key()] = true
		if err := p.set(c, name, it.Value()); err != nil {
			return err
		}
		if p.fixed && !fresh && !value.Equal(p.show(c), p.show(&before)) {
			return mongoerr.Newf(mongoerr.InvalidOptions, "The %s property '%s' cannot be changed", c.Kind, it.Key())
		}
	}
	return c.check()
}

// check refuses properties that exclude each other, as Service Bus does.
func (c *Config) check() error {
	if c.RequiresSession && c.ForwardTo != "" {
		return mongoerr.Newf(mongoerr.InvalidOptions, "'forwardTo' is not allowed with 'requiresSession'")
	}
	return nil
}

// Doc returns the complete option as it is stored and listed.
func (c *Config) Doc() value.Doc {
	b := value.NewBuilder()
	for i := range properties {
		p := &properties[i]
		if p.kinds&c.Kind != 0 && (p.shown == nil || p.shown(c)) {
			b.Append(p.name, p.show(c))
		}
	}
	return b.Doc()
}

// idle reports whether the queue is deleted when it is idle. One that forwards is never idle.
func (c *Config) idle() bool { return c.AutoDeleteOnIdle < Unlimited && c.ForwardTo == "" }

// IsQueue reports whether the options of a collection make it one for messages: a queue, a
// topic, a subscription, or the dead-letter queue of one.
func IsQueue(options value.Doc) bool {
	kind, _ := KindOf(options)
	return kind != 0
}

// DeadLetterOf returns the name of the queue that a dead-letter queue with
// these options belongs to, or "" for other collections.
func DeadLetterOf(options value.Doc) string {
	kind, option := KindOf(options)
	if kind != Queue {
		return ""
	}
	return option.Lookup(deadLetterOf).Str()
}

// configOf parses the options of a queue, once for each version of them.
func (q *runtimeState) configOf(info *storage.Info) (*Config, error) {
	if c := q.config.Load(); c != nil && c.version == info.Version {
		return &c.Config, nil
	}
	kind, option := KindOf(info.Options)
	parsed, err := ParseConfig("options", kind, value.Document(option))
	if err != nil {
		return nil, err
	}
	c := &cachedConfig{info.Version, parsed}
	q.config.Store(c)
	return &c.Config, nil
}

// The longest names, in bytes.
const (
	maxIDLength   = 128 // of a session, a message or a rule, as in Service Bus
	maxNameLength = 255 // of a queue or topic that is forwarded to
)
