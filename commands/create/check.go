package create

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// MaxCappedBytes is the greatest size of a capped collection: 1 PB. maxCappedDocs is
// the greatest number of documents, and stands for "no limit", too.
const (
	MaxCappedBytes = 1 << 50
	maxCappedDocs  = 1<<31 - 1
)

// check refuses combinations of options that exclude each other, in mongod's
// order.
func (a *Args) check() error {
	if err := CheckCappedLimits("size", a.Size, 1, "max", a.Max); err != nil {
		return err
	}
	if err := a.checkCapped(); err != nil {
		return err
	}
	switch {
	case bool(a.Temp):
		return mongoerr.New(mongoerr.InvalidOptions, "the 'temp' field is an invalid option")
	case a.Pipeline != nil && a.ViewOn == nil:
		return mongoerr.New(mongoerr.InvalidOptions, "'pipeline' requires 'viewOn' to also be specified")
	case a.IDIndex == nil:
		return nil
	case a.ViewOn != nil:
		return mongoerr.Newf(mongoerr.InvalidOptions, "'idIndex' is not allowed with 'viewOn': %s", a.IDIndex)
	case !a.ClusteredIndex.IsMissing():
		return mongoerr.New(mongoerr.InvalidOptions, "The 'clusteredIndex' option is not supported with the 'idIndex' option")
	case a.AutoIndexID != nil && *a.AutoIndexID:
		return mongoerr.Newf(mongoerr.InvalidOptions, "'idIndex' is not allowed with 'autoIndexId': %s", a.IDIndex)
	}
	return nil
}

// refuseEncrypted says why there can be no encrypted collection: what mongod says
// first, and otherwise that this server has none.
func (a *Args) refuseEncrypted(c *kernel.Call) error {
	switch {
	case bool(a.Capped):
		return mongoerr.New(6367301, "Encrypted fields cannot be used with capped collections")
	case a.ViewOn != nil || !a.TimeSeries.IsMissing():
		return mongoerr.New(6346401, "Encrypted fields cannot be used with views or timeseries collections")
	case !c.Svc.Replicated():
		return mongoerr.New(6346402, "Encrypted collections are not supported on standalone")
	}
	return mongoerr.New(mongoerr.InvalidOptions, "encryptedFields is not supported")
}

// checkCapped checks the limits of a capped collection against what else the
// collection is to be.
func (a *Args) checkCapped() error {
	clustered := !a.ClusteredIndex.IsMissing()
	switch {
	case clustered && a.Size != nil:
		return mongoerr.New(6049200, "'size' field for capped collections is not allowed on clustered collections. Did you mean 'capped: true' with 'expireAfterSeconds'?")
	case clustered && a.Max != nil:
		return mongoerr.New(6049204, "'max' field for capped collections is not allowed on clustered collections. Did you mean 'capped: true' with 'expireAfterSeconds'?")
	case clustered && bool(a.Capped):
		return mongoerr.New(6127800, "Clustered capped collection only available with 'enableTestCommands' server parameter")
	case bool(a.Capped) && a.Size == nil:
		return mongoerr.New(mongoerr.InvalidOptions, "the 'size' field is required when 'capped' is true")
	case !bool(a.Capped) && (a.Size != nil || a.Max != nil):
		return mongoerr.New(mongoerr.InvalidOptions, "the 'capped' field needs to be true when either the 'size' or 'max' fields are present")
	}
	return nil
}

// CheckCappedLimits checks the limits of a capped collection. The fields have
// other names in create than in collMod, which give theirs; least is the smallest
// size in bytes.
func CheckCappedLimits(size string, bytes *int64, least int64, limit string, docs *int64) error {
	switch {
	case bytes != nil && *bytes < least:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be >= %d, actual value '%d'", size, least, *bytes)
	case bytes != nil && *bytes > MaxCappedBytes:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be <= %d, actual value '%d'", size, MaxCappedBytes, *bytes)
	case docs != nil && *docs > maxCappedDocs:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be < %d, actual value '%d'", limit, maxCappedDocs+1, *docs)
	}
	return nil
}

// CappedDocs returns the greatest number of documents as it is stored. Zero and
// negative numbers mean no limit.
func CappedDocs(n int64) value.Value {
	if n <= 0 {
		n = maxCappedDocs
	}
	return value.Int(n)
}

func (a *Args) setCapped(o *catalog.Options) {
	if !a.Capped {
		return
	}
	o.Set("capped", value.Bool(true))
	o.Set("size", value.Int(*a.Size))
	if a.Max != nil {
		o.Set("max", CappedDocs(*a.Max))
	}
}

// planIDIndex plans the index on _id as the arguments specify it.
func (a *Args) planIDIndex(ns storage.Namespace) (storage.IndexSpec, error) {
	if a.AutoIndexID != nil && !*a.AutoIndexID && ns.DB != "local" {
		return storage.IndexSpec{}, mongoerr.New(mongoerr.InvalidOptions, "autoIndexId is not allowed on collections outside the local database")
	}
	col, err := a.collation()
	if err != nil {
		return storage.IndexSpec{}, err
	}
	inherited := value.Doc(nil)
	if col != nil {
		inherited = col.Doc()
	}
	if a.IDIndex == nil {
		return index.IDSpec(inherited).Stored(), nil
	}
	if err := checkIDIndexName(a.IDIndex); err != nil {
		return storage.IndexSpec{}, err
	}
	if v, ok := a.IDIndex.Get("collation"); ok {
		wanted, err := collation.Parse(v.Doc())
		if err != nil {
			return storage.IndexSpec{}, err
		}
		if (wanted == nil) != (col == nil) || wanted != nil && wanted.Doc().String() != inherited.String() {
			return storage.IndexSpec{}, mongoerr.New(mongoerr.BadValue, "'idIndex' must have the same collation as the collection.")
		}
	}
	own := catalog.NewOptions(a.IDIndex)
	if key := a.IDIndex.Lookup("key").Doc(); key.Len() == 1 && key.Has("_id") {
		own.Set("name", value.String(reserved.IDIndex))
	}
	spec, err := index.Parse(own.Doc(), index.ParseOptions{Collation: inherited})
	if err != nil {
		return storage.IndexSpec{}, err
	}
	if !spec.IsID() {
		return storage.IndexSpec{}, mongoerr.Newf(mongoerr.BadValue, "The field 'key' for an _id index must be {_id: 1}, but got %s", spec.Key)
	}
	return spec.Stored(), nil
}

// checkIDIndexName checks that the specification of the index on _id has a name. The
// index is called _id_ nevertheless.
func checkIDIndexName(spec value.Doc) error {
	v, given := spec.Get("name")
	switch {
	case !given:
		return mongoerr.New(mongoerr.FailedToParse, "The 'name' field is a required property of an index specification")
	case v.Kind() != value.KindString:
		return mongoerr.Newf(mongoerr.TypeMismatch, "The field 'name' must be a string, but got %s", v.Kind())
	case v.Str() == "":
		return mongoerr.New(mongoerr.CannotCreateIndex, "index name cannot be empty")
	}
	return nil
}

// checkIndexDefaults checks {storageEngine: {engine: {…}}}. The options have no effect.
func checkIndexDefaults(d value.Doc) error {
	for name, v := range d.All() {
		switch {
		case name != "storageEngine":
			return mongoerr.UnknownField("create.indexOptionDefaults." + name)
		case v.Kind() != value.KindDocument:
			return args.WrongType("create.indexOptionDefaults", name, v, "object")
		case v.Doc().IsEmpty():
			return mongoerr.New(mongoerr.InvalidOptions, "Empty object not allowed for 'indexOptionDefaults.storageEngine'")
		}
		if err := gate.CheckStorageEngine(v.Doc()); err != nil {
			return err
		}
	}
	return nil
}
