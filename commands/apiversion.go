package commands

import (
	"strings"

	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// checkStrict refuses commands and options that are not part of version 1 of the API.
func checkStrict(c *kernel.Call) error {
	unstable := gate.UnstableFields[c.Cmd.Name]
	for name := range c.Body.All() {
		if unstable[name] {
			return notStrict(c.Cmd.Name, name)
		}
	}
	if name := gate.ScriptedName(value.Document(c.Body)); name != "" {
		return mongoerr.Newf(mongoerr.APIStrictError, "%s is not allowed with 'apiStrict: true' in API Version 1", name)
	}
	if check := strictArguments[c.Cmd.Name]; check != nil {
		return check(c.Body)
	}
	return nil
}

// strictArguments check the arguments of a command that are part of version 1 only with some
// values.
var strictArguments = map[string]func(body value.Doc) error{
	"aggregate": func(d value.Doc) error { return gate.StrictStages(d.Lookup("pipeline")) },
	"collMod": func(d value.Doc) error {
		if d.Lookup("index").Doc().Has("prepareUnique") {
			return notStrict("collMod.index", "prepareUnique")
		}
		return nil
	},
	"create": func(d value.Doc) error {
		if d.Lookup("capped").Truthy() && d.Has("size") {
			return notStrict("create", "capped")
		}
		return nil
	},
	"createIndexes": func(d value.Doc) error { return strictIndexes(d.Lookup("indexes")) },
}

// strictIndexes refuses the kinds and options of indexes outside of version 1.
func strictIndexes(list value.Value) error {
	if list.Kind() != value.KindArray {
		return nil
	}
	for spec := range list.Doc().Values() {
		for name, v := range spec.Doc().All() {
			switch name {
			case "key":
				for _, kind := range v.Doc().All() {
					if kind.Kind() == value.KindString && kind.Str() == "text" {
						return mongoerr.New(mongoerr.APIStrictError, "Index type 'text' is not allowed with apiStrict:true.")
					}
				}
			case "background", "bucketSize", "prepareUnique", "sparse", "storageEngine":
				return notStrict("createIndexes.indexes", name)
			}
		}
	}
	return nil
}

func notStrict(where, field string) error {
	if where == "find" {
		where = exec.FindSpec.Command
	}
	return mongoerr.Newf(mongoerr.APIStrictError, "BSON field '%s.%s' is not allowed with apiStrict:true.", where, field)
}

// checkAPI applies what the client declared about the API it uses.
func checkAPI(c *kernel.Call) error {
	g := &c.Generic
	v := g.APIVersion
	switch {
	case !g.APIGiven && g.APIOptions:
		return mongoerr.New(4886600, "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion")
	case !g.APIGiven && c.Svc.RequireAPI.Load():
		return mongoerr.New(498870, "The apiVersion parameter is required, please configure your MongoClient's API version")
	case g.APIGiven && v != "1" && (v != "2" || !c.Svc.Params.Bool("acceptApiVersion2")):
		return mongoerr.New(mongoerr.APIVersionError, "API version must be \"1\"")
	case !g.APIOptions:
		return nil
	}
	in, deprecated := gate.ApiVersions(c.Cmd.Name)
	if g.APIStrict && !strings.Contains(in, v) {
		return mongoerr.Newf(mongoerr.APIStrictError, "Provided apiStrict:true, but the command %s is not in API Version %s. Information on supported commands and migrations in API Version %s can be found at https://dochub.mongodb.org/core/manual-versioned-api", c.Cmd.Name, v, v)
	}
	if g.APIDeprecationErrors && strings.Contains(deprecated, v) {
		return mongoerr.Newf(mongoerr.APIDeprecationError, "Provided apiDeprecationErrors:true, but the command %s is deprecated in API Version %s.", c.Cmd.Name, v)
	}
	if g.APIStrict {
		return checkStrict(c)
	}
	return nil
}
