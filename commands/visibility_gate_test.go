package commands

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"go/types"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

const (
	own      = "the server's own collection, which takes no document TTL"
	measured = "measurements are there until their bucket is removed"
)

// readsStored lists the functions outside of visibility.go that read records
// from the storage themselves, each with the reason why what has expired under
// document TTL is none of its business or is seen to elsewhere.
var readsStored = map[string]string{
	// Readers and writers whose records pass the gate behind them.
	"records.readRecords":  "records.Next and entry ask for each record",
	"records.readRanges":   "records.Next and entry ask for each record",
	"records.read":         "records.Next and entry ask for each record",
	"records.readDistinct": "not planned where documents can be hidden",
	"records.value":        "not planned where documents can be hidden",
	"records.entry":        "records.Next and entry ask for each record",
	"Call.countEntries":    "counts only where nothing is hidden",
	"planCollection":       "an estimate for the planner",
	"tail.checkPosition":   "capped collections have no document TTL",
	"writer.makeRoom":      "capped collections have no document TTL",
	"Call.copyCapped":      "refuses collections with document TTL",
	// What is stored is what it is about.
	"Call.addIndex":             "the message of a build over what has been settled",
	"validation.record":         "validate checks what is stored",
	"validation.has":            "validate checks what is stored",
	"loggedCollection.Update":   "the version before a change",
	"loggedCollection.Delete":   "the version before a removal",
	"loggedCollection.Truncate": "the log of what is removed",
	"Call.deleteMeasurements":   measured,
	"Call.updateBucket":         measured,
	"Call.keep":                 own,
	"Call.readParts":            own,
	"Call.restoreSession":       own,
	"Service.keepSessions":      own,
	"changeLog.open":            own,
	"changeLog.trimImages":      own,
	"changeLog.trimSome":        own,
	"changeStream.position":     own,
	"changeStream.read":         own,
	"changeStream.seek":         own,
	"databaseListed":            own,
	"forgetOffer":               own,
	"keepOnly":                  own,
	"offer.store":               own,
	"onlyDocument":              own,
	"preImageOf":                own,
	"readOffer":                 own,
	"sessionRecords.open":       own,
	"sessionRecords.openParts":  own,
	"sessionRecords.reap":       own,
	"storedSetting":             own,
}

// Whoever reads records for a command does so through the gate of visibility.go,
// so that a new command cannot forget what has expired.
func TestReadsPassTheGate(t *testing.T) {
	found := map[string]bool{}
	for _, call := range storageReads(t) {
		found[call] = true
		if readsStored[call] == "" {
			t.Errorf("%s reads records from the storage: go through sight or records (visibility.go)", call)
		}
	}
	for name := range readsStored {
		if !found[name] {
			t.Errorf("%s does not read from the storage any more: take it off the list", name)
		}
	}
}

// storageReads lists the functions of the package in which a method of
// storage.Collection that yields records is called.
func storageReads(t *testing.T) (list []string) {
	t.Helper()
	fset := gotoken.NewFileSet()
	files := parseDir(t, fset, ".")
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	quiet := &types.Config{Importer: storageOnly{t, fset}, Error: func(error) {}, FakeImportC: true}
	_, _ = quiet.Check("github.com/duskdb/duskdb/commands", fset, files, info)
	seen := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(fset.Position(f.Pos()).Filename, "visibility.go") {
			continue
		}
		for _, d := range f.Decls {
			name := "a declaration"
			if fn, ok := d.(*ast.FuncDecl); ok {
				name = funcName(fn)
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if x, ok := n.(*ast.SelectorExpr); ok && readsRecords(info.Selections[x]) {
					seen[name] = true
				}
				return true
			})
		}
	}
	for name := range seen {
		list = append(list, name)
	}
	sort.Strings(list)
	if len(list) == 0 {
		t.Fatal("found no call at all: the test does not work")
	}
	return list
}

func readsRecords(s *types.Selection) bool {
	if s == nil || s.Obj().Pkg() == nil || s.Obj().Pkg().Path() != storagePath {
		return false
	}
	sig, ok := s.Obj().Type().(*types.Signature)
	if !ok || sig.Recv() == nil || !strings.HasSuffix(sig.Recv().Type().String(), ".Collection") {
		return false
	}
	switch s.Obj().Name() {
	case "Get", "Find", "Scan", "ScanIndex":
		return true
	}
	return false
}

func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	typ := fn.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	if g, ok := typ.(*ast.IndexExpr); ok {
		typ = g.X
	}
	return typ.(*ast.Ident).Name + "." + fn.Name.Name
}

func parseDir(t *testing.T, fset *gotoken.FileSet, dir string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

const storagePath = "github.com/duskdb/duskdb/storage"

// storageOnly imports the package storage from its source and nothing else:
// what a call of it looks like does not depend on other types.
type storageOnly struct {
	t    *testing.T
	fset *gotoken.FileSet
}

func (s storageOnly) Import(path string) (*types.Package, error) {
	if path != storagePath {
		p := types.NewPackage(path, filepath.Base(path))
		p.MarkComplete()
		return p, nil
	}
	quiet := &types.Config{Importer: s, Error: func(error) {}}
	p, _ := quiet.Check(path, s.fset, parseDir(s.t, s.fset, "../storage"), nil)
	return p, nil
}
