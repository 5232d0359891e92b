package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/value"
)

// restored is a collection that is being restored.
type restored struct {
	d        *dump
	db, name string    // as clients see it: of a time series, not that of its buckets
	meta     value.Doc // {options: {...}, indexes: [...]}
}

// systemJS has the stored functions of a database. It cannot be created or dropped.
const systemJS = "system.js"

// Options that make a collection something else than a collection.
const (
	seriesOption = "timeseries"
	viewOption   = "viewOn"
	queueOption  = "messageQueue"

	topicOption        = "messageTopic"
	subscriptionOption = "messageSubscription"
)

// queueOptions are those of collections of messages.
var queueOptions = []string{queueOption, topicOption, subscriptionOption}

// forwarding are the properties of a queue that name others, which must exist.
var forwarding = map[string]bool{"forwardTo": true, "forwardDeadLetteredMessagesTo": true}

// defining are the options without which a collection is not what it was.
var defining = map[string]bool{
	seriesOption: true, viewOption: true, "pipeline": true, queueOption: true, topicOption: true, subscriptionOption: true, "clusteredIndex": true, "capped": true, "size": true,
}

// dropped are options of old servers, and what belongs to the other server.
var dropped = map[string]bool{"autoIndexId": true, "uuid": true}

func (c *restored) ns() string { return c.db + "." + c.name }

func (c *restored) option(name string) value.Value {
	return c.meta.Lookup("options").Doc().Lookup(name)
}

func (c *restored) isSeries() bool { return !c.option(seriesOption).IsMissing() }

func (c *restored) isView() bool { return !c.option(viewOption).IsMissing() }

func (c *restored) isQueue() bool { return c.queueOption() != "" }

// queueOption is the option that makes the collection one of messages; "" for others.
func (c *restored) queueOption() string {
	for _, name := range queueOptions {
		if !c.option(name).IsMissing() {
			return name
		}
	}
	return ""
}

// order compares two collections of a dump: topics come before their subscriptions, and
// queues before their dead letters.
func (c *restored) order(o *restored) int {
	return cmp.Or(c.rank()-o.rank(), strings.Compare(c.ns(), o.ns()))
}

func (c *restored) rank() int {
	switch {
	case c.deadLetterOf() != "":
		return 2
	case c.queueOption() == subscriptionOption:
		return 1
	}
	return 0
}

// unforwarded is the option of a queue without where it forwards to, which may not exist yet:
// the end of the restore sets that.
func (c *restored) unforwarded(name string, v value.Value) value.Value {
	later, now := value.NewBuilder(), value.NewBuilder()
	for field, v := range v.Doc().All() {
		if forwarding[field] {
			later.Append(field, v)
		} else {
			now.Append(field, v)
		}
	}
	if d := later.Doc(); !d.IsEmpty() {
		c.d.forwards = append(c.d.forwards, value.NewDoc("collMod", value.String(c.name), name, value.Document(d), "$db", value.String(c.db)))
	}
	return value.Document(now.Doc())
}

// deadLetterOf is the queue whose dead letters the collection has; "" for others.
func (c *restored) deadLetterOf() string {
	return c.option(queueOption).Doc().Lookup("deadLetterOf").Str()
}

// asSeries turns a collection of buckets, which the first dumps of time series have with
// metadata of its own, into its time series.
func (c *restored) asSeries() error {
	series, ok := reserved.Series(c.name)
	if !ok {
		return nil
	}
	if !c.isSeries() {
		return fmt.Errorf("%s: the dump has buckets, but no options of the time series %s: they are not restored", c.ns(), series)
	}
	options := value.NewBuilder()
	for name, v := range c.meta.Lookup("options").Doc().All() {
		if name == seriesOption || name == "expireAfterSeconds" || name == "storageEngine" {
			options.Append(name, v)
		}
	}
	c.name, c.meta = series, value.NewDoc("options", value.Document(options.Doc()))
	return nil
}

// create makes the collection with its options. One that is there is used, if it is of
// the same kind. A dead-letter queue comes with its queue.
func (c *restored) create() error {
	if c.meta.Lookup("type").Str() == seriesOption && !c.isSeries() {
		return fmt.Errorf("%s: its metadata say that it is a time series, but have no options of one", c.ns())
	}
	if c.deadLetterOf() != "" || c.name == systemJS {
		return nil
	}
	if c.d.Drop {
		drop := importer{ImportOptions: ImportOptions{Database: c.db, Collection: c.name}, to: c.d.to}
		if err := drop.drop(); err != nil {
			return err
		}
	}
	b := value.NewBuilder().String("create", c.name)
	for name, v := range c.meta.Lookup("options").Doc().All() {
		if name == c.queueOption() {
			v = c.unforwarded(name, v)
		}
		if !dropped[name] && (!c.d.NoOptions || defining[name]) {
			b.Append(name, v)
		}
	}
	_, err := c.d.to.Run(b.String("$db", c.db).Doc())
	const namespaceExists = 48
	var failed *CommandError
	if errors.As(err, &failed) && failed.Code == namespaceExists {
		return c.checkExisting()
	}
	return err
}

// checkExisting compares the kind of a collection that is there: documents of another
// kind would lie where no reader of the collection sees them.
func (c *restored) checkExisting() error {
	reply, err := c.d.to.Run(value.NewDoc("listCollections", value.Int32(1), "filter", value.Document(value.NewDoc("name", value.String(c.name))), "$db", value.String(c.db)))
	if err != nil {
		return err
	}
	there := restored{d: c.d, db: c.db, name: c.name, meta: reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc()}
	was, is := c.what(), there.what()
	if was != is {
		return fmt.Errorf("%s exists and is %s, but in the dump it is %s: drop or rename it, or restore with --drop", c.ns(), is, was)
	}
	return nil
}

// what describes the kind of the collection.
func (c *restored) what() string {
	switch {
	case c.isSeries():
		series := c.option(seriesOption).Doc()
		return fmt.Sprintf("a time series by '%s' and '%s'", series.Lookup("timeField").Str(), series.Lookup("metaField").Str())
	case c.isView():
		return "a view"
	case c.option(topicOption).Kind() == value.KindDocument:
		return "a message topic"
	case c.option(subscriptionOption).Kind() == value.KindDocument:
		return fmt.Sprintf("a subscription of the topic '%s'", c.option(subscriptionOption).Doc().Lookup("topic").Str())
	case c.isQueue():
		return "a message queue"
	}
	return "a collection"
}

// load inserts the documents.
func (c *restored) load(source Source) (Result, error) {
	o := ImportOptions{
		Database: c.db, Collection: c.name, StopOnError: c.d.StopOnError, OnError: c.failed,
		Extra: value.NewDoc("bypassEmptyTsReplacement", value.Bool(true)),
	}
	switch {
	case c.isView():
		if _, _, err := source.Next(); !errors.Is(err, io.EOF) {
			return Result{}, fmt.Errorf("%s is a view, but the dump has documents of it", c.ns())
		}
		return Result{}, nil
	case c.isSeries():
		o.Collection = reserved.Buckets(c.name)
	case c.name == systemJS && c.d.Drop:
		o.Mode, o.Extra = Upsert, nil
	case c.isQueue():
		o.Mode, o.Extra = restoreMessages, nil
		if owner := c.deadLetterOf(); owner != "" {
			o.Collection, o.Extra = owner, value.NewDoc("subQueue", value.String("deadLetter"))
		}
	}
	if c.d.BypassValidation && !c.isSeries() && !c.isQueue() {
		o.Extra = value.NewDoc("bypassEmptyTsReplacement", value.Bool(true), "bypassDocumentValidation", value.Bool(true))
	}
	return Import(c.d.to, source, o)
}

func (c *restored) failed(err error) {
	if c.d.OnError != nil {
		c.d.OnError(fmt.Errorf("%s: %w", c.ns(), err))
	}
}
