package settings

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/parameters"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func unknownClusterParameter(name string) error {
	return mongoerr.Newf(mongoerr.NoSuchKey, "Unknown server parameter: %s", name)
}

// runGetClusterParameter reads one parameter, a list of them, or all ("*").
func runGetClusterParameter(c *kernel.Call) error {
	_, v := c.Body.First()
	var names []string
	all := v.Kind() == value.KindString && v.Str() == "*" // in an array it is a name
	switch v.Kind() {
	case value.KindString:
		names = []string{v.Clone().Str()}
	case value.KindArray:
		for e := range v.Doc().Values() {
			if e.Kind() != value.KindString {
				return args.WrongType("getClusterParameter", "getClusterParameter", e, "string")
			}
			names = append(names, e.Clone().Str())
		}
	default:
		return args.WrongType("getClusterParameter", "getClusterParameter", v, "string, array")
	}
	if all {
		names = nil
		for name := range parameters.ClusterParameters {
			if _, ok := parameters.ClusterParameter(c.Svc.Dialect(), name); ok {
				names = append(names, name)
			}
		}
		slices.Sort(names)
	}
	if len(names) == 0 {
		return mongoerr.New(mongoerr.BadValue, "Must supply at least one cluster server parameter name to getClusterParameter")
	}
	cluster, err := c.ClusterSettings()
	if err != nil {
		return err
	}
	c.Reply.StartArray("clusterParameters")
	for _, name := range names {
		p, ok := parameters.ClusterParameter(c.Svc.Dialect(), name)
		if !ok {
			return unknownClusterParameter(name)
		}
		d := cluster.Parameters[name]
		if d == nil {
			d = clusterDoc(name, value.Timestamp(0, 0), p.Initial)
		}
		c.Reply.Document("", d)
	}
	c.Reply.End()
	return nil
}

func clusterDoc(name string, at value.Value, d value.Doc) value.Doc {
	b := value.NewBuilder()
	b.String("_id", name).Append("clusterParameterTime", at)
	it := d.Iter()
	b.Raw(it.Rest())
	return b.Doc()
}

// completed returns a value of a parameter with its missing fields set to their initial
// values.
func completed(given, initial value.Doc) value.Doc {
	b := value.NewBuilder()
	for name, v := range initial.All() {
		if own := given.Lookup(name); !own.IsMissing() && own.Kind() != value.KindNull {
			v = own
		}
		switch { // all their numbers are longs
		case v.IsNumber():
			v = value.Int64(v.SafeInt64())
		case v.Kind() == value.KindDocument:
			v = value.Document(completed(v.Doc(), v.Doc()))
		}
		b.Append(name, v)
	}
	return b.Doc()
}

// runSetClusterParameter sets {name: {field: value, …}}.
func runSetClusterParameter(c *kernel.Call) error {
	_, v := c.Body.First()
	switch {
	case v.Kind() == value.KindNull:
		return mongoerr.MissingField("setClusterParameter.setClusterParameter")
	case v.Kind() != value.KindDocument:
		return args.WrongType("setClusterParameter", "setClusterParameter", v, "object")
	}
	name, given := v.Doc().First()
	if v.Doc().Len() > 1 {
		return mongoerr.New(mongoerr.InvalidOptions, "setClusterParameter only supports setting exactly one parameter")
	}
	p, ok := parameters.ClusterParameter(c.Svc.Dialect(), name)
	if !ok {
		return unknownClusterParameter(name)
	}
	if given.Kind() != value.KindDocument {
		return mongoerr.New(mongoerr.BadValue, "Cluster parameter value must be an object")
	}
	for field := range given.Doc().All() {
		if strings.HasPrefix(field, "$") {
			return mongoerr.Newf(mongoerr.DollarPrefixedFieldName, "Field names may not start with '$': %s", field)
		}
		if !p.Initial.Has(field) {
			return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s.%s' is an unknown field.", name, field)
		}
	}
	if err := p.Check(given.Doc()); err != nil {
		return err
	}
	d := clusterDoc(name, transaction.NextTimestamp(c.Svc, c.Now), completed(given.Doc(), p.Initial))
	return c.PutSetting(kernel.ClusterNamespace, d)
}
