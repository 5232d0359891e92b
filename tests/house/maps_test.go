package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// TestMapsAreBounded finds every map, sync.Map and cache of the server: what is keyed by a name
// or an id that clients choose must not grow for ever, nor remember what is gone. Each is listed
// in boundedMaps with the way in which it is bounded.
func TestMapsAreBounded(t *testing.T) {
	found := map[string]bool{}
	for _, dir := range []string{"clock", "commands", "internal/auth", "internal/mongoerr", "query", "queue", "server", "storage", "timeseries", "ttl", "value", "wire"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (d.Name() == "testdata" || path == "storage/storagetest" || strings.HasSuffix(path, "harness")) {
				if err == nil {
					err = fs.SkipDir
				}
				return err
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			of := filepath.ToSlash(filepath.Dir(path))
			for _, name := range mapsOf(file) {
				if field := strings.Contains(name, "."); !field || !ofOneQuery(of) {
					found[of+"."+name] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var wrong []string
	for name := range found {
		if boundedMaps[name] == "" {
			wrong = append(wrong, fmt.Sprintf("%s: say in boundedMaps how it is bounded, or how it forgets what is gone", name))
		}
	}
	for name := range boundedMaps {
		if !found[name] {
			wrong = append(wrong, name+": there is no such map any more")
		}
	}
	sort.Strings(wrong)
	if len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
}

// ofOneQuery reports whether the structs of a package belong to one query, update or pipeline, and
// end with it. Variables of such a package do not.
func ofOneQuery(dir string) bool {
	for _, of := range []string{"query/agg", "query/expr", "query/match", "query/project", "query/text", "query/update"} {
		if dir == of || strings.HasPrefix(dir, of+"/") {
			return true
		}
	}
	return false
}

// mapsOf returns the maps of a file that live longer than a call: fields of structs as
// "Type.field", variables of the package unless they are tables that the program contains.
func mapsOf(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if isMap(s.Type) {
					names = append(names, s.Name.Name)
				}
				names = append(names, mapFields(s.Name.Name, s.Type)...)
			case *ast.ValueSpec:
				if d.Tok == token.VAR && isMapVariable(s) {
					names = append(names, s.Names[0].Name)
				}
			}
		}
	}
	return names
}

func mapFields(of string, t ast.Expr) (names []string) {
	s, ok := t.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			if isMap(f.Type) {
				names = append(names, of+"."+name.Name)
			}
			names = append(names, mapFields(of+"."+name.Name, f.Type)...)
		}
	}
	return names
}

// isMapVariable reports whether a variable is a map without contents of its own.
func isMapVariable(s *ast.ValueSpec) bool {
	if s.Type != nil {
		return isMap(s.Type)
	}
	for _, v := range s.Values {
		switch v := v.(type) {
		case *ast.CompositeLit:
			if isMap(v.Type) && len(v.Elts) == 0 {
				return true
			}
		case *ast.CallExpr: // make(map[…]…)
			if len(v.Args) > 0 && isMap(v.Args[0]) {
				return true
			}
		}
	}
	return false
}

// isMap reports whether a type is a map, a sync.Map, a cache, or has one as a type argument or
// element.
func isMap(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.MapType:
		return true
	case *ast.StarExpr:
		return isMap(t.X)
	case *ast.ArrayType:
		return isMap(t.Elt)
	case *ast.SelectorExpr:
		return t.Sel.Name == "Map" || strings.HasSuffix(t.Sel.Name, "Cache") || strings.HasSuffix(t.Sel.Name, "LRU")
	case *ast.IndexExpr:
		return isMap(t.X) || isMap(t.Index)
	case *ast.IndexListExpr:
		return isMap(t.X)
	}
	return false
}

// boundedMaps says of every map how it is bounded.
var boundedMaps = map[string]string{
	"commands/args.Spec.index":                      "the arguments that the program declares",
	"commands/catalog.IndexUse.counters":            "forgotten with the collection, see kernel.forgetGone, and with the index; ForgetAbsent for the rest",
	"commands/catalog.Options.values":               "of one parsed document of options",
	"commands/catalog.PlanCache.Entries":            "maxCachedPlans; belongs to the Meta of a collection and ends with it",
	"commands/ddl.customActions":                    "the actions that the program has",
	"commands/ddl.validation.keys":                  "of one command",
	"commands/diagnostics.expiryGauges.own":         "of one reading of the metrics",
	"commands/diagnostics.expiryGauges.rest":        "one entry for each policy",
	"commands/exec.DistinctSet.large":               "of one command, whose result is bounded",
	"commands/exec.DistinctSet.small":               "of one command, whose result is bounded",
	"commands/exec.Merged.seen":                     "of one query",
	"commands/exec.walker.seen":                     "of one query",
	"commands/explain.Explainable":                  "the commands that the program has",
	"commands/kernel.Clients.conns":                 "open connections, whose number is bounded; CloseConn removes them",
	"commands/kernel.ClusterSettings.Parameters":    "the cluster parameters that the program has",
	"commands/kernel.CommandTable.Table":            "the commands that the program has",
	"commands/kernel.Cursors.Open":                  "maxOpenCursors; they time out, and end with their session",
	"commands/kernel.IndexFilters.Of":               "forgotten with the collection, see kernel.forgetGone; only of collections that exist",
	"commands/kernel.Options.Parameters":            "the command line",
	"commands/kernel.Parameters.Lines":              "the parameters that the program has",
	"commands/kernel.Parameters.Values":             "the parameters that the program has",
	"commands/kernel.Parameters.said":               "the parameters that the program has",
	"commands/kernel.Replication.config":            "one stored document",
	"commands/kernel.Settings.cluster":              "one stored document",
	"commands/kernel.Settings.concerns":             "one stored document",
	"commands/kernel.Settings.features":             "one stored document",
	"commands/observe.FailData.Commands":            "of one fail point, which only tests have",
	"commands/observe.Metrics.commands":             "the commands that the program has; unknown ones are not counted",
	"commands/observe.Profiler.databases":           "forgotten with dropDatabase; of absent databases maxAbsent, see Keep",
	"commands/observe.QueryStats.entries":           "internalQueryStatsCacheSize; what was seen last stays",
	"commands/observe.Usage.collections":            "forgotten with the collection, see kernel.forgetGone; absent names are not kept",
	"commands/observe.Verbosity.levels":             "the components of the log",
	"commands/oplog.Interest.verdicts":              "maxVerdicts, then it begins again",
	"commands/oplog.PathTree.next":                  "the paths of one update",
	"commands/oplog.sharedEvents.Made":              "MaxSharedBytes, then it begins again",
	"commands/oplog.watchers.Groups":                "the change streams that wait; the last one of a group removes it",
	"commands/pipeline.Sources":                     "the stages that the program has",
	"commands/pipeline.sizes.indexes":               "of one command",
	"commands/session.Registry.StoredUses":          "sessions that live, made anew at each storing",
	"commands/session.Registry.sessions":            "Max; they time out",
	"commands/session.RetryHistory.outOfOrder":      "the statements of one retryable write, whose number a batch bounds",
	"commands/users.sourceRules":                    "the stages that the program has",
	"internal/auth.Manager.users":                   "cleared when any user or role changes; only users that exist",
	"internal/auth.Throttle.by":                     "maxGuessed entries, see makeRoom; the user is a digest",
	"internal/auth.privilegeSet":                    "of one user, whose privileges are documents",
	"query/agg/group.accumulators":                  "the accumulators that the program has",
	"query/agg/group.rounders":                      "the series that the program has",
	"query/agg/window.windowFunctions":              "the functions that the program has",
	"query/collation.scripts":                       "locales that MongoDB documents",
	"query/expr.byName":                             "the expressions that the program has",
	"query/expr.row":                                "the expressions that the program has",
	"query/expr/datetime.places":                    "names of the zone database, each written in one way",
	"query/match.fieldOperators":                    "the operators that the program has",
	"query/match.topOperators":                      "the operators that the program has",
	"query/script.Engine.functions":                 "maxFunctions and maxSource, then it begins again",
	"query/script.Operation.handles":                "the functions of one command",
	"commands/session.Snapshots.elsewhere":          "maxElsewhere, and no older than a snapshot may be",
	"commands/session.Snapshots.readers":            "a session is taken out when it does something else, or ends",
	"storage/postgres.failures.last":                "maxFailures, then it begins again",
	"storage/postgres.held.conns":                   "the snapshots that are open, of a bounded number",
	"storage/postgres.waits.since":                  "the connections for commits",
	"queue.Broker.queues":                           "forgotten when the queue is dropped, here or elsewhere",
	"queue.Changes.more":                            "the queues of one transaction",
	"queue.unit":                                    "the queues that one transaction has opened",
	"queue.changed.stamps":                          "a queue and its dead-letter queue, ends with the queue",
	"server.Config.Parameters":                      "the command line",
	"server.Server.conns":                           "open connections, whose number is bounded",
	"server.Server.refused":                         "connections before the data are open, whose number is bounded",
	"server.revocationList.serials":                 "a file of the administrator",
	"server.revocations":                            "files of the administrator",
	"server/console.Console.files":                  "the files that the program contains",
	"server/console.sessions.by":                    "maxSessions; they time out",
	"storage/bunt.Repair.losses":                    "the report of one start",
	"storage/bunt.lostOps.catalog":                  "of one repair",
	"storage/bunt.lostOps.records":                  "of one repair",
	"storage/bunt.store.seen":                       "collections: the drop of one forgets it",
	"storage/internal/claims.Table.held":            "claims of open transactions",
	"storage/internal/claims.Table.used":            "claims of open transactions",
	"storage/internal/kv.Overlay.writes":            "of one transaction",
	"storage/internal/kv.Repair.Adopted":            "the report of one start",
	"storage/internal/kv.Repair.Contradicted":       "the report of one start",
	"storage/internal/kv.Repair.Names":              "the report of one start",
	"storage/internal/kv.Root.names":                "collections: the drop of one forgets it",
	"storage/internal/kv.Txn.final":                 "of one transaction",
	"storage/internal/kv.cacheShard.at":             "the bytes of a shard of the cache",
	"storage/internal/kv.preparation.changed":       "of one build of an index",
	"storage/internal/kvshared.Engine.builds":       "indexes that are being built",
	"storage/internal/kvshared.cachedState.claims":  "of one transaction",
	"storage/internal/kvshared.cachedState.ends":    "of one transaction",
	"storage/internal/kvshared.cachedState.points":  "of one transaction",
	"storage/internal/kvshared.cachedState.ranges":  "of one transaction",
	"storage/internal/kvshared.claimSet.held":       "of one transaction",
	"storage/internal/kvshared.changes.seen":        "the collections that exist",
	"storage/internal/kvshared.lookupCache.now":     "two generations of a bounded size",
	"storage/internal/kvshared.lookupCache.old":     "two generations of a bounded size",
	"storage/internal/kvshared.lookupCache.records": "two generations of a bounded size",
	"storage/internal/kvshared.readSet.claims":      "of one transaction",
	"storage/internal/kvshared.readSet.ends":        "of one transaction",
	"storage/internal/kvshared.readSet.points":      "of one transaction",
	"storage/internal/kvshared.tx.exact":            "of one transaction",
	"storage/internal/kvshared.tx.stats":            "of one transaction",
	"storage/internal/mem.Loader.colls":             "of one start",
	"storage/internal/mem.Snapshot.colls":           "collections: the drop of one forgets it",
	"storage/internal/mem.Snapshot.marks":           "indexes that are being built",
	"storage/internal/ranged.Picks.met":             "of one ranged delete",
	"storage/pebble.store.open.list":                "open snapshots",
	"storage/pebble.trouble.said":                   "the kinds of messages that the engine has",
	"storage/postgres.members.wanted":               "the jobs of servers: those that the program has, and the databases that servers work on",
	"storage/postgres.sizes.m":                      "maxSizes, then it begins again",
	"storage/postgres.store.claimants":              "open transactions",
	"timeseries.Bucket.numbers":                     "the fields of one bucket",
	"timeseries.Catalog.series":                     "maxSeries, the least recently used goes",
	"timeseries.Unpacker.only":                      "the fields of one query",
	"timeseries.fields.byName":                      "the fields of one document",
	"ttl/monitor.Schedule.places":                   "made anew from the catalog, which removes what is gone",
	"ttl/monitor.Schedule.queues":                   "made anew from the catalog, which removes what is gone",
	"ttl.firstDates":                                "the records of one scan",
	"ttl/monitor.pass.failed":                       "of one pass",
	"ttl/monitor.pass.kept":                         "of one pass",
	"ttl.removals.own":                              "the parameter metricsMaxCollections; forgotten with the collection",
}
