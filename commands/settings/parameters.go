package settings

import (
	"sort"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// parameterOptions are the options of getParameter.
type parameterOptions struct {
	Details args.LooseBool `arg:"showDetails"`
	All     args.LooseBool `arg:"allParameters"`
	SetAt   *string        `arg:"setAt"`
}

var parameterOptionsSpec = args.New[parameterOptions]("getParameter")

// allows reports whether a parameter is shown: whether it can be set at the time that the
// option setAt names.
func (a *parameterOptions) allows(p *kernel.Parameter) bool {
	return a.SetAt == nil || *a.SetAt == "runtime" && p.Runtime || *a.SetAt == "startup" && p.Startup
}

// runGetParameter reads the named parameters, all of them for "*" or
// {allParameters: true}.
func runGetParameter(c *kernel.Call) error {
	_, first := c.Body.First()
	all := first.Kind() == value.KindString && first.Str() == "*"
	var a parameterOptions
	if first.Kind() == value.KindDocument {
		if err := parameterOptionsSpec.DecodeNested("getParameter", first.Doc(), &a); err != nil {
			return err
		}
		if a.SetAt != nil && *a.SetAt != "runtime" && *a.SetAt != "startup" {
			return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'getParameter.setAt' is not a valid value.", *a.SetAt)
		}
		all = bool(a.All)
	}
	asked := map[string]bool{}
	for name := range c.Body.All() {
		if c.Svc.Params.Lines[name] != nil {
			asked[name] = true
		}
	}
	found := 0
	for _, name := range names(c.Svc.Params) {
		if line := c.Svc.Params.Lines[name]; !all && !asked[name] || !a.allows(line) || !c.Svc.Params.Enabled(line) {
			continue
		}
		found++
		appendParameter(c, name, bool(a.Details))
	}
	if found == 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "no option found to get")
	}
	return nil
}

func appendParameter(c *kernel.Call, name string, details bool) {
	v := c.Svc.Params.Value(name)
	if !details {
		c.Reply.Append(name, v)
		return
	}
	line := c.Svc.Params.Lines[name]
	c.Reply.StartDocument(name)
	c.Reply.Append("value", v).Bool("settableAtRuntime", line.Runtime).Bool("settableAtStartup", line.Startup)
	c.Reply.End()
}

func names(p *kernel.Parameters) []string {
	names := make([]string, 0, len(p.Lines))
	for name := range p.Lines {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// runSetParameter changes parameters; the reply carries the old value of the
// first.
func runSetParameter(c *kernel.Call) error {
	type change struct {
		line *kernel.Parameter
		v    value.Value
	}
	var changes []change
	it := c.Body.Iter()
	it.Next()
	for it.Next() {
		if args.IsGeneric(it.Key()) {
			continue
		}
		line := c.Svc.Params.Lines[it.Key()]
		switch {
		case line == nil:
			return mongoerr.Newf(mongoerr.InvalidOptions, "attempted to set unrecognized parameter [%s], use help:true to see options ", it.Key())
		case !c.Svc.Params.Enabled(line):
			return mongoerr.Newf(mongoerr.InvalidOptions, "Server parameter: '%s' is disabled", it.Key())
		case !line.Runtime:
			return mongoerr.Newf(mongoerr.IllegalOperation, "not allowed to change [%s] at runtime", it.Key())
		}
		for _, earlier := range changes {
			if earlier.line == line {
				return mongoerr.Newf(mongoerr.InvalidOptions, "attempted to set parameter [%s] twice in the same setParameter command, once to value: [%s], and once to value: [%s]", it.Key(), earlier.v, it.Value())
			}
		}
		changes = append(changes, change{line, it.Value()})
	}
	if len(changes) == 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "no option found to set, use help:true to see options ")
	}
	was := c.Svc.Params.Value(changes[0].line.Name)
	for _, ch := range changes {
		if err := c.Svc.Params.Set(ch.line, ch.v); err != nil {
			return err
		}
	}
	c.Reply.Append("was", was)
	return nil
}
