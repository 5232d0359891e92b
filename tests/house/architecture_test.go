package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/duskdb/duskdb"

// imports lists the packages of this module that each package may import, tests excepted.
// "x/*" is x and all packages below it, "*" is every package. A leading "!" excludes; the last
// matching word wins. A package that is not in the table is an error. Please keep each group sorted.
var imports = map[string]string{
	// Foundations.
	"clock":               "",
	"internal/mongoerr":   "value",
	"internal/bsoncolumn": "value",
	"internal/dialect":    "internal/mongoerr",
	"internal/histogram":  "",
	"internal/relaxed":    "value",
	"internal/reserved":   "",
	"internal/scripts":    "internal/dialect",
	"value":               "",
	"wire":                "internal/mongoerr value",

	// Hints to Go's scheduler.
	"internal/runtimehints":  "",
	"storage/internal/share": "internal/runtimehints storage value",

	// The query language: pure functions over documents, without storage.
	"query/collation": "internal/mongoerr value",
	"query/expr/*":    language + " clock query/expr/* query/script",
	"query/geo":       "internal/mongoerr value",
	"query/match/*":   language + " query/expr/* query/geo query/match/* query/script query/text",
	"query/plan/*":    language + " query/expr/* query/match/* query/plan/* internal/reserved",
	"query/project/*": language + " query/expr/* query/match/* query/project/*",
	"query/script/*":  "clock internal/mongoerr query/script/* value",
	"query/text":      "internal/mongoerr value",
	"query/update/*":  language + " query/expr/* query/match/* query/project/* query/update/*",

	// Aggregation, from the ground up.
	"query/agg/accumulate": language + " query/expr/exact",
	"query/agg/spill":      "",
	"query/agg/stage":      language + " query/expr query/match query/project/marks",
	"query/agg/order":      language + " query/agg/spill query/agg/stage query/expr",
	"query/agg/flow":       language + " query/agg/stage query/expr query/match query/project",
	"query/agg/source":     language + " query/agg/stage query/expr query/match",
	"query/agg/group":      language + " query/agg/accumulate query/agg/flow query/agg/order query/agg/spill query/agg/stage query/expr query/script",
	"query/agg/window":     language + " query/agg/accumulate query/agg/flow query/agg/group query/agg/order query/agg/spill query/agg/stage query/expr",
	"query/agg/pack":       language + " query/agg/accumulate query/agg/group query/agg/order query/agg/stage query/expr",
	"query/agg/pipeline":   language + " query/agg/flow query/agg/group query/agg/order query/agg/pack query/agg/source query/agg/stage query/expr query/match",
	"query/agg/lookup":     language + " query/agg/flow query/agg/order query/agg/pipeline query/agg/spill query/agg/stage query/expr query/match",
	"query/agg/fusion":     language + " internal/editdistance query/agg/group query/agg/lookup query/agg/order query/agg/pipeline query/agg/stage query/agg/window query/expr",
	"query/agg/write":      language + " query/agg/flow query/agg/pipeline query/agg/stage query/expr query/match query/update",
	"query/agg":            language + " query/agg/* query/expr query/update",
	// Its tests.
	"query/agg/internal/aggtest": language + " query/agg query/agg/order query/agg/pipeline query/agg/stage query/expr",

	// Index specifications and keys: between the language and storage.
	"query/index": "internal/mongoerr query/collation query/expr/* query/geo query/match/* query/plan query/text internal/reserved storage value",

	// Storage: knows neither filters nor MongoDB's error codes.
	"storage":                   "clock internal/histogram value",
	"storage/bunt":              "clock storage storage/internal/* value",
	"storage/internal/*":        "storage value",
	"storage/internal/kv":       "clock storage storage/internal/claims storage/internal/keydiff storage/internal/ranged storage/internal/recent storage/internal/share value",
	"storage/internal/kvshared": "clock storage storage/internal/claims storage/internal/keydiff storage/internal/kv storage/internal/share value",
	"storage/internal/mem":      "storage storage/internal/keydiff storage/internal/kv storage/internal/recent value",
	"storage/internal/ranged":   "storage storage/internal/keydiff",
	"storage/internal/versus":   "clock",
	"storage/pebble":            "clock storage storage/internal/* !storage/internal/kvshared",
	"storage/postgres":          "clock internal/plain storage storage/internal/kv storage/internal/kvshared storage/internal/versus",
	"storage/serverdocs":        "internal/reserved storage value",
	"storage/storagetest":       "clock internal/linear storage value",
	"storage/stream":            "storage value",

	// Expiry, and what is built upon it: they use the storage contract, no engine.
	"internal/auth":        "clock internal/mongoerr internal/reserved storage storage/serverdocs value",
	"queue":                "clock internal/mongoerr internal/reserved query/expr query/match query/update storage storage/serverdocs ttl ttl/monitor value",
	"timeseries":           "clock internal/mongoerr query/* internal/bsoncolumn internal/reserved storage value",
	"ttl":                  "internal/mongoerr internal/histogram internal/reserved storage value",
	"ttl/internal/ttltest": "query/index storage storage/bunt value",
	"ttl/monitor":          "clock internal/mongoerr internal/runtimehints storage ttl value",

	// The commands, from the ground up: what all packages of commands need, what a running command
	// is made of, what runs plans, the commands by family.
	"commands/args":               "internal/mongoerr value",
	"commands/broadcast":          "",
	"commands/clustertime":        "internal/mongoerr value",
	"commands/changestream/token": "commands/clustertime internal/mongoerr value",
	"commands/catalog":            parts + " commands/args",
	"commands/replset":            "commands/args commands/broadcast internal/mongoerr storage value",
	"commands/oplog":              parts + " commands/broadcast commands/catalog commands/changestream/token commands/clustertime",
	"commands/observe":            parts + " commands/broadcast commands/catalog",
	"commands/session":            parts + " commands/args commands/broadcast commands/catalog commands/clustertime commands/oplog",
	"commands/limits":             parts + " commands/args commands/broadcast",
	"commands/kernel":             parts + " internal/editdistance internal/relaxed " + shared,
	"commands/access":             parts + " " + shared + " commands/kernel",
	"commands/cluster":            parts + " " + shared + " commands/kernel",
	"commands/concern":            parts + " " + shared + " commands/kernel",
	"commands/parameters":         parts + " " + shared + " commands/kernel",
	"commands/gate":               parts + " " + shared + " commands/access commands/kernel",
	"commands/transaction":        parts + " " + shared + " commands/access commands/concern commands/kernel",
	"commands/housekeeping":       parts + " " + shared + " commands/cluster commands/kernel commands/transaction",
	"commands/canonical":          parts + " commands/catalog commands/kernel",
	"commands/exec":               parts + " " + shared + " " + rules + " commands/canonical",
	"commands/write":              parts + " " + shared + " " + rules + " commands/canonical commands/exec",
	"commands/create":             parts + " " + shared + " " + rules + " commands/canonical commands/exec",
	"commands/pipeline":           parts + " " + shared + " " + rules + " commands/canonical commands/create commands/exec commands/housekeeping commands/write",
	"commands/explain":            parts + " " + shared + " " + rules + " commands/canonical commands/exec commands/pipeline commands/write",
	"commands/changestream":       parts + " " + shared + " " + rules + " commands/canonical commands/changestream/token commands/exec commands/pipeline",
	"commands/crud":               parts + " " + running,
	"commands/ddl":                parts + " " + running,
	"commands/mq":                 parts + " " + running,
	"commands/users":              parts + " " + running + " commands/crud commands/ddl",
	"commands/applyops":           parts + " " + running,
	"commands/replication":        parts + " " + running,
	"commands/sharding":           parts + " " + running + " commands/ddl",
	"commands/settings":           parts + " " + running + " commands/parameters",
	"commands/diagnostics":        parts + " " + running + " internal/plain commands/ddl commands/mq commands/replication commands/users",
	"commands":                    parts + " commands/* !commands/internal/*",
	"commands/internal/harness":   "*",

	// The server.
	"internal/engines": "clock storage storage/bunt storage/stream value",
	"server/*":         "* !server/pebble !storage/pebble !server/postgres !storage/postgres !internal/pgtest !cmd/* !internal/commandtest !compat_tests/* !internal/freeport !internal/needs !servertest !storage/storagetest !internal/transfer",
	"server/console":   "clock value wire",
	"server/pebble":    "internal/engines storage/pebble",
	"server/postgres":  "internal/engines storage storage/postgres",
	"servertest":       "clock commands internal/engines server value",

	// The programs.
	"cmd/*":                "clock internal/commandline internal/editdistance internal/freeport internal/mongoerr internal/plain server/* servertest internal/transfer value wire",
	"internal/commandline": "internal/editdistance",
	"internal/release":     "clock",
	"internal/transfer":    "clock internal/reserved value wire",

	// Tests, and what they use.
	"compat_tests/*":        "*",
	"internal/commandtest":  "clock commands internal/engines internal/pgtest server server/pebble server/postgres storage/storagetest value",
	"internal/freeport":     "",
	"internal/editdistance": "",
	"internal/plain":        "",
	"internal/linear":       "",
	"internal/needs":        "",
	"internal/pgtest":       "clock internal/freeport internal/needs",
	"internal/proc":         "internal/needs",
	"tests/access":          "value wire",
	"tests/crash":           "value wire",
	"tests/crash/*":         "*",
}

// language is what every package of the query language may import.
const language = "clock internal/dialect internal/mongoerr query/collation value"

// parts are the packages outside of commands that all packages of commands may import: no
// sockets, no engines.
const parts = "internal/auth clock internal/dialect internal/mongoerr query/* queue internal/reserved internal/runtimehints storage storage/serverdocs storage/stream timeseries ttl ttl/monitor value"

// shared are the packages that a running command is made of, rules those with what holds for
// all commands, running all that a family of commands may import.
const (
	shared  = "commands/args commands/broadcast commands/catalog commands/clustertime commands/limits commands/observe commands/oplog commands/replset commands/session"
	rules   = "commands/access commands/cluster commands/concern commands/gate commands/kernel commands/transaction"
	running = shared + " " + rules + " commands/canonical commands/changestream commands/changestream/token commands/create commands/exec commands/explain commands/housekeeping commands/pipeline commands/write"
)

// foreign lists the packages that may import a library, for libraries that must not spread.
var foreign = map[string]string{
	"github.com/cockroachdb/pebble": "storage/pebble",
	"github.com/jackc/pgx":          "internal/pgtest storage/postgres",
	"github.com/dlclark/regexp2":    "query/expr/pcre",
	"github.com/tidwall/buntdb":     "storage/bunt",
	"modernc.org/libc":              "query/script/engine",
	"modernc.org/libquickjs":        "query/script/engine",
	"go.mongodb.org/mongo-driver":   "cmd/duskbench compat_tests/* tests/crash/* servertest value wire",
}

// Time comes from package clock. Elsewhere these functions of package time are banned, but for
// deadlines of sockets, and for programs that watch other processes.
var (
	bannedTime    = strings.Fields("After AfterFunc NewTicker NewTimer Now Since Sleep Tick Until")
	freeOfTimeBan = "clock cmd/duskbench compat_tests/* internal/proc tests/crash/*"
	hasSockets    = "server wire"
)

func TestImports(t *testing.T) {
	for _, f := range sourceFiles(t) {
		if f.test {
			continue
		}
		for _, imp := range f.ast.Imports {
			if why := forbidden(f.pkg, importPath(imp)); why != "" {
				t.Errorf("%s: %s", f.name, why)
			}
		}
	}
}

func TestTimeComesFromClock(t *testing.T) {
	for _, f := range sourceFiles(t) {
		for _, use := range timeUses(f) {
			t.Errorf("%s: time.%s; use the injected clock.Clock", use.pos, use.name)
		}
	}
}

// source is one parsed file of the module.
type source struct {
	name string // relative to the module
	pkg  string // its package, relative to the module
	test bool
	fset *token.FileSet
	ast  *ast.File
}

// sourceFiles parses the files themselves instead of asking the go command, so that files for
// other systems and build tags are checked as well.
func sourceFiles(t *testing.T) []source {
	t.Helper()
	var files []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && skipDir(base):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(base, ".go"):
			return nil
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, newSource(fset, filepath.ToSlash(name), f))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func newSource(fset *token.FileSet, name string, f *ast.File) source {
	return source{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), fset, f}
}

// skipDir reports whether a directory is no part of DuskDB. The directories of its other modules
// are.
func skipDir(base string) bool {
	return base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".")
}

func importPath(imp *ast.ImportSpec) string {
	p, _ := strconv.Unquote(imp.Path.Value) // the parser has checked it
	return p
}

// forbidden returns why pkg may not import a path, or "" if it may.
func forbidden(pkg, imported string) string {
	for library, users := range foreign {
		if below(imported, library) && !contains(users, pkg) {
			return pkg + " must not import " + imported + ": only " + users + " may"
		}
	}
	target, ours := strings.CutPrefix(imported, module+"/")
	if !ours {
		return ""
	}
	allowed, ok := allowedFor(pkg)
	if !ok {
		return pkg + " has no place in the table of allowed imports"
	}
	if !contains(allowed, target) {
		return pkg + " must not import " + target
	}
	return ""
}

func allowedFor(pkg string) (allowed string, ok bool) {
	for p := pkg; ; p = path.Dir(p) {
		if allowed, ok = imports[p]; ok && p == pkg {
			return allowed, true
		}
		if allowed, ok = imports[p+"/*"]; ok {
			return allowed, true
		}
		if p == "." {
			return "", false
		}
	}
}

// contains reports whether the list of patterns includes the package.
func contains(list, pkg string) bool {
	in := false
	for pattern := range strings.FieldsSeq(list) {
		pattern, not := strings.CutPrefix(pattern, "!")
		tree, isTree := strings.CutSuffix(pattern, "/*")
		if pattern == "*" || pattern == pkg || isTree && below(pkg, tree) {
			in = !not
		}
	}
	return in
}

// below reports whether p is dir or lies in it.
func below(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// timeUse is one use of a banned function.
type timeUse struct {
	pos  token.Position
	name string
}

// timeUses finds the banned uses of package time in a file.
func timeUses(f source) (uses []timeUse) {
	name := timeImport(f.ast)
	banned := bannedTime
	switch {
	case name == "":
		return nil
	case f.test:
		return sleeps(f, name)
	case contains(freeOfTimeBan, f.pkg):
		return nil
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			return !contains(hasSockets, f.pkg) || !setsDeadline(call)
		}
		if called := selected(n, name); slices.Contains(banned, called) {
			uses = append(uses, timeUse{f.fset.Position(n.Pos()), called})
		}
		return true
	})
	return uses
}

// sleeps finds where a test sleeps: in time.Sleep, or by waiting for time.After alone. A time-out
// in a select, for what should never happen, is good; tests of other processes use proc.Pause.
func sleeps(f source, name string) (uses []timeUse) {
	cases := map[ast.Node]bool{}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		called := selected(n, name)
		if c, ok := n.(*ast.CommClause); ok {
			cases[c.Comm] = true
		}
		if statement, ok := n.(*ast.ExprStmt); ok && !cases[n] {
			if receive, ok := statement.X.(*ast.UnaryExpr); ok {
				if call, ok := receive.X.(*ast.CallExpr); ok && selected(call.Fun, name) == "After" {
					called = "Sleep"
				}
			}
		}
		if called == "Sleep" {
			uses = append(uses, timeUse{f.fset.Position(n.Pos()), called})
		}
		return true
	})
	return uses
}

// selected is the name that a node selects from a package.
func selected(n ast.Node, pkg string) string {
	if s, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
			return s.Sel.Name
		}
	}
	return ""
}

// timeImport returns the name by which the file knows package time.
func timeImport(f *ast.File) string {
	for _, imp := range f.Imports {
		if importPath(imp) != "time" {
			continue
		}
		if imp.Name != nil {
			return imp.Name.Name
		}
		return "time"
	}
	return ""
}

func setsDeadline(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"}, sel.Sel.Name)
}

func TestForbidden(t *testing.T) {
	tests := []struct {
		pkg, imported string
		ok            bool
	}{
		{"value", "fmt", true},
		{"value", module + "/clock", false},
		{"internal/mongoerr", module + "/value", true},
		{"wire", module + "/commands", false},
		{"commands", module + "/wire", false},
		{"commands", module + "/storage", true},
		{"commands", module + "/storage/bunt", false},
		{"commands", module + "/query/match", true},
		{"server", module + "/storage/bunt", true},
		{"server", module + "/cmd/duskdb", false},
		{"query/agg", module + "/storage", false},
		{"query/expr", module + "/query/match", false},
		{"query/agg/accumulate", module + "/query/expr/exact", true},
		{"query/agg/flow", module + "/query/agg/stage", true},
		{"query/agg/stage", module + "/query/agg/flow", false},
		{"query/agg/pipeline", module + "/query/agg/lookup", false},
		{"query/agg/window", module + "/query/agg/pipeline", false},
		{"query/expr", module + "/query/agg/accumulate", false},
		{"server/x", module + "/storage/bunt", true},
		{"commands/x", module + "/server", false},
		{"storage/other", module + "/value", false},
		{"query/match", module + "/query/expr", true},
		{"storage", module + "/internal/mongoerr", false},
		{"ttl", module + "/storage", true},
		{"ttl", module + "/storage/bunt", false},
		{"timeseries", module + "/query/expr", true},
		{"cmd/duskdb", module + "/server", true},
		{"cmd/duskdb", module + "/commands", false},
		{"nowhere", module + "/value", false},
		{"ttl", "github.com/tidwall/buntdb", false},
		{"storage/bunt", "github.com/tidwall/buntdb", true},
		{"commands", "go.mongodb.org/mongo-driver/v2/bson", false},
		{"value", "go.mongodb.org/mongo-driver/v2/bson", true},
		{"compat_tests/crud", "go.mongodb.org/mongo-driver/v2/mongo", true},
	}
	for _, tt := range tests {
		if why := forbidden(tt.pkg, tt.imported); (why == "") != tt.ok {
			t.Errorf("%s imports %s: %q", tt.pkg, tt.imported, why)
		}
	}
}

func TestTimeUses(t *testing.T) {
	const head = "package p\nimport \"time\"\n"
	tests := []struct {
		name, src string
		want      []string
	}{
		{"ttl/a.go", head + "var x = time.Now()", []string{"Now"}},
		{"ttl/a.go", head + "var f = time.Sleep", []string{"Sleep"}},
		{"ttl/a.go", head + "func f() { <-time.After(time.Second); time.NewTicker(1) }", []string{"After", "NewTicker"}},
		{"ttl/a.go", "package p\nimport clk \"time\"\nvar x = clk.Now()", []string{"Now"}},
		{"ttl/a.go", head + "var d time.Duration = 3 * time.Second", nil},
		{"ttl/a.go", head + "func f(c net.Conn) { c.SetReadDeadline(time.Now()) }", []string{"Now"}},
		{"server/a.go", head + "func f(c net.Conn) { c.SetReadDeadline(time.Now().Add(1)) }", nil},
		{"server/a.go", head + "func f() { time.Now() }", []string{"Now"}},
		{"clock/a.go", head + "var x = time.Now()", nil},
		{"ttl/a_test.go", head + "func f() { time.Sleep(1); <-time.After(1) }", []string{"Sleep", "Sleep"}},
		{"tests/crash/a_test.go", head + "func f() { select { case <-time.After(1): } }", nil},
		{"tests/crash/a.go", head + "func f() { time.Sleep(1) }", nil},
		{"ttl/a.go", "package p\nvar time T\nvar x = time.Now()", nil},
	}
	for _, tt := range tests {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, tt.name, tt.src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, use := range timeUses(newSource(fset, tt.name, f)) {
			got = append(got, use.name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s, %s: %v, want %v", tt.name, tt.src, got, tt.want)
		}
	}
}
