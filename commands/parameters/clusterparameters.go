package parameters

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// clusterParameter is a parameter that setClusterParameter reaches.
type clusterParameter struct {
	Initial value.Doc
	Check   func(d value.Doc) error
	Since   dialect.Change // change with which it exists
}

// ClusterParameters lists the cluster parameters that a single server supports.
var ClusterParameters = map[string]clusterParameter{
	kernel.StreamOptions: {
		Initial: value.NewDoc("preAndPostImages", value.Document(value.NewDoc("expireAfterSeconds", value.String("off")))),
		Check:   checkStreamOptions,
	},
	"changeStreams": { // of servers without a server; here the log has a size
		Initial: value.NewDoc("expireAfterSeconds", value.Int64(3600)),
		Check:   checkStreamExpiry,
	},
	"pauseMigrationsDuringMultiUpdates": { // there are no migrations
		Initial: value.NewDoc("enabled", value.Bool(false)),
		Check:   checkSwitch("pauseMigrationsDuringMultiUpdates", "enabled"),
	},
	"fleDisableSubstringPreviewParameterLimits": { // there is no encryption whose limits it could lift
		Initial: value.NewDoc("shouldOverride", value.Bool(false)),
		Check:   checkSwitch("fleDisableSubstringPreviewParameterLimits", "shouldOverride"),
		Since:   dialect.SubstringPreview,
	},
	kernel.DefaultMaxTime: {
		Initial: value.NewDoc("readOperations", value.Int64(0)),
		Check:   checkDefaultMaxTime,
	},
}

func checkStreamExpiry(d value.Doc) error {
	switch v := d.Lookup("expireAfterSeconds"); {
	case v.IsMissing() || v.Kind() == value.KindNull:
	case !v.IsNumber():
		return args.WrongType("changeStreams", "expireAfterSeconds", v, args.NumberTypes)
	case v.SafeInt64() < 1:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field 'expireAfterSeconds' value must be > 0, actual value '%d'", v.SafeInt64())
	}
	return nil
}

// checkSwitch returns the check of a parameter with one field, a bool.
func checkSwitch(name, field string) func(d value.Doc) error {
	return func(d value.Doc) error {
		if v := d.Lookup(field); !v.IsNullish() && v.Kind() != value.KindBool {
			return args.WrongType(name, field, v, "bool")
		}
		return nil
	}
}

// ClusterParameter finds a parameter that exists in a version of MongoDB.
func ClusterParameter(d dialect.Dialect, name string) (p clusterParameter, ok bool) {
	p, ok = ClusterParameters[name]
	return p, ok && d.Has(p.Since)
}

func checkStreamOptions(d value.Doc) error {
	const path, missing = "BSON field 'changeStreamOptions.", " is missing but a required field"
	unread := func(reason string) error { // mongod hides the codes of these
		return mongoerr.New(mongoerr.BadValue, "Failed parsing new changeStreamOptions value"+reason)
	}
	images := d.Lookup("preAndPostImages")
	switch {
	case images.IsMissing():
		return unread(path + "preAndPostImages'" + missing)
	case images.Kind() != value.KindDocument:
		return unread("invalid parameter: expected an object (preAndPostImages)")
	}
	switch v := images.Doc().Lookup("expireAfterSeconds"); {
	case v.IsMissing():
		return unread(path + "expireAfterSeconds'" + missing)
	case v.Kind() == value.KindString && v.Str() == "off":
	case v.Kind() == value.KindString:
		return mongoerr.New(mongoerr.BadValue, "Non-numeric value of 'expireAfterSeconds' should be 'off'")
	case !v.IsNumber():
		return unread(path + "preAndPostImages.expireAfterSeconds' is the wrong type '" + v.Kind().String() + "', expected types '[string, long, int, decimal, double]'")
	case v.SafeInt64() <= 0:
		return mongoerr.New(mongoerr.BadValue, "Numeric value of 'expireAfterSeconds' should be positive")
	}
	return nil
}

func checkDefaultMaxTime(d value.Doc) error {
	v := d.Lookup("readOperations")
	switch {
	case v.IsMissing():
		return mongoerr.MissingField("defaultMaxTimeMS.readOperations")
	case !v.IsNumber():
		return args.WrongType("defaultMaxTimeMS", "readOperations", v, args.NumberTypes)
	case v.SafeInt64() < 0:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field 'readOperations' value must be >= 0, actual value '%d'", v.SafeInt64())
	}
	return nil
}
