package ddl

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// The bounds of provisioned throughput.
const (
	defaultThroughput   = 400
	minThroughput       = 400
	unshardedThroughput = 10000 // more needs a shard key
	autoscaleShare      = 10    // an autoscaled collection has at least a tenth
)

// offersName is the collection with the offers of a database: one record for the
// database, and one for each collection with an offer. The _id of the latter is the UUID
// of the collection, which a rename does not change.
const offersName = "$cosmos"

// offerOfDatabase is the _id of the database's own offer.
var offerOfDatabase = value.String("database")

func offerOfCollection(uuid [16]byte) value.Value { return value.Binary(4, uuid[:]) }

// offer is what customAction records of a database or collection.
type offer struct {
	throughput int64  // 0: not given
	max        int64  // the maximum of autoscale; 0: not given
	shardKey   string // "": none
}

func (o offer) none() bool { return o.throughput == 0 && o.max == 0 }

// over returns o, with the fields that are not set in it taken from old.
func (o offer) over(old offer) offer {
	if !o.none() {
		old.throughput, old.max = o.throughput, o.max
	}
	return old
}

// readOffer reads offerThroughput and autoScaleSettings.
func (x *customCall) readOffer() (o offer, err error) {
	a := &x.args
	if a.Throughput != nil && a.AutoScale != nil {
		return o, mongoerr.New(mongoerr.BadValue, "only one of offerThroughput and autoScaleSettings may be given")
	}
	if a.Throughput != nil {
		o.throughput = *a.Throughput
		if o.throughput < minThroughput {
			return o, mongoerr.Newf(mongoerr.BadValue, "offerThroughput must be at least %d, not %d", minThroughput, o.throughput)
		}
	}
	for name, v := range a.AutoScale.All() {
		if name != "maxThroughput" {
			return o, mongoerr.UnknownField("customAction.autoScaleSettings." + name)
		}
		n, whole := v.AsInt64()
		if !v.IsNumber() {
			return o, args.WrongType("customAction.autoScaleSettings", name, v, args.NumberTypes)
		}
		if o.max = n; !whole || n < minThroughput*autoscaleShare/4 {
			return o, mongoerr.Newf(mongoerr.BadValue, "autoScaleSettings.maxThroughput must be at least %d, not %s", minThroughput*autoscaleShare/4, v)
		}
	}
	if a.AutoScale != nil && o.max == 0 {
		return o, mongoerr.MissingField("customAction.autoScaleSettings.maxThroughput")
	}
	return o, nil
}

// check refuses more throughput than one partition has if there is no shard key.
func (o offer) check() error {
	switch {
	case o.shardKey != "":
	case o.throughput > unshardedThroughput:
		return mongoerr.Newf(mongoerr.BadValue, "offerThroughput above %d needs a shardKey", unshardedThroughput)
	case o.max > unshardedThroughput:
		return mongoerr.Newf(mongoerr.BadValue, "autoScaleSettings.maxThroughput above %d needs a shardKey", unshardedThroughput)
	}
	return nil
}

// append writes the offer into a reply.
func (o offer) append(b *value.Builder) {
	switch {
	case o.max != 0:
		b.Append("provisionedThroughput", value.Int(o.max/autoscaleShare))
		b.StartDocument("autoScaleSettings").Append("maxThroughput", value.Int(o.max)).End()
	case o.throughput != 0:
		b.Append("provisionedThroughput", value.Int(o.throughput))
	}
}

func offersOf(db string) storage.Namespace { return storage.Namespace{DB: db, Coll: offersName} }

// readOffer reads a record; an empty offer if there is no record.
func readOffer(tx storage.Tx, db string, id value.Value) (offer, error) {
	d, err := serverdocs.Get(tx, offersOf(db), id)
	return offer{
		throughput: d.Lookup("offerThroughput").Int64(), max: d.Lookup("maxThroughput").Int64(), shardKey: d.Lookup("shardKey").Str(),
	}, err
}

// sharesThroughput reports whether collections of a database share its own
// throughput unless they are given one.
func sharesThroughput(tx storage.Tx, db string) (bool, error) {
	o, err := readOffer(tx, db, offerOfDatabase)
	return !o.none(), err
}

// store writes the record.
func (o offer) store(tx storage.Tx, db string, id value.Value, now int64) error {
	d := value.NewDoc("_id", id, "offerThroughput", value.Int64(o.throughput), "maxThroughput", value.Int64(o.max), "shardKey", value.String(o.shardKey))
	return serverdocs.Put(tx, offersOf(db), d, now)
}

// forgetOffer drops the record of a collection that is dropped.
func forgetOffer(tx storage.Tx, info *storage.Info) error {
	e, err := serverdocs.Find(tx, offersOf(info.Namespace.DB), offerOfCollection(info.UUID))
	if err != nil {
		return err
	}
	return e.DeleteAndDrop()
}

// databaseListed reports whether clients see a database: it has a collection that they
// can see, or customAction made it.
func databaseListed(tx storage.Tx, db string) (bool, error) {
	infos, err := tx.Collections(db)
	if err != nil {
		return false, err
	}
	for _, info := range infos {
		if !pipeline.HiddenCollection(info.Namespace) {
			return true, nil
		}
	}
	d, err := serverdocs.Get(tx, offersOf(db), offerOfDatabase)
	return d != nil, err
}
