package users

import (
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// sourceRules are the first stages that do not read the pipeline's collection, with
// the rules for the privileges that they require instead.
// Please keep sorted.
var sourceRules map[string]func(c *kernel.Call, ns storage.Namespace, spec value.Doc) error

func init() {
	sourceRules = map[string]func(*kernel.Call, storage.Namespace, value.Doc) error{
		"$changeStream":       mayWatch,
		"$collStats":          needOnCollection("collStats"),
		"$currentOp":          mayListOps,
		"$documents":          func(*kernel.Call, storage.Namespace, value.Doc) error { return nil },
		"$indexStats":         needOnCollection("indexStats"),
		"$listCatalog":        mayListCatalog,
		"$listClusterCatalog": mayListClusterCatalog,
		"$listLocalSessions":  mayListSessions,
		"$listSampledQueries": needOnCluster("listSampledQueries"),
		"$listSessions":       mayListSessions,
		"$planCacheStats":     needOnCollection("planCacheRead"),
		"$queryStats":         mayReadQueryStats,
		"$querySettings":      needOnCluster("querySettings"),
	}
}

type sourceRule = func(*kernel.Call, storage.Namespace, value.Doc) error

func needOnCollection(action string) sourceRule {
	return func(c *kernel.Call, ns storage.Namespace, _ value.Doc) error {
		return access.Need(c, access.Pattern(ns), action)
	}
}

func needOnCluster(action string) sourceRule {
	return func(c *kernel.Call, _ storage.Namespace, _ value.Doc) error {
		return access.Need(c, auth.Cluster(), action)
	}
}

// mayListOps checks the privilege to see operations of other users.
func mayListOps(c *kernel.Call, _ storage.Namespace, spec value.Doc) error {
	if !Given(spec, "allUsers") {
		return nil
	}
	return access.Need(c, auth.Cluster(), "inprog")
}

// mayListSessions checks the privilege to see sessions of other users.
func mayListSessions(c *kernel.Call, _ storage.Namespace, spec value.Doc) error {
	own := !Given(spec, "allUsers")
	for name, v := range spec.All() {
		if name != "users" {
			continue
		}
		for u := range v.Doc().Values() {
			d := u.Doc()
			own = own && !ambiguous(u) && c.User != nil && d.Lookup("user").Str() == c.User.Name.Name && d.Lookup("db").Str() == c.User.Name.DB
		}
	}
	if own {
		return nil
	}
	return access.Need(c, auth.Cluster(), "listSessions")
}

func mayWatch(c *kernel.Call, ns storage.Namespace, spec value.Doc) error {
	on := access.Pattern(ns)
	switch {
	case Given(spec, "allChangesForCluster"):
		on = auth.AnyNormal()
	case ns.Coll == "":
		on = auth.Database(ns.DB)
	}
	return access.Need(c, on, "find", "changeStream")
}

func mayListCatalog(c *kernel.Call, ns storage.Namespace, _ value.Doc) error {
	if ns.Coll != "" {
		return access.Need(c, access.Pattern(ns), "listCollections", "listIndexes")
	}
	for _, on := range []auth.Pattern{auth.AnyNormal(), auth.Collection("system.js"), auth.AnyBuckets()} {
		if err := access.Need(c, on, "listCollections", "listIndexes"); err != nil {
			return err
		}
	}
	return access.Need(c, auth.Cluster(), "listDatabases")
}

// mayReadQueryStats checks the privilege to see the names in the statistics of queries, or
// hashes in their place.
func mayReadQueryStats(c *kernel.Call, _ storage.Namespace, spec value.Doc) error {
	if spec.Lookup("transformIdentifiers").Doc().Lookup("algorithm").Str() == "hmac-sha-256" {
		return access.Need(c, auth.Cluster(), "queryStatsReadTransformed")
	}
	return access.Need(c, auth.Cluster(), "queryStatsRead")
}

// mayListClusterCatalog checks the privilege to list the collections of a database, or on
// admin of all.
func mayListClusterCatalog(c *kernel.Call, ns storage.Namespace, _ value.Doc) error {
	if ns.DB != "admin" {
		return access.Need(c, auth.Database(ns.DB), "listCollections")
	}
	if err := access.Need(c, auth.AnyNormal(), "listCollections"); err != nil {
		return err
	}
	return access.Need(c, auth.Cluster(), "listDatabases")
}

// MayAggregate checks the privileges for everything that a pipeline reads and
// writes.
func MayAggregate(c *kernel.Call) error {
	ns := access.Target(c)
	if err := mayRunPipeline(c, ns, c.Body.Lookup("pipeline").Doc()); err != nil {
		return err
	}
	if db, coll, ok := writtenBy(c.Body.Lookup("pipeline").Doc(), c.DB); ok {
		return needBypass(c, storage.Namespace{DB: db, Coll: coll})
	}
	return nil
}

// mayRunPipeline checks the privileges for everything that a pipeline over a
// collection reads and writes, including its inner pipelines. A view counts as a
// collection here: reading it does not require the privileges on what it shows.
func mayRunPipeline(c *kernel.Call, ns storage.Namespace, pipeline value.Doc) error {
	if err := maySource(c, ns, pipeline); err != nil {
		return err
	}
	for stage := range pipeline.Values() {
		for name, spec := range stage.Doc().All() {
			if err := mayRunStage(c, ns, name, spec); err != nil {
				return err
			}
		}
	}
	return nil
}

// maySource checks the privilege to read the collection, or the privilege of a first stage
// that reads something else.
func maySource(c *kernel.Call, ns storage.Namespace, pipeline value.Doc) error {
	name, spec := pipeline.Index(0).Doc().First()
	if rule := sourceRules[name]; rule != nil {
		return rule(c, ns, spec.Doc())
	}
	return access.Need(c, access.Pattern(ns), "find")
}

func mayRunStage(c *kernel.Call, ns storage.Namespace, name string, spec value.Value) error {
	switch name {
	case "$lookup", "$graphLookup", "$unionWith", "$out", "$merge":
		if ambiguous(spec) || ambiguous(spec.Doc().Lookup("into")) {
			return access.ErrNotAuthorized
		}
	}
	switch name {
	case "$lookup", "$graphLookup", "$unionWith":
		return mayJoin(c, ns, spec)
	case "$facet":
		for _, v := range spec.Doc().All() {
			if err := mayRunStages(c, ns, v.Doc()); err != nil {
				return err
			}
		}
	case "$out":
		return needTargets(c, ns, spec, "", "insert", "remove")
	case "$merge":
		return needTargets(c, ns, spec, "into", mergeActions(spec.Doc())...)
	}
	return nil
}

// mayRunStages is mayRunPipeline for stages whose documents do not come from the
// collection.
func mayRunStages(c *kernel.Call, ns storage.Namespace, stages value.Doc) error {
	for stage := range stages.Values() {
		for name, spec := range stage.Doc().All() {
			if err := mayRunStage(c, ns, name, spec); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayJoin checks the privileges on the other collection of a stage. The field with
// the pipeline may be before or after the field with the name, so mayJoin first
// collects all names.
func mayJoin(c *kernel.Call, ns storage.Namespace, spec value.Value) error {
	if spec.Kind() == value.KindString {
		return access.Need(c, auth.Namespace(ns.DB, spec.Clone().Str()), "find")
	}
	var names []storage.Namespace
	for key, v := range spec.Doc().All() {
		if key == "from" || key == "coll" {
			names = append(names, namedBy(ns.DB, v))
		}
	}
	if len(names) == 0 {
		names = []storage.Namespace{{DB: ns.DB}}
	}
	piped := false
	for key, v := range spec.Doc().All() {
		if key != "pipeline" {
			continue
		}
		piped = true
		for _, other := range names {
			if err := mayRunPipeline(c, other, v.Doc()); err != nil {
				return err
			}
		}
	}
	for _, other := range names {
		if !piped {
			if err := access.Need(c, access.Pattern(other), "find"); err != nil {
				return err
			}
		}
	}
	return nil
}

// ambiguous reports whether a document has a field twice: authorization and execution might
// not use the same one.
func ambiguous(v value.Value) bool {
	if v.Kind() != value.KindDocument {
		return false
	}
	seen := map[string]bool{}
	for name := range v.Doc().All() {
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

// namedBy reads a collection's name, or {db, coll}.
func namedBy(db string, v value.Value) storage.Namespace {
	if v.Kind() == value.KindDocument {
		return storage.Namespace{DB: access.DatabaseOr(v.Doc().Lookup("db").Clone().Str(), db), Coll: v.Doc().Lookup("coll").Clone().Str()}
	}
	return storage.Namespace{DB: db, Coll: v.Clone().Str()}
}

// needTargets checks the privileges on the collection that $out or $merge writes.
// field is the field with its name, "" if the specification itself is the name.
func needTargets(c *kernel.Call, ns storage.Namespace, spec value.Value, field string, actions ...string) error {
	if spec.Kind() == value.KindString || field == "" {
		return access.Need(c, access.Pattern(namedBy(ns.DB, spec)), actions...)
	}
	for key, v := range spec.Doc().All() {
		if key != field {
			continue
		}
		if err := access.Need(c, access.Pattern(namedBy(ns.DB, v)), actions...); err != nil {
			return err
		}
	}
	return nil
}

// mergeActions returns the actions of $merge on its target, by its modes.
func mergeActions(spec value.Doc) (actions []string) {
	insert, update := true, true
	if v := spec.Lookup("whenNotMatched"); !v.IsNullish() { // insert by default
		insert = v.Str() == "insert"
	}
	if v, ok := spec.Get("whenMatched"); ok && v.Kind() == value.KindString {
		update = v.Str() != "keepExisting" && v.Str() != "fail"
	}
	if insert {
		actions = append(actions, "insert")
	}
	if update {
		actions = append(actions, "update")
	}
	return actions
}

// writtenBy returns the collection that the last stage of a pipeline writes.
func writtenBy(pipeline value.Doc, db string) (string, string, bool) {
	last := value.EmptyDoc
	for stage := range pipeline.Values() {
		last = stage.Doc()
	}
	var ns storage.Namespace
	switch name, spec := last.First(); name {
	case "$out":
		ns = namedBy(db, spec)
	case "$merge":
		ns = namedBy(db, spec)
		if spec.Kind() == value.KindDocument {
			ns = namedBy(db, spec.Doc().Lookup("into"))
		}
	default:
		return "", "", false
	}
	return ns.DB, ns.Coll, true
}
