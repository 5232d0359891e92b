package create

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// planSpecial plans a clustered collection, a time series or a queue. It returns nil for
// an ordinary collection.
func planSpecial(c *kernel.Call, ns storage.Namespace, a *Args) (*Plan, error) {
	if kind, option := queue.Given(a.MessageQueue, a.MessageTopic, a.Subscription); kind != 0 {
		return planQueue(c, ns, a, kind, option)
	}
	switch {
	case !a.TimeSeries.IsMissing():
		return planTimeSeries(c, ns, a)
	case !a.ClusteredIndex.IsMissing():
		return planClustered(c, ns, a)
	case !a.ExpireAfter.IsMissing():
		return nil, errExpireAfterOption()
	}
	return nil, nil
}

func errExpireAfterOption() error {
	return mongoerr.New(mongoerr.InvalidOptions, "'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified")
}

// planClustered plans a collection ordered by _id (semantics.md §5).
func planClustered(c *kernel.Call, ns storage.Namespace, a *Args) (*Plan, error) {
	v := a.ClusteredIndex
	if v.Kind() != value.KindDocument {
		if !v.IsNumber() && v.Kind() != value.KindBool {
			return nil, args.WrongType("create", "clusteredIndex", v, "bool, object")
		}
		if !a.ExpireAfter.IsMissing() && !v.Truthy() {
			return nil, errExpireAfterOption()
		}
		if v.Truthy() {
			return nil, mongoerr.New(5979703, "The 'clusteredIndex' legacy format {clusteredIndex: <bool>} is only supported for specific internal collections and vice versa")
		}
		return nil, nil
	}
	if a.AutoIndexID != nil && !*a.AutoIndexID {
		return nil, mongoerr.New(6026501, "The 'clusteredIndex' option does not support {autoIndexId: false}")
	}
	spec, err := catalog.ParseClustered(v.Doc())
	if err != nil {
		return nil, err
	}
	options, err := planOptions(c, a)
	if err != nil {
		return nil, err
	}
	var b value.Builder
	b.Reset(nil)
	b.Document("clusteredIndex", spec)
	if !a.ExpireAfter.IsMissing() {
		seconds, err := ttl.ParseCollectionSeconds(a.ExpireAfter, c.Now)
		if err != nil {
			return nil, err
		}
		b.Int64("expireAfterSeconds", seconds)
	}
	it := options.Iter()
	b.Raw(it.Rest())
	id := value.NewDoc("v", value.Int32(2), "key", spec.Lookup("key"), "name", spec.Lookup("name"), "unique", value.Bool(true), "clustered", value.Bool(true))
	col, err := a.collation()
	if err != nil {
		return nil, err
	}
	if col != nil { // it decides the order and equality of _ids
		o := catalog.NewOptions(id)
		o.Set("collation", value.Document(col.Doc()))
		id = o.Doc()
	}
	return &Plan{Parts: []Part{{NS: ns, Options: b.Doc(), Indexes: []storage.IndexSpec{{Name: reserved.IDIndex, Spec: id}}}}}, nil
}

// isClusterKey reports whether a key pattern is {_id: 1}, the only one that a
// collection can be clustered by.
func isClusterKey(key value.Doc) bool {
	name, v := key.First()
	return key.Len() == 1 && name == "_id" && v.IsNumber() && v.AsDouble() == 1
}

// CheckIndexAllowed refuses an index that this kind of collection cannot have.
func CheckIndexAllowed(c *kernel.Call, info *storage.Info, spec value.Doc) error {
	if err := queue.CheckIndex(info, spec); err != nil {
		return err
	}
	if catalog.IsSystem(info.Namespace.Coll) && !reserved.IsBuckets(info.Namespace.Coll) && spec.Lookup("hidden").Truthy() {
		return mongoerr.New(mongoerr.BadValue, "Can't hide index on system collection")
	}
	if spec.Lookup("clustered").Truthy() && (catalog.Of(info).Clustered == nil || !isClusterKey(spec.Lookup("key").Doc())) {
		return mongoerr.New(6243700, "Cannot create index with option 'clustered' that does not match an existing clustered index")
	}
	if err := ttl.LoadIndexingMode(info.Options).CheckCreateIndex(); err != nil {
		return err
	}
	return ttl.CheckTTLIndex(info.Namespace, info.Options, spec)
}
