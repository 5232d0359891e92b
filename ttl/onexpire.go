package ttl

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// OnExpire says that expired documents are moved to another collection of the
// same database instead of being deleted.
type OnExpire struct {
	DeadLetterTo string
}

// ParseOnExpire reads the onExpire option of create and collMod on a
// collection; command is the command's name. "off" in collMod gives nil.
func ParseOnExpire(command string, ns storage.Namespace, v value.Value) (*OnExpire, error) {
	prefix := command + ".onExpire"
	if command == "collMod" && v.Kind() == value.KindString && v.Str() == "off" {
		return nil, nil
	}
	if v.Kind() != value.KindDocument {
		return nil, wrongType(prefix, v, "object")
	}
	var o *OnExpire
	for name, v := range v.Doc().All() {
		if name != "deadLetterTo" {
			return nil, unknownField(prefix, name)
		}
		if v.Kind() != value.KindString {
			return nil, wrongType(prefix+"."+name, v, "string")
		}
		o = &OnExpire{DeadLetterTo: strings.Clone(v.Str())}
	}
	if o == nil {
		return nil, mongoerr.MissingField(prefix + ".deadLetterTo")
	}
	return o, o.check(ns)
}

func (o *OnExpire) check(ns storage.Namespace) error {
	to := o.DeadLetterTo
	switch {
	case to == "" || strings.ContainsAny(to, "$\x00") || to[0] == '.' || len(ns.DB)+1+len(to) > 255:
		return mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid collection name specified '%s.%s'", ns.DB, to)
	case strings.HasPrefix(to, "system."):
		return mongoerr.Newf(mongoerr.InvalidOptions, "'onExpire.deadLetterTo' cannot be the system collection '%s'", to)
	case to == ns.Coll || reserved.Buckets(to) == ns.Coll:
		return mongoerr.New(mongoerr.InvalidOptions, "'onExpire.deadLetterTo' cannot be the collection itself")
	}
	return nil
}

// Doc returns the option as listCollections shows it.
func (o *OnExpire) Doc() value.Doc {
	return value.NewDoc("deadLetterTo", value.String(o.DeadLetterTo))
}

// LoadOnExpire reads the option from the options in the catalog; nil if they do
// not have it.
func LoadOnExpire(options value.Doc) *OnExpire {
	if to := options.Lookup("onExpire").Doc().Lookup("deadLetterTo"); to.Kind() == value.KindString {
		return &OnExpire{DeadLetterTo: strings.Clone(to.Str())}
	}
	return nil
}
