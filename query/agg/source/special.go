package source

import (
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Special is a stage whose documents the host makes: statistics, operations, sessions,
// change events.
type Special struct {
	stage.Opaque
	Source stage.Special
}

// Name is the name of the stage.
func (s *Special) Name() string { return s.Source.Stage }

// Spec is the stage as explain shows it.
func (s *Special) Spec() value.Value { return value.Document(s.Source.Spec) }

// Gives lists the metadata that the documents may have.
func (s *Special) Gives() (kinds []expr.MetaKind, all bool) { return nil, true }

// OfIndexes reports whether the documents describe the indexes of a collection. For a
// view they describe those of its underlying collection.
func (s *Special) OfIndexes() bool {
	return s.Source.Stage == "$indexStats" || s.Source.Stage == "$planCacheStats"
}

// Open runs the stage.
func (s *Special) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	src.Close()
	return x.Host.Special(x, s.Source)
}

func fromHost(p *stage.Parser, name string, spec value.Doc) []stage.Stage {
	return []stage.Stage{&Special{Source: stage.Special{Stage: name, DB: p.DB, Coll: p.Coll, Spec: spec}}}
}

// ParseCollStats compiles $collStats.
func ParseCollStats(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(5447000, "$collStats must take a nested object but found: $collStats: %s", v)
	}
	for k, f := range v.Doc().All() {
		switch k {
		case "latencyStats", "storageStats", "count", "queryExecStats", "operationStats":
			if f.Kind() == value.KindNull { // as if it were not there
				continue
			}
			if f.Kind() != value.KindDocument {
				return nil, stage.WrongType("$collStats", k, f, "object")
			}
			if err := checkCollStatsOption(k, f.Doc()); err != nil {
				return nil, err
			}
		default:
			return nil, stage.UnknownField("$collStats", k)
		}
	}
	return fromHost(p, "$collStats", stage.WithoutNulls(v.Doc())), nil
}

// collStatsOptions are the fields that the parts of $collStats may have.
var collStatsOptions = map[string]map[string]string{
	"count":          {},
	"latencyStats":   {"histograms": "bool"},
	"operationStats": {},
	"queryExecStats": {},
	"storageStats":   {"scale": "number", "verbose": "bool", "waitForLock": "bool", "numericOnly": "bool"},
}

func checkCollStatsOption(option string, d value.Doc) error {
	if (option == "count" || option == "queryExecStats") && !d.IsEmpty() {
		return mongoerr.Newf(31170, "The %q option of $collStats must be an empty object, but got: %s", option, d)
	}
	for k, f := range d.All() {
		want, ok := collStatsOptions[option][k]
		switch {
		case f.Kind() == value.KindNull && option == "storageStats", !ok && option == "storageStats": // null counts as absent; the value of storageStats is ignored
		case !ok:
			return stage.UnknownField("$collStats."+option, k)
		case want == "bool" && f.Kind() != value.KindBool:
			return stage.WrongType("$collStats."+option, k, f, "bool")
		case want == "number" && !f.IsNumber():
			return stage.WrongTypes("$collStats."+option, k, f, "long, int, decimal, double")
		case k == "scale" && f.SafeInt64() < 1:
			return mongoerr.Newf(mongoerr.BadValue, "BSON field 'scale' value must be >= 1, actual value '%d'", f.SafeInt64())
		}
	}
	return nil
}

// ParseIndexStats compiles $indexStats.
func ParseIndexStats(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument || !v.Doc().IsEmpty() {
		return nil, mongoerr.New(28803, "The $indexStats stage specification must be an empty object")
	}
	return fromHost(p, "$indexStats", v.Doc()), nil
}

// currentOpOptions are the options of $currentOp, all booleans.
var currentOpOptions = map[string]bool{
	"allUsers": true, "backtrace": true, "idleConnections": true, "idleCursors": true, "idleSessions": true,
	"localOps": true, "targetAllNodes": true, "truncateOps": true,
}

// ParseCurrentOp compiles $currentOp.
func ParseCurrentOp(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	d := p.Scope.Dialect()
	if v.Kind() != value.KindDocument {
		return nil, d.Error(dialect.CurrentOpObject, v.Kind())
	}
	if err := checkOnAdmin(p, "$currentOp"); err != nil {
		return nil, err
	}
	for k, f := range v.Doc().All() {
		switch {
		case !currentOpOptions[k]:
			return nil, d.Error(dialect.CurrentOpUnknown, k)
		case f.Kind() != value.KindBool:
			return nil, d.Error(dialect.CurrentOpType, k, f.Kind())
		case k == "targetAllNodes" && f.Bool() && d.Has(dialect.StageArguments):
			return nil, mongoerr.New(mongoerr.FailedToParse, "$currentOp supports targetAllNodes parameter only for sharded clusters")
		}
	}
	return fromHost(p, "$currentOp", v.Doc()), nil
}

// checkOnAdmin checks that a stage runs on the database admin without a collection.
// Definitions of views are checked as a whole.
func checkOnAdmin(p *stage.Parser, name string) error {
	if p.View == "" && (p.DB != "admin" || p.Coll != "") {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "%s must be run against the 'admin' database with {aggregate: 1}", name)
	}
	return nil
}

// ParseListLocalSessions compiles $listLocalSessions.
func ParseListLocalSessions(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if p.Coll != "" && p.View == "" {
		return nil, mongoerr.New(mongoerr.InvalidNamespace, "$listLocalSessions must be run against the database with {aggregate: 1}, not a collection")
	}
	if err := checkSessionsSpec("$listLocalSessions", v); err != nil {
		return nil, err
	}
	return fromHost(p, "$listLocalSessions", v.Doc()), nil
}

// ParseListSessions compiles $listSessions.
func ParseListSessions(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if err := checkSessionsSpec("$listSessions", v); err != nil {
		return nil, err
	}
	if p.DB != "config" || p.Coll != "system.sessions" {
		return nil, mongoerr.New(mongoerr.InvalidNamespace, "$listSessions may only be run against config.system.sessions")
	}
	return fromHost(p, "$listSessions", v.Doc()), nil
}

// checkSessionsSpec checks {allUsers: bool} and {users: [{user, db}]}.
func checkSessionsSpec(where string, v value.Value) error {
	if v.Kind() != value.KindDocument {
		return mongoerr.Newf(mongoerr.TypeMismatch, "%s options must be specified in an object, but found: %s", where, v.Kind())
	}
	all, users := false, false
	for k, f := range v.Doc().All() {
		switch {
		case f.Kind() == value.KindNull && (k == "allUsers" || k == "users"): // as if it were not there
		case k == "allUsers":
			if f.Kind() != value.KindBool {
				return stage.WrongType(where, k, f, "bool")
			}
			all = f.Bool()
		case k == "users":
			if f.Kind() != value.KindArray {
				return stage.WrongType(where, k, f, "array")
			}
			for u := range f.Doc().Values() {
				if u.Kind() == value.KindNull {
					continue
				}
				if err := checkSessionUser(where, u); err != nil {
					return err
				}
				users = true
			}
		default:
			return stage.UnknownField(where, k)
		}
	}
	if all && users {
		return mongoerr.Newf(mongoerr.UnsupportedFormat, "%s may not specify {allUsers:true} and {users:[...]} at the same time", where)
	}
	return nil
}

func checkSessionUser(where string, u value.Value) error {
	if u.Kind() != value.KindDocument {
		return stage.WrongType(where, "users", u, "object")
	}
	for name := range u.Doc().All() {
		if name != "user" && name != "db" {
			return stage.UnknownField(where+".users", name)
		}
	}
	for _, name := range []string{"user", "db"} {
		switch f := u.Doc().Lookup(name); {
		case f.IsNullish():
			return stage.MissingField(where+".users", name)
		case f.Kind() != value.KindString:
			return stage.WrongType(where+".users", name, f, "string")
		}
	}
	return nil
}

// ParsePlanCacheStats compiles $planCacheStats.
func ParsePlanCacheStats(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "$planCacheStats value must be an object. Found: %s", v.Kind())
	}
	if v.Doc().Len() > 1 {
		return nil, mongoerr.New(mongoerr.FailedToParse, "$planCacheStats parameters object must contain at most one field")
	}
	for k, f := range v.Doc().All() {
		if k != "allHosts" {
			return nil, mongoerr.Newf(mongoerr.FailedToParse, "$planCacheStats parameters object may contain only 'allHosts' field. Found: %s", k)
		}
		if f.Kind() != value.KindBool {
			return nil, mongoerr.Newf(13111, "Wrong type for field (%s) %s != bool", k, f.Kind())
		}
		if f.Bool() {
			return nil, mongoerr.New(4503200, "$planCacheStats stage supports allHosts parameter only for sharded clusters")
		}
	}
	return fromHost(p, "$planCacheStats", v.Doc()), nil
}

// ParseListCatalog compiles $listCatalog.
func ParseListCatalog(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument || !v.Doc().IsEmpty() {
		return nil, mongoerr.New(6200600, "The $listCatalog stage specification must be an empty object")
	}
	if p.Coll == "" && p.DB != "admin" {
		return nil, mongoerr.New(mongoerr.InvalidNamespace, "Collectionless $listCatalog must be run against the 'admin' database with {aggregate: 1}")
	}
	return fromHost(p, "$listCatalog", v.Doc()), nil
}

// ParseListClusterCatalog compiles $listClusterCatalog.
func ParseListClusterCatalog(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	const name = "$listClusterCatalog"
	if p.Coll != "" && p.View == "" {
		return nil, mongoerr.Newf(9621301, "The %s stage must run on a database, not a collection.", name)
	}
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(9621302, "%s must take an object but found: %s: %s", name, name, v)
	}
	for k, f := range v.Doc().All() {
		switch {
		case k != "shards" && k != "tracked" && k != "balancingConfiguration":
			return nil, stage.UnknownField(name, k)
		case f.Kind() != value.KindBool:
			return nil, stage.WrongType(name, k, f, "bool")
		}
	}
	return fromHost(p, name, v.Doc()), nil
}

// ParseListSampledQueries compiles $listSampledQueries.
func ParseListSampledQueries(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(6876001, "$listSampledQueries expects an object")
	}
	if err := checkOnAdmin(p, "$listSampledQueries"); err != nil {
		return nil, err
	}
	for k, f := range v.Doc().All() {
		if k != "namespace" {
			return nil, stage.UnknownField("$listSampledQueries", k)
		}
		if f.Kind() != value.KindString {
			return nil, stage.WrongType("$listSampledQueries", k, f, "string")
		}
	}
	return fromHost(p, "$listSampledQueries", v.Doc()), nil
}

// ParseQuerySettings compiles $querySettings.
func ParseQuerySettings(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(7746800, "$querySettings stage expects a document as argument")
	}
	for k, f := range v.Doc().All() {
		if k != "showDebugQueryShape" {
			return nil, stage.UnknownField("$querySettings", k)
		}
		if f.Kind() != value.KindBool {
			return nil, stage.WrongType("$querySettings", k, f, "bool")
		}
	}
	return fromHost(p, "$querySettings", v.Doc()), nil
}

// ParseQueryStats compiles $queryStats.
func ParseQueryStats(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	const name = "$queryStats"
	if !p.Scope.Dialect().Has(dialect.QueryStats) {
		return nil, mongoerr.Newf(mongoerr.QueryFeatureNotAllowed, "%s is not allowed in the current configuration. You may need to enable the corresponding feature flag", name)
	}
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "%s value must be an object. Found: %s", name, v.Kind())
	}
	for k, f := range v.Doc().All() {
		switch {
		case k != "transformIdentifiers":
			return nil, stage.UnknownField(name, k)
		case f.IsNullish():
		case f.Kind() != value.KindDocument:
			return nil, stage.WrongType(name, k, f, "object")
		default:
			if err := checkTransform(name+"."+k, f.Doc()); err != nil {
				return nil, err
			}
		}
	}
	if err := checkOnAdmin(p, name); err != nil {
		return nil, err
	}
	return fromHost(p, name, v.Doc()), nil
}

// checkTransform checks how $queryStats disguises names.
func checkTransform(where string, d value.Doc) error {
	for k, f := range d.All() {
		switch {
		case k != "algorithm" && k != "hmacKey":
			return stage.UnknownField(where, k)
		case f.IsNullish():
		case k == "algorithm" && f.Kind() != value.KindString:
			return stage.WrongType(where, k, f, "string")
		case k == "algorithm" && f.Str() != "none" && f.Str() != "hmac-sha-256":
			return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.algorithm' is not a valid value.", f.Str(), where)
		case k == "hmacKey" && f.Kind() != value.KindBinary:
			return stage.WrongType(where, k, f, "binData")
		case k == "hmacKey":
			if subtype, _ := f.Binary(); subtype != sensitiveBinary {
				return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.hmacKey' is the wrong binData type '%s', expected type 'sensitive'", where, binaryNames[subtype])
			}
		}
	}
	switch key := d.Lookup("hmacKey"); {
	case d.Lookup("algorithm").IsNullish():
		return stage.MissingField(where, "algorithm")
	case d.Lookup("algorithm").Str() == "hmac-sha-256" && key.IsNullish():
		return mongoerr.New(mongoerr.FailedToParse, "The 'hmacKey' parameter of the $queryStats stage must be specified when applying the hmac-sha-256 algorithm")
	}
	return nil
}

// binaryNames name the subtypes of binary data in messages, as far as clients use them.
var binaryNames = map[byte]string{0: "general", 1: "function", 2: "byte(deprecated)", 3: "UUID(deprecated)", 4: "UUID", 5: "MD5", 6: "encrypt", 7: "column", 128: "Custom"}

// sensitiveBinary is the subtype of binary data that is not shown in logs.
const sensitiveBinary = 8

// The stages that a standalone server refuses.

// RefuseSearch refuses $search, $searchMeta and $vectorSearch.
func RefuseSearch(*stage.Parser, value.Value) ([]stage.Stage, error) {
	return nil, searchNotEnabled("$search and $vectorSearch aggregation stages requires")
}

// RefuseListSearchIndexes refuses $listSearchIndexes.
func RefuseListSearchIndexes(*stage.Parser, value.Value) ([]stage.Stage, error) {
	return nil, searchNotEnabled("Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires")
}

func searchNotEnabled(what string) error {
	return mongoerr.Newf(mongoerr.SearchNotEnabled, "Using %s additional configuration. Please connect to Atlas or an AtlasCLI local deployment to enable. "+
		"For more information on how to connect, see https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs.", what)
}

// RefuseShardedDataDistribution refuses $shardedDataDistribution.
func RefuseShardedDataDistribution(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	switch {
	case v.Kind() != value.KindDocument || !v.Doc().IsEmpty():
		return nil, mongoerr.New(6789100, "The $shardedDataDistribution stage specification must be an empty object")
	case p.DB != "admin":
		return nil, mongoerr.New(6789102, "The $shardedDataDistribution stage can only be run on the admin database")
	}
	return nil, mongoerr.New(40644, "$shardedDataDistribution can only be run on mongoS")
}
