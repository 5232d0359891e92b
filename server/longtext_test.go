package server_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// declaredArguments returns the arguments of each command that reads them by a struct: the
// names in its tags.
func declaredArguments(t *testing.T) map[string][]string {
	t.Helper()
	of := map[string][]string{}
	err := filepath.WalkDir("../commands", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return err
		}
		structs, commands := map[string][]string{}, map[string]string{}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					if s, ok := n.Type.(*ast.StructType); ok {
						structs[n.Name.Name] = taggedArguments(s)
					}
				case *ast.CallExpr: // args.New[T]("name")
					x, ok := n.Fun.(*ast.IndexExpr)
					if !ok || len(n.Args) != 1 {
						break
					}
					kind, isName := x.Index.(*ast.Ident)
					name, isText := n.Args[0].(*ast.BasicLit)
					if isName && isText {
						text, _ := strconv.Unquote(name.Value)
						commands[text] = kind.Name
					}
				}
				return true
			})
		}
		for name, kind := range commands {
			of[name] = append(of[name], structs[kind]...)
		}
		return nil
	})
	if err != nil || len(of) < 80 || len(of["saslStart"]) < 5 {
		t.Fatalf("%d commands, saslStart has %v: %v", len(of), of["saslStart"], err)
	}
	return of
}

func taggedArguments(s *ast.StructType) (names []string) {
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		text, _ := strconv.Unquote(f.Tag.Value)
		if name, _, _ := strings.Cut(reflect.StructTag(text).Get("arg"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// longBodies are bodies of a command with a long text in each of its arguments, as a name and
// as a value.
func longBodies(name string, arguments []string, long string) (bodies []value.Doc) {
	text := value.String(long)
	add := func(first value.Value, more ...any) {
		bodies = append(bodies, value.NewDoc(append([]any{name, first}, more...)...))
	}
	add(text)
	add(value.Document(value.NewDoc(long, value.Int32(1))))
	add(value.Int32(1), long, value.Int32(1))
	add(value.String("c"), "filter", value.Document(value.NewDoc("$"+long, value.Int32(1))))
	add(value.String("c"), "pipeline", value.NewArray(value.Document(value.NewDoc("$"+long, value.Int32(1)))), "cursor", value.Document(value.EmptyDoc))
	for _, argument := range append(arguments, "comment", "lsid", "readConcern", "writeConcern", "apiVersion", "maxTimeMS", "$readPreference") {
		if argument == name {
			continue
		}
		add(value.Int32(1), argument, text)
		add(value.String("c"), argument, text)
		add(value.String("c"), argument, value.NewArray(value.Document(value.NewDoc(long, text))))
		add(value.String("c"), argument, value.Document(value.NewDoc(long, text)))
	}
	return bodies
}

// longest keeps the longest line of a log.
type longest struct {
	mu    sync.Mutex
	line  []byte
	total int
}

func (l *longest) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total++
	if len(p) > len(l.line) {
		l.line = bytes.Clone(p)
	}
	return len(p), nil
}

// seen returns the longest line so far, and the number of lines.
func (l *longest) seen() (line []byte, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.line, l.total
}

// TestLongTextOfClients sends every command with a long text in each argument, before and after
// a login, and looks at all that repeats the text: the reply, the log, its ring, currentOp, the
// profiler.
func TestLongTextOfClients(t *testing.T) {
	declared := declaredArguments(t)
	long := strings.Repeat("x", 80_000)
	for _, loggedIn := range []bool{false, true} {
		log, lines, limit := &longest{}, &server.LogLines{}, &server.LogLimit{}
		cfg := server.Config{
			Log:   zerolog.New(limit.Writer(zerolog.MultiLevelWriter(log, lines))).Level(zerolog.InfoLevel),
			Lines: lines, LogLimit: limit, Parameters: map[string]string{"logComponentVerbosity": `{"verbosity": 3}`},
			Profiling: &server.Profiling{Level: 2, SampleRate: 1}, // all operations are slow
		}
		if !loggedIn {
			cfg.Auth, cfg.RootUser, cfg.RootPassword = true, "root", "secret"
		}
		srv := runServer(t, cfg)
		nc, err := net.Dial("tcp", srv.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		c := wire.NewClient(nc)
		ask := func(body value.Doc, db string) value.Doc {
			t.Helper()
			name, _ := body.First()
			b := value.NewBuilder()
			for name, v := range body.All() {
				b.Append(name, v)
			}
			m, err := c.RoundTrip(b.String("$db", db).Doc())
			if err != nil {
				t.Fatalf("%.50s: %v", name, err)
			}
			return m.Body
		}
		asked := 0
		bodies := longBodies("no such command", nil, long)
		bodies = append(bodies, value.NewDoc(strings.Repeat("x", 15e6), value.Int32(1)))
		for v := range ask(value.NewDoc("listCommands", value.Int32(1)), "admin").Lookup("commands").Doc().All() {
			bodies = append(bodies, longBodies(v, declared[v], long)...)
		}
		for i, body := range bodies {
			if testing.Short() && i%4 > 0 {
				continue
			}
			name, _ := body.First()
			reply := ask(body, "admin")
			if asked++; reply.Lookup("ok").AsDouble() != 1 && // customAction has the message twice
				len(reply) > 2*mongoerr.MaxMessage+2000 {
				t.Errorf("%.50s, logged in %v: %d bytes: %.200s … %s", name, loggedIn, len(reply), reply, strings.ReplaceAll(reply.String(), "xxxxx", ""))
			}
		}
		line, total := log.seen()
		if asked < len(bodies)/5 || len(bodies) < 1500 || total < asked/2 {
			t.Errorf("%d commands, %d lines", asked, total)
		}
		if len(line) > 100<<10 {
			t.Errorf("logged in %v: a line of %d bytes: %.300s", loggedIn, len(line), line)
		}
		list, _ := lines.Last()
		if kept := len(strings.Join(list, "")); kept > 1<<20 {
			t.Errorf("the ring has %d bytes", kept)
		}
		if !loggedIn {
			continue
		}
		if d := ask(value.NewDoc("getLog", value.String("global")), "admin"); d.Lookup("ok").AsDouble() != 1 || d.Lookup("log").Doc().Len() < 10 || len(d) > 2<<20 {
			t.Errorf("getLog: %d bytes: %.200s", len(d), d)
		}
		profiled := ask(value.NewDoc("find", value.String("system.profile"), "batchSize", value.Int32(10_000)), "admin").Lookup("cursor").Doc().Lookup("firstBatch").Doc()
		for v := range profiled.Values() {
			if len(v.Doc()) > 250<<10 {
				t.Errorf("a profile of %d bytes: %.200s", len(v.Doc()), v.Doc())
			}
		}
		if profiled.Len() == 0 {
			t.Error("nothing was profiled")
		}
	}
}
