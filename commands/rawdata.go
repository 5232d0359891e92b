package commands

import (
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// rawDataCommands are the commands that take rawData: on a time series they then see and
// change the buckets in place of the measurements.
var rawDataCommands = map[string]bool{
	"aggregate": true, "bulkWrite": true, "count": true, "createIndexes": true, "delete": true, "distinct": true, "dropIndexes": true,
	"explain": true, "find": true, "findAndModify": true, "insert": true, "listCollections": true, "listIndexes": true, "update": true,
}

// resolveRawData makes a command with rawData on time series one on the collections of their
// buckets. Its privileges were checked: they are those on the time series.
func resolveRawData(c *kernel.Call) error {
	given, on := c.Generic.RawGiven, c.Generic.RawData
	if c.Cmd.Has(kernel.WrapsCommand) {
		_, inner := c.Body.First()
		if v := inner.Doc().Lookup("rawData"); !v.IsNullish() {
			given, on = true, v.Bool()
		}
	}
	switch {
	case !given:
		return nil
	case !c.Svc.Dialect().Has(dialect.RawData):
		return mongoerr.UnknownField(c.Cmd.Name + ".rawData")
	case !on:
		return nil
	case !rawDataCommands[c.Cmd.Name]:
		return errNoRawData
	}
	if err := c.Claim(int64(len(c.Body))); err != nil { // for the copy
		return err
	}
	switch c.Cmd.Name {
	case "bulkWrite":
		return resolveRawNamespaces(c)
	case "explain":
		return resolveRawExplain(c)
	}
	body, err := resolveRawBody(c, c.Body)
	c.Body = body
	return err
}

var errNoRawData = mongoerr.New(mongoerr.InvalidOptions, "Command does not support the rawData option")

// resolveRawBody replaces the collection that a command names first.
func resolveRawBody(c *kernel.Call, body value.Doc) (value.Doc, error) {
	name, v := body.First()
	if v.Kind() != value.KindString {
		return body, nil
	}
	buckets, err := bucketsOf(c, storage.Namespace{DB: c.DB, Coll: v.Str()})
	if err != nil || buckets == "" {
		return body, err
	}
	return withFirst(body, name, value.String(buckets)), nil
}

// resolveRawExplain does so with the command that is explained.
func resolveRawExplain(c *kernel.Call) error {
	name, v := c.Body.First()
	if v.Kind() != value.KindDocument {
		return nil
	}
	explained, _ := v.Doc().First()
	if cmd := c.Svc.Table[explained]; cmd != nil && !rawDataCommands[cmd.Name] {
		return errNoRawData
	}
	inner, err := resolveRawBody(c, v.Doc())
	if err == nil {
		c.Body = withFirst(c.Body, name, value.Document(inner))
	}
	return err
}

// resolveRawNamespaces replaces the namespaces of a bulkWrite.
func resolveRawNamespaces(c *kernel.Call) error {
	b := value.NewBuilder()
	b.StartArray("nsInfo")
	for d := range access.Statements(c, "nsInfo") {
		buckets, err := bucketsOf(c, access.SplitNamespace(d.Lookup("ns").Str()))
		if err != nil {
			return err
		}
		if buckets != "" {
			d = with(d, "ns", value.String(access.SplitNamespace(d.Lookup("ns").Str()).DB+"."+buckets))
		}
		b.Document("", d)
	}
	b.End()
	list := b.Doc().Lookup("nsInfo")
	for i := range c.Sequences {
		if s := &c.Sequences[i]; s.ID == "nsInfo" {
			*s = kernel.Sequence{ID: s.ID, Len: s.Len}
			for d := range list.Doc().Values() {
				s.Docs = append(s.Docs, d.Doc()...)
			}
			return nil
		}
	}
	c.Body = with(c.Body, "nsInfo", list)
	return nil
}

// bucketsOf returns the name of the collection with the buckets of a time series; "" if ns is
// none.
func bucketsOf(c *kernel.Call, ns storage.Namespace) (string, error) {
	if ns.DB == "" || ns.Coll == "" || catalog.CheckNamespace(ns) != nil { // refused later
		return "", nil
	}
	info, err := exec.Lookup(c, ns)
	if err != nil || catalog.Of(info).Kind != catalog.TimeSeries {
		return "", err
	}
	return reserved.Buckets(ns.Coll), nil
}

// withFirst returns a document with another first value.
func withFirst(d value.Doc, name string, v value.Value) value.Doc {
	b := value.NewBuilder()
	it := d.Iter()
	it.Next()
	b.Append(name, v)
	b.Raw(it.Rest())
	return b.Doc()
}

// with returns a document with another value of a field that it has.
func with(d value.Doc, field string, v value.Value) value.Doc {
	b := value.NewBuilder()
	for name, old := range d.All() {
		if name == field {
			old = v
		}
		b.Append(name, old)
	}
	return b.Doc()
}
