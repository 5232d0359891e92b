package commands

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/value"
)

// querySettingsCommands set what holds for all queries of a shape.
func querySettingsCommands() []command {
	return []command{
		{name: "setQuerySettings", run: runSetQuerySettings, flags: adminOnly, action: "querySettings", on: onCluster, help: "indexes for a shape of query, or that it is refused"},
		{name: "removeQuerySettings", run: runRemoveQuerySettings, flags: adminOnly, action: "querySettings", on: onCluster, help: "forget what was set for a shape of query"},
	}
}

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
	NS      value.Doc `arg:"ns,required"`
	Allowed array     `arg:"allowedIndexes,required"`
}

type hintNamespaceArgs struct {
	DB   *string `arg:"db"`
	Coll *string `arg:"coll"`
}

var (
	setQuerySettingsSpec    = newArgs[setQuerySettingsArgs]("setQuerySettings")
	removeQuerySettingsSpec = newArgs[removeQuerySettingsArgs]("removeQuerySettings")
	settingsSpec            = newArgs[settingsArgs]("setQuerySettings.settings").lenient()
	indexHintSpec           = newArgs[indexHintArgs]("IndexHintSpec").lenient()
	hintNamespaceSpec       = newArgs[hintNamespaceArgs]("ns")
)

func runSetQuerySettings(c *Call) error {
	var a setQuerySettingsArgs
	if err := setQuerySettingsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	q, err := c.namedShape(a.Query)
	if err != nil {
		return err
	}
	if err := checkSettings(a.Settings); err != nil {
		return err
	}
	known := c.svc.settled().queries.find(q.hash)
	o := newOptions(nil)
	if known != nil { // what is not given stays
		o = newOptions(known.settings)
		if q.representative == nil {
			q.representative = known.representative
		}
	}
	for name, v := range a.Settings.All() {
		if v.Kind() == value.KindNull || name == "reject" && !v.Bool() { // false is the default
			v = value.Value{}
		}
		if name == "indexHints" {
			v = settledHints(v)
		}
		if _, own := settingsSpec.index[name]; own && (!v.IsMissing() || name == "reject") {
			o.set(name, v)
		}
	}
	if q.settings = o.doc().Clone(); !decides(q.settings) {
		return mongoerr.New(7746604, "the resulting settings cannot be empty or contain only default values")
	}
	if err := c.putQuerySetting(q.hash, q); err != nil {
		return err
	}
	q.appendTo(c.reply)
	return nil
}

func runRemoveQuerySettings(c *Call) error {
	var a removeQuerySettingsArgs
	if err := removeQuerySettingsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	q, err := c.namedShape(a.Query)
	if err != nil {
		return err
	}
	if c.svc.settled().queries.find(q.hash) == nil {
		return nil
	}
	return c.putQuerySetting(q.hash, nil)
}

// namedShape reads the shape: a query that has it, or its hash.
func (c *Call) namedShape(v value.Value) (*querySetting, error) {
	if !c.svc.inReplicaSet() {
		return nil, mongoerr.Newf(mongoerr.IllegalOperation, "%s can only run on replica sets or sharded clusters", c.cmd.name)
	}
	switch v.Kind() {
	case value.KindString:
		return &querySetting{hash: strings.Clone(strings.ToUpper(v.Str()))}, checkHash(v.Str())
	case value.KindDocument:
		return representedShape(v.Doc(), c.cmd.name == "setQuerySettings")
	}
	return nil, wrongType(c.cmd.name, c.cmd.name, c.Body.Lookup(c.cmd.name), "object, string")
}

// representedShape is the shape of a query; setting: it is to be set something.
func representedShape(query value.Doc, setting bool) (*querySetting, error) {
	name, first := query.First()
	if _, shaped := shapedCommands[name]; !shaped {
		return nil, mongoerr.Newf(7746402, "QueryShape can not be computed for command: %s", query)
	}
	db := query.Lookup("$db")
	switch {
	case db.IsMissing() || db.Kind() == value.KindNull:
		return nil, mongoerr.Newf(mongoerr.IDLFailedToParse, "BSON field '%s.$db' is missing but a required field", name)
	case db.Kind() != value.KindString:
		return nil, typeError(name+".$db", db, "string")
	}
	if err := checkDatabase(db.Str()); err != nil {
		return nil, err
	}
	switch {
	case setting && (db.Str() == "local" || db.Str() == "config" || db.Str() == "admin" || isSystem(first.Str())):
		return nil, mongoerr.New(8584900, "setQuerySettings command cannot be used on internal databases or system collections")
	case name == "find" && isIDHack(query) && setting:
		return nil, mongoerr.New(7746606, "setQuerySettings command cannot be used on find queries eligible for IDHACK")
	}
	if err := checkRepresentative(name, query); err != nil {
		return nil, err
	}
	return &querySetting{hash: queryShapeHash(db.Str(), query), representative: query.Clone()}, nil
}

// checkRepresentative makes sure that the fields of a query have the types that
// its command takes.
func checkRepresentative(name string, query value.Doc) error {
	switch name {
	case "find":
		return findSpec.decode(query, new(findArgs))
	case "distinct":
		return distinctSpec.decode(query, new(distinctArgs))
	}
	return aggregateSpec.decode(query, new(aggregateArgs))
}

// isIDHack reports whether a find is a look-up by _id, which is not planned.
func isIDHack(query value.Doc) bool {
	filter := query.Lookup("filter").Doc()
	name, v := filter.First()
	return filter.Len() == 1 && name == "_id" && (v.Kind() != value.KindDocument || !isOperators(v.Doc())) && !query.Has("hint") && !query.Has("skip")
}

func checkSettings(d value.Doc) error {
	if d.IsEmpty() {
		return mongoerr.New(8727502, "settings field in setQuerySettings command cannot be empty")
	}
	var a settingsArgs
	if err := settingsSpec.decodeNested("setQuerySettings.settings", d, &a); err != nil {
		return err
	}
	if v, given := d.Get("reject"); given && v.Kind() != value.KindBool { // null, too
		return mongoerr.Newf(mongoerr.TypeMismatch, "Field 'reject' should be a boolean value, but found: %s", v.Kind())
	}
	if a.Framework != nil && *a.Framework != "classic" && *a.Framework != "sbe" {
		return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'queryFramework' is not a valid value.", *a.Framework)
	}
	if k := a.Hints.Kind(); k != value.Missing && k != value.KindDocument && k != value.KindArray {
		return wrongType("setQuerySettings.settings", "indexHints", a.Hints, "object, array")
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
		return typeError("indexHints", v, "object")
	}
	var a indexHintArgs
	if err := indexHintSpec.decodeNested("indexHints", v.Doc(), &a); err != nil {
		return err
	}
	var ns hintNamespaceArgs
	if err := hintNamespaceSpec.decodeNested("indexHints.ns", a.NS, &ns); err != nil {
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

// settledHints leaves out the hints that allow no index: they mean nothing.
func settledHints(v value.Value) value.Value {
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

// openQuerySettings lists the settings: the stage $querySettings.
func openQuerySettings(h *host, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	var docs []value.Doc
	for _, q := range h.x.running().svc.settled().queries.all() {
		b := value.NewBuilder()
		q.appendTo(b)
		if db := q.representative.Lookup("$db"); s.Spec.Lookup("showDebugQueryShape").Truthy() && !db.IsMissing() {
			b.Document("debugQueryShape", commandShape(db.Str(), q.representative))
		}
		docs = append(docs, b.Doc())
	}
	return agg.Docs(docs...), nil
}
