package commands

import (
	"sort"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func parameterCommands() []command {
	return []command{
		{name: "getParameter", run: runGetParameter, flags: adminOnly, action: "getParameter", on: onCluster, help: "read server parameters"},
		{name: "setParameter", run: runSetParameter, flags: adminOnly, action: "setParameter", on: onCluster, help: "change server parameters"},
	}
}

// parameterOptions is what getParameter may be given in place of a number.
type parameterOptions struct {
	Details strictBool `arg:"showDetails"`
	All     strictBool `arg:"allParameters"`
	SetAt   *string    `arg:"setAt"`
}

var parameterOptionsSpec = newArgs[parameterOptions]("getParameter")

// allows reports whether a parameter can be set when it is asked for.
func (a *parameterOptions) allows(p *parameter) bool {
	return a.SetAt == nil || *a.SetAt == "runtime" && p.runtime || *a.SetAt == "startup" && p.startup
}

// runGetParameter reads the named parameters, all of them for "*" or
// {allParameters: true}.
func runGetParameter(c *Call) error {
	_, first := c.Body.First()
	all := first.Kind() == value.KindString && first.Str() == "*"
	var a parameterOptions
	if first.Kind() == value.KindDocument {
		if err := parameterOptionsSpec.decodeNested("getParameter", first.Doc(), &a); err != nil {
			return err
		}
		if a.SetAt != nil && *a.SetAt != "runtime" && *a.SetAt != "startup" {
			return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'getParameter.setAt' is not a valid value.", *a.SetAt)
		}
		all = bool(a.All)
	}
	found := 0
	for _, name := range c.svc.params.names() {
		if !all && !c.Body.Has(name) || !a.allows(c.svc.params.lines[name]) {
			continue
		}
		found++
		c.appendParameter(name, bool(a.Details))
	}
	if found == 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "no option found to get")
	}
	return nil
}

func (c *Call) appendParameter(name string, details bool) {
	v := c.svc.params.value(name)
	if !details {
		c.reply.Append(name, v)
		return
	}
	line := c.svc.params.lines[name]
	c.reply.StartDocument(name)
	c.reply.Append("value", v).Bool("settableAtRuntime", line.runtime).Bool("settableAtStartup", line.startup)
	c.reply.End()
}

func (p *parameters) names() []string {
	names := make([]string, 0, len(p.lines))
	for name := range p.lines {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// runSetParameter changes parameters; the reply carries the old value of the
// first.
func runSetParameter(c *Call) error {
	type change struct {
		line *parameter
		v    value.Value
	}
	var changes []change
	it := c.Body.Iter()
	it.Next()
	for it.Next() {
		if genericArgs[it.Key()] {
			continue
		}
		line := c.svc.params.lines[it.Key()]
		switch {
		case line == nil:
			return mongoerr.Newf(mongoerr.InvalidOptions, "attempted to set unrecognized parameter [%s], use help:true to see options ", it.Key())
		case !line.runtime:
			return mongoerr.Newf(mongoerr.IllegalOperation, "not allowed to change [%s] at runtime", it.Key())
		}
		changes = append(changes, change{line, it.Value()})
	}
	if len(changes) == 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "no option found to set, use help:true to see options ")
	}
	was := c.svc.params.value(changes[0].line.name)
	for _, ch := range changes {
		if err := c.svc.params.set(ch.line, ch.v); err != nil {
			return err
		}
	}
	c.reply.Append("was", was)
	return nil
}

// splitList splits comma-separated text.
func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
