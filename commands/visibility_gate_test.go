package commands_test

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

const (
	own      = "the server's own collection, which takes no document TTL"
	measured = "measurements are there until their bucket is removed"
)

// readsStored lists the functions outside the gate that read records directly from the
// storage, each with the reason why documents that have expired under document TTL do
// not matter there or are handled elsewhere.
var readsStored = map[string]string{
	// Readers and writers whose records pass the gate later.
	"exec.walker.readRecords":  "the decoder asks for each record",
	"exec.walker.readDistinct": "not planned where documents can be hidden",
	"exec.recordDecoder.scan":  "entry asks for each record",
	"exec.keyDecoder.scan":     "fetch asks for each record, and ScanIterator.advance later",
	"exec.keyDecoder.fetch":    "asks for each record",
	"exec.distinctDecoder.add": "not planned where documents can be hidden",
	"exec.CountEntries":        "counts only where nothing is hidden",
	"canonical.PlanCollection": "an estimate for the planner",
	"exec.tail.checkPosition":  "capped collections have no document TTL",
	"write.Writer.makeRoom":    "capped collections have no document TTL",
	"ddl.copyCapped":           "refuses collections with document TTL",
	"catalog.current":          "looks for an outdated catalog; the record is not used",
	// These are about the stored records.
	"ddl.AddIndex":                       "the message of a build over what has been settled",
	"ddl.validation.record":              "validate checks what is stored",
	"ddl.validation.has":                 "validate checks what is stored",
	"ddl.validation.entries":             "validate checks what is stored",
	"ddl.tally":                          "validate checks what is stored",
	"oplog.loggedCollection.DeleteRange": "the log of what is removed",
	"oplog.loggedCollection.Truncate":    "the log of what is removed",
	"write.deleteMeasurements":           measured,
	"write.metaUpdate.bucket":            measured,
	"cluster.DropKey":                    own,
	"cluster.Hosts":                      own,
	"cluster.KeyOf":                      own,
	"cluster.Report":                     own,
	"cluster.forgetDropped":              own,
	"cluster.remove":                     own,
	"sharding.runBalancerStatus":         own,
	"crud.killElsewhere":                 own,
	"crud.killsAfter":                    own,
	"housekeeping.KeepSessions":          own,
	"oplog.Log.Examine":                  own,
	"oplog.Log.Open":                     own,
	"oplog.Log.seeReader":                own,
	"oplog.Log.seeRetention":             own,
	"oplog.Log.trimImages":               own,
	"oplog.Log.trimSome":                 own,
	"changestream.newest":                own,
	"changestream.Stream.read":           own,
	"changestream.Stream.checkLost":      own,
	"oplog.Trimmed":                      own,
	"changestream.Stream.seek":           own,
	"changestream.preImageOf":            own,
	"session.Session.CheckUnmoved":       own,
	"session.Session.Load":               own,
	"session.Session.Save":               own,
	"session.Session.ReadParts":          own,
	"session.reapOne":                    own,
	"session.ended":                      own,
	"session.findParts":                  own,
	"ddl.databaseListed":                 own,
	"ddl.forgetOffer":                    own,
	"ddl.readOffer":                      own,
	"kernel.KeepFeatureVersion":          own,
	"kernel.Call.ChangeSetting":          own,
	"kernel.Service.storeMove":           own,
	"kernel.Service.OpenClock":           own,
	"kernel.Service.TakeClock":           own,
	"kernel.Service.forgetTestClock":     own,
	"kernel.Service.otherClocks":         own,
	"kernel.Service.removeClock":         own,
	"users.commonSecret":                 own,
	"kernel.NewSettings":                 own,
	"kernel.Service.FollowSetConfig":     own,
	"replication.LoadTerm":               own,
	"write.Writer.purgeExpired":          "removes what has expired and holds a key",
}

// Commands read records through kernel.Visible, so that a new command cannot return
// expired documents by mistake.
func TestReadsPassTheGate(t *testing.T) {
	found := map[string]bool{}
	for _, call := range storageReads(t) {
		found[call] = true
		if readsStored[call] == "" {
			t.Errorf("%s reads records from the storage: go through kernel.Visible or exec.ScanIterator", call)
		}
	}
	for name := range readsStored {
		if !found[name] {
			t.Errorf("%s does not read from the storage any more: take it off the list", name)
		}
	}
}

// storageReads lists the functions of the commands in which a method of
// storage.Collection that yields records is called.
func storageReads(t *testing.T) (list []string) {
	t.Helper()
	c := &checker{t: t, fset: gotoken.NewFileSet(), done: map[string]*types.Package{}, seen: map[string]bool{}}
	err := filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() == "testdata" {
			return err
		}
		_, err = c.Import(path.Join(commandsPath, filepath.ToSlash(dir)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range c.seen {
		list = append(list, name)
	}
	sort.Strings(list)
	if len(list) == 0 {
		t.Fatal("found no call at all: the test does not work")
	}
	return list
}

// notice records the functions of a package that read records.
func (c *checker) notice(pkg string, files []*ast.File, info *types.Info) {
	for _, f := range files {
		if strings.HasSuffix(c.fset.Position(f.Pos()).Filename, gateFile) {
			continue
		}
		for _, d := range f.Decls {
			name := "a declaration"
			if fn, ok := d.(*ast.FuncDecl); ok {
				name = pkg + "." + funcName(fn)
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if x, ok := n.(*ast.SelectorExpr); ok && (readsRecords(info.Selections[x]) || readsDocuments(info.Uses[x.Sel])) {
					c.seen[name] = true
				}
				return true
			})
		}
	}
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
	case "Get", "GetMany", "Find", "Scan", "ScanIndex", "ScanRecords", "DeleteRange":
		return true
	}
	return false
}

// readsDocuments reports whether an object is a function that reads the documents of a
// collection of the server's own. With another collection it would return expired
// documents.
func readsDocuments(o types.Object) bool {
	fn, ok := o.(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != serverDocsPath || fn.Signature().Recv() != nil {
		return false
	}
	switch fn.Name() {
	case "Find", "Get", "Only", "All", "NewCache":
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

const (
	storagePath  = "github.com/duskdb/duskdb/storage"
	commandsPath = "github.com/duskdb/duskdb/commands"
	gateFile     = "kernel/visible.go"
	// serverDocsPath is the package that keeps the server's own documents.
	serverDocsPath = storagePath + "/serverdocs"
)

// checker imports the packages storage and serverdocs and those of the commands from their
// sources, and nothing else: a call of the storage does not depend on other types.
type checker struct {
	t    *testing.T
	fset *gotoken.FileSet
	done map[string]*types.Package
	seen map[string]bool // functions that read records
}

func (c *checker) Import(importPath string) (*types.Package, error) {
	if p := c.done[importPath]; p != nil {
		return p, nil
	}
	room, ours := strings.CutPrefix(importPath, commandsPath)
	if !ours && importPath != storagePath && importPath != serverDocsPath {
		p := types.NewPackage(importPath, path.Base(importPath))
		p.MarkComplete()
		return p, nil
	}
	dir := "../storage" + strings.TrimPrefix(importPath, storagePath)
	if ours {
		dir = "." + room
	}
	files := parseDir(c.t, c.fset, dir)
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{}}
	quiet := &types.Config{Importer: c, Error: func(error) {}, FakeImportC: true}
	p, _ := quiet.Check(importPath, c.fset, files, info)
	c.done[importPath] = p
	if ours {
		c.notice(path.Base(importPath), files, info)
	}
	return p, nil
}
