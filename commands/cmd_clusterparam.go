package commands

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// clusterParameter is a parameter that setClusterParameter reaches.
type clusterParameter struct {
	initial value.Doc
	check   func(d value.Doc) error
	apply   func(s *Service, d value.Doc)
}

// clusterParameters lists those that mean something to a single server.
var clusterParameters = map[string]clusterParameter{
	"changeStreamOptions": {
		initial: value.NewDoc("preAndPostImages", value.Document(value.NewDoc("expireAfterSeconds", value.String("off")))),
		check:   checkStreamOptions,
		apply: func(s *Service, d value.Doc) {
			after := d.Lookup("preAndPostImages").Doc().Lookup("expireAfterSeconds")
			s.streamOptions.expireAfter.Store(after.SafeInt64()) // 0 for "off"
		},
	},
	"changeStreams": { // of servers without a server; here the log has a size
		initial: value.NewDoc("expireAfterSeconds", value.Int64(3600)),
		check:   checkStreamExpiry,
	},
	"pauseMigrationsDuringMultiUpdates": { // there are no migrations
		initial: value.NewDoc("enabled", value.Bool(false)),
		check:   checkPauseMigrations,
	},
	"defaultMaxTimeMS": {
		initial: value.NewDoc("readOperations", value.Int64(0)),
		check:   checkDefaultMaxTime,
		apply: func(s *Service, d value.Doc) {
			s.settings.readMS.Store(d.Lookup("readOperations").SafeInt64())
		},
	},
}

func checkStreamExpiry(d value.Doc) error {
	switch v := d.Lookup("expireAfterSeconds"); {
	case v.IsMissing() || v.Kind() == value.KindNull:
	case !v.IsNumber():
		return wrongType("changeStreams", "expireAfterSeconds", v, numberTypes)
	case v.SafeInt64() < 1:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field 'expireAfterSeconds' value must be > 0, actual value '%d'", v.SafeInt64())
	}
	return nil
}

func checkPauseMigrations(d value.Doc) error {
	if v := d.Lookup("enabled"); !v.IsMissing() && v.Kind() != value.KindNull && v.Kind() != value.KindBool {
		return wrongType("pauseMigrationsDuringMultiUpdates", "enabled", v, "bool")
	}
	return nil
}

func checkStreamOptions(d value.Doc) error {
	images := d.Lookup("preAndPostImages")
	if images.Kind() != value.KindDocument {
		return mongoerr.Newf(mongoerr.BadValue, "changeStreamOptions.preAndPostImages must be an object, found %s", images.Kind())
	}
	switch v := images.Doc().Lookup("expireAfterSeconds"); {
	case v.Kind() == value.KindString && v.Str() == "off", v.IsMissing():
	case v.Kind() == value.KindString:
		return mongoerr.New(mongoerr.BadValue, "Non-numeric value of 'expireAfterSeconds' should be 'off'")
	case !v.IsNumber():
		return wrongType("changeStreamOptions.preAndPostImages", "expireAfterSeconds", v, "string, long, int, decimal, double")
	case v.SafeInt64() <= 0:
		return mongoerr.New(mongoerr.BadValue, "Numeric value of 'expireAfterSeconds' should be positive")
	}
	return nil
}

func checkDefaultMaxTime(d value.Doc) error {
	v := d.Lookup("readOperations")
	switch {
	case v.IsMissing():
		return mongoerr.New(40414, "BSON field 'defaultMaxTimeMS.readOperations' is missing but a required field")
	case !v.IsNumber():
		return wrongType("defaultMaxTimeMS", "readOperations", v, numberTypes)
	case v.SafeInt64() < 0:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field 'readOperations' value must be >= 0, actual value '%d'", v.SafeInt64())
	}
	return nil
}

func unknownClusterParameter(name string) error {
	return mongoerr.Newf(mongoerr.NoSuchKey, "Unknown server parameter: %s", name)
}

// runGetClusterParameter reads one parameter, a list of them, or all ("*").
func runGetClusterParameter(c *Call) error {
	_, v := c.Body.First()
	var names []string
	all := v.Kind() == value.KindString && v.Str() == "*" // in an array it is a name
	switch v.Kind() {
	case value.KindString:
		names = []string{v.Clone().Str()}
	case value.KindArray:
		for e := range v.Doc().Values() {
			if e.Kind() != value.KindString {
				return wrongType("getClusterParameter", "getClusterParameter", e, "string")
			}
			names = append(names, e.Clone().Str())
		}
	default:
		return wrongType("getClusterParameter", "getClusterParameter", v, "string, array")
	}
	if all {
		names = nil
		for name := range clusterParameters {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	if len(names) == 0 {
		return mongoerr.New(mongoerr.BadValue, "Must supply at least one cluster server parameter name to getClusterParameter")
	}
	st := c.svc.settled()
	st.mu.Lock()
	defer st.mu.Unlock()
	c.reply.StartArray("clusterParameters")
	for _, name := range names {
		p, ok := clusterParameters[name]
		if !ok {
			return unknownClusterParameter(name)
		}
		d := st.cluster[name]
		if d == nil {
			d = clusterDoc(name, value.Timestamp(0, 0), p.initial)
		}
		c.reply.Document("", d)
	}
	c.reply.End()
	return nil
}

func clusterDoc(name string, at value.Value, d value.Doc) value.Doc {
	b := value.NewBuilder()
	b.String("_id", name).Append("clusterParameterTime", at)
	it := d.Iter()
	b.Raw(it.Rest())
	return b.Doc()
}

// completed is a value of a parameter with what it does not say as it is at first.
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
func runSetClusterParameter(c *Call) error {
	_, v := c.Body.First()
	switch {
	case v.Kind() == value.KindNull:
		return mongoerr.New(mongoerr.IDLFailedToParse, "BSON field 'setClusterParameter.setClusterParameter' is missing but a required field")
	case v.Kind() != value.KindDocument:
		return wrongType("setClusterParameter", "setClusterParameter", v, "object")
	}
	name, given := v.Doc().First()
	if v.Doc().Len() > 1 {
		return mongoerr.New(mongoerr.InvalidOptions, "setClusterParameter only supports setting exactly one parameter")
	}
	p, ok := clusterParameters[name]
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
		if !p.initial.Has(field) {
			return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s.%s' is an unknown field.", name, field)
		}
	}
	if err := p.check(given.Doc()); err != nil {
		return err
	}
	d := clusterDoc(name, c.svc.nextTimestamp(c.now), completed(given.Doc(), p.initial))
	if err := c.keep(clusterHome, d); err != nil {
		return err
	}
	st := c.svc.settled()
	st.mu.Lock()
	st.cluster[d.Lookup("_id").Clone().Str()] = d
	st.mu.Unlock()
	if p.apply != nil {
		p.apply(c.svc, d)
	}
	return nil
}
