package settings

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/value"
)

type setQuerySettingsArgs struct {
	Query    value.Value `arg:"setQuerySettings"`
	Settings value.Doc   `arg:"settings,required"`
}

type removeQuerySettingsArgs struct {
	Query value.Value `arg:"removeQuerySettings"`
}

type settingsArgs struct {
	Hints     value.Value `arg:"indexHints"`
	Framework *string     `arg:"queryFramework"`
	Reject    value.Value `arg:"reject"`
	Comment   value.Value `arg:"comment"`
}

type indexHintArgs struct {
	NS      value.Doc  `arg:"ns,required"`
	Allowed args.Array `arg:"allowedIndexes,required"`
}

type hintNamespaceArgs struct {
	DB   *string `arg:"db"`
	Coll *string `arg:"coll"`
}

var (
	setQuerySettingsSpec    = args.New[setQuerySettingsArgs]("setQuerySettings")
	removeQuerySettingsSpec = args.New[removeQuerySettingsArgs]("removeQuerySettings")
	settingsSpec            = args.New[settingsArgs]("setQuerySettings.settings").Lenient()
	indexHintSpec           = args.New[indexHintArgs]("IndexHintSpec").Lenient()
	hintNamespaceSpec       = args.New[hintNamespaceArgs]("ns")
)

func runSetQuerySettings(c *kernel.Call) error {
	var a setQuerySettingsArgs
	if err := setQuerySettingsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	q, err := namedShape(c, a.Query)
	if err != nil {
		return err
	}
	if err := checkSettings(a.Settings); err != nil {
		return err
	}
	cluster, err := c.ClusterSettings()
	if err != nil {
		return err
	}
	known := cluster.Queries.Find(q.Hash)
	o := catalog.NewOptions(nil)
	if known != nil { // settings that are not given stay
		o = catalog.NewOptions(known.Settings)
		if q.Representative == nil {
			q.Representative = known.Representative
		}
	}
	for name, v := range a.Settings.All() {
		if v.Kind() == value.KindNull || name == "reject" && !v.Bool() { // false is the default
			v = value.Value{}
		}
		if name == "indexHints" {
			v = withoutEmptyHints(v)
		}
		if settingsSpec.Declares(name) && (!v.IsMissing() || name == "reject") {
			o.Set(name, v)
		}
	}
	if q.Settings = o.Doc().Clone(); !decides(q.Settings) {
		return mongoerr.New(7746604, "the resulting settings cannot be empty or contain only default values")
	}
	if err := putQuerySetting(c, q.Hash, q); err != nil {
		return err
	}
	q.AppendTo(c.Reply)
	return nil
}

func runRemoveQuerySettings(c *kernel.Call) error {
	var a removeQuerySettingsArgs
	if err := removeQuerySettingsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	q, err := namedShape(c, a.Query)
	if err != nil {
		return err
	}
	cluster, err := c.ClusterSettings()
	if err != nil || cluster.Queries.Find(q.Hash) == nil {
		return err
	}
	return putQuerySetting(c, q.Hash, nil)
}

// namedShape reads the shape: a query that has it, or its hash.
func namedShape(c *kernel.Call, v value.Value) (*kernel.QuerySetting, error) {
	if !c.Svc.Replicated() {
		return nil, mongoerr.Newf(mongoerr.IllegalOperation, "%s can only run on replica sets or sharded clusters", c.Cmd.Name)
	}
	switch v.Kind() {
	case value.KindString:
		return &kernel.QuerySetting{Hash: strings.Clone(strings.ToUpper(v.Str()))}, canonical.CheckHash(v.Str())
	case value.KindDocument:
		return representedShape(v.Doc(), c.Cmd.Name == "setQuerySettings")
	}
	return nil, args.WrongType(c.Cmd.Name, c.Cmd.Name, c.Body.Lookup(c.Cmd.Name), "object, string")
}

// representedShape returns the shape of a query. setting reports whether the command sets
// something for it.
func representedShape(query value.Doc, setting bool) (*kernel.QuerySetting, error) {
	name, first := query.First()
	if _, shaped := canonical.ShapedCommands[name]; !shaped {
		return nil, mongoerr.Newf(7746402, "QueryShape can not be computed for command: %s", query)
	}
	db := query.Lookup("$db")
	switch {
	case db.IsMissing() || db.Kind() == value.KindNull:
		return nil, mongoerr.MissingField(name + ".$db")
	case db.Kind() != value.KindString:
		return nil, args.TypeError(name+".$db", db, "string")
	}
	if err := catalog.CheckDatabase(db.Str()); err != nil {
		return nil, err
	}
	switch {
	case setting && (db.Str() == "local" || db.Str() == "config" || db.Str() == "admin" || catalog.IsSystem(first.Str())):
		return nil, mongoerr.New(8584900, "setQuerySettings command cannot be used on internal databases or system collections")
	case name == "find" && isIDHack(query) && setting:
		return nil, mongoerr.New(7746606, "setQuerySettings command cannot be used on find queries eligible for IDHACK")
	}
	if err := checkRepresentative(name, query); err != nil {
		return nil, err
	}
	return &kernel.QuerySetting{Hash: canonical.QueryShapeHash(db.Str(), query), Representative: query.Clone()}, nil
}

// checkRepresentative makes sure that the fields of a query have the types that
// its command takes.
func checkRepresentative(name string, query value.Doc) error {
	switch name {
	case "find":
		return exec.FindSpec.Decode(query, new(exec.FindArgs))
	case "distinct":
		return exec.DistinctSpec.Decode(query, new(exec.DistinctArgs))
	}
	return exec.AggregateSpec.Decode(query, new(exec.AggregateArgs))
}

// isIDHack reports whether a find is a look-up by _id, which is not planned.
func isIDHack(query value.Doc) bool {
	filter := query.Lookup("filter").Doc()
	name, v := filter.First()
	return filter.Len() == 1 && name == "_id" && (v.Kind() != value.KindDocument || !canonical.IsOperators(v.Doc())) && !query.Has("hint") && !query.Has("skip")
}

func checkSettings(d value.Doc) error {
	if d.IsEmpty() {
		return mongoerr.New(8727502, "settings field in setQuerySettings command cannot be empty")
	}
	var a settingsArgs
	if err := settingsSpec.DecodeNested("setQuerySettings.settings", d, &a); err != nil {
		return err
	}
	if v, given := d.Get("reject"); given && v.Kind() != value.KindBool { // null, too
		return mongoerr.Newf(mongoerr.TypeMismatch, "Field 'reject' should be a boolean value, but found: %s", v.Kind())
	}
	if a.Framework != nil && *a.Framework != "classic" && *a.Framework != "sbe" {
		return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'queryFramework' is not a valid value.", *a.Framework)
	}
	if k := a.Hints.Kind(); k != value.Missing && k != value.KindDocument && k != value.KindArray {
		return args.WrongType("setQuerySettings.settings", "indexHints", a.Hints, "object, array")
	}
	seen := map[string]bool{}
	for _, hint := range hintValues(a.Hints) {
		if err := checkIndexHint(hint, seen); err != nil {
			return err
		}
	}
	return nil
}

func hintValues(v value.Value) []value.Value {
	if v.Kind() != value.KindArray {
		if v.IsMissing() {
			return nil
		}
		return []value.Value{v}
	}
	var list []value.Value
	for e := range v.Doc().Values() {
		list = append(list, e)
	}
	return list
}

func checkIndexHint(v value.Value, seen map[string]bool) error {
	if v.Kind() != value.KindDocument {
		return args.TypeError("indexHints", v, "object")
	}
	var a indexHintArgs
	if err := indexHintSpec.DecodeNested("indexHints", v.Doc(), &a); err != nil {
		return err
	}
	var ns hintNamespaceArgs
	if err := hintNamespaceSpec.DecodeNested("indexHints.ns", a.NS, &ns); err != nil {
		return err
	}
	switch {
	case ns.DB == nil:
		return mongoerr.New(8727500, "invalid index hint: 'ns.db' field is missing")
	case ns.Coll == nil:
		return mongoerr.New(8727501, "invalid index hint: 'ns.coll' field is missing")
	case seen[*ns.DB+"."+*ns.Coll]:
		return mongoerr.Newf(7746608, "Collection '%s.%s' has already index hints specified", *ns.DB, *ns.Coll)
	}
	seen[*ns.DB+"."+*ns.Coll] = true
	for e := range value.Doc(a.Allowed).Values() {
		if e.Kind() != value.KindString && e.Kind() != value.KindDocument {
			return mongoerr.New(mongoerr.FailedToParse, "Hint must be a string or an object")
		}
	}
	return nil
}

// withoutEmptyHints removes hints without indexes, which have no effect.
func withoutEmptyHints(v value.Value) value.Value {
	var kept []value.Value
	for _, hint := range hintValues(v) {
		if !hint.Doc().Lookup("allowedIndexes").Doc().IsEmpty() {
			kept = append(kept, hint)
		}
	}
	switch {
	case len(kept) == 0:
		return value.Value{}
	case v.Kind() == value.KindDocument:
		return v
	}
	return value.NewArray(kept...)
}

// decides reports whether settings change anything: a comment alone does not.
func decides(settings value.Doc) bool {
	return settings.Has("indexHints") || settings.Has("queryFramework") || settings.Lookup("reject").Truthy()
}

// OpenQuerySettings lists the settings: the stage $querySettings.
func OpenQuerySettings(h *pipeline.Environment, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	cluster, err := h.Exec.Running().ClusterSettings()
	if err != nil {
		return nil, err
	}
	var docs []value.Doc
	for _, q := range cluster.Queries {
		b := value.NewBuilder()
		q.AppendTo(b)
		if db := q.Representative.Lookup("$db"); s.Spec.Lookup("showDebugQueryShape").Truthy() && !db.IsMissing() {
			b.Document("debugQueryShape", canonical.CommandShape(db.Str(), q.Representative))
		}
		docs = append(docs, b.Doc())
	}
	return agg.Docs(docs...), nil
}

// putQuerySetting replaces the settings of a shape, or removes them if q is nil.
func putQuerySetting(c *kernel.Call, hash string, q *kernel.QuerySetting) error {
	at := transaction.NextTimestamp(c.Svc, c.Now)
	return c.ChangeSetting(kernel.ClusterNamespace, value.String(kernel.QuerySettingsID), func(old value.Doc) value.Doc {
		list := slices.DeleteFunc(kernel.ReadQuerySettings(old), func(x *kernel.QuerySetting) bool { return x.Hash == hash })
		if q != nil {
			list = append(list, q)
		}
		b := value.NewBuilder()
		b.String("_id", kernel.QuerySettingsID).StartArray("settingsArray")
		for _, x := range list {
			b.StartDocument("")
			x.AppendTo(b)
			b.End()
		}
		b.End()
		b.Append("clusterParameterTime", at)
		return b.Doc()
	})
}
