package crash

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// longScripts take minutes in a function of the language, or in an operator.
var longScripts = []string{
	`var n = (1n << 500000n) - 1n; for (;;) n * n`,
	`for (;;) new Float64Array(11e6).fill(1.5)`,
	`for (;;) Date.parse("x".repeat(1e6))`,
}

// scriptCommand runs a script, in one of the places that have scripts.
func scriptCommand(door int, script, comment string, more ...any) []any {
	f := value.Code("function() {" + script + "}")
	var fields []any
	switch door % 4 {
	case 0:
		stage := value.NewDoc("$project", value.Document(value.NewDoc("r", value.Document(value.NewDoc("$function",
			value.Document(value.NewDoc("body", f, "args", value.NewArray(), "lang", value.String("js"))))))))
		fields = []any{"aggregate", value.String("c"), "pipeline", value.NewArray(value.Document(stage)), "cursor", value.Document(value.EmptyDoc)}
	case 1:
		fields = []any{"find", value.String("c"), "filter", value.Document(value.NewDoc("$where", f))}
	case 2:
		fields = []any{"mapReduce", value.String("c"), "map", f, "reduce", value.Code("function() {}"), "out", doc(`{"inline": 1}`)}
	case 3:
		acc := value.NewDoc("$accumulator", value.Document(value.NewDoc("init", f, "accumulate", value.Code("function(s) { return s }"),
			"accumulateArgs", value.NewArray(), "merge", value.Code("function(a) { return a }"), "lang", value.String("js"))))
		stage := value.NewDoc("$group", value.Document(value.NewDoc("_id", value.Null(), "r", value.Document(acc))))
		fields = []any{"aggregate", value.String("c"), "pipeline", value.NewArray(value.Document(stage)), "cursor", value.Document(value.EmptyDoc)}
	}
	return append(append(fields, "comment", value.String(comment)), more...)
}

// used is the processor time of a server.
func used(t *testing.T, p *proc.Server) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	ticks := 0
	for _, i := range []int{11, 12} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// operation is the number of the operation with a comment; 0: it does not run.
func operation(t *testing.T, c *client, comment string) int64 {
	t.Helper()
	filter := doc(`{"$match": {"command.comment": "` + comment + `"}}`)
	ops := c.must(t, "aggregate", value.Int32(1), "pipeline", value.NewArray(doc(`{"$currentOp": {}}`), filter),
		"cursor", value.Document(value.EmptyDoc), "$db", value.String("admin"))
	return ops.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc().Lookup("opid").SafeInt64()
}

// scriptsEnd is how much processor time scripts may take to end.
const scriptsEnd = 3 * time.Second

// TestScriptsEnd: maxTimeMS, killOp, a client that leaves, and a shutdown end scripts that
// are in a function of the language which takes long, wherever they run.
func TestScriptsEnd(t *testing.T) {
	p := start(t, t.TempDir())
	c := connect(t, p)
	c.must(t, "insert", value.String("c"), "documents", value.NewArray(doc(`{"_id": 1}`)))
	begin := func(name, script string, door int) (*client, <-chan error) {
		other, err := dial(p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { other.Close() })
		done := make(chan error, 1)
		go func() {
			_, err := other.run(scriptCommand(door, script, name)...)
			done <- err
		}()
		eventually(t, name+" runs", func() bool { return operation(t, c, name) != 0 })
		return other, done
	}
	quickly := func(name string, end func()) {
		before := used(t, p)
		end()
		if took := used(t, p) - before; took > scriptsEnd {
			t.Errorf("%s took %s", name, took)
		}
	}
	for i, script := range longScripts {
		for door := range 4 {
			if testing.Short() && (i+door)%4 != 0 {
				continue
			}
			name := fmt.Sprint("script ", i, " at ", door)
			quickly(name, func() {
				reply, _ := c.run(scriptCommand(door, script, name, "maxTimeMS", value.Int32(300))...)
				if code := reply.Lookup("code").Int32(); code != 50 {
					t.Errorf("%s: %s", name, reply)
				}
			})
			_, done := begin(name, script, door)
			quickly(name, func() {
				c.must(t, "killOp", value.Int32(1), "op", value.Int64(operation(t, c, name)), "$db", value.String("admin"))
				if err := <-done; err == nil || !strings.Contains(err.Error(), "11601") {
					t.Errorf("%s: %v", name, err)
				}
			})
			other, _ := begin(name, script, door)
			quickly(name, func() {
				other.Close()
				eventually(t, name+" ends", func() bool { return operation(t, c, name) == 0 })
			})
		}
	}
	for i, script := range longScripts {
		begin(fmt.Sprint("script ", i), script, i)
	}
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the server does not end")
	}
}

// TestScriptMemory: scripts that take all memory they get leave the server, and the
// scripts of others, what they need; so do scripts that sleep.
func TestScriptMemory(t *testing.T) {
	const most = 700 << 20
	p := start(t, t.TempDir())
	c := connect(t, p)
	c.must(t, "insert", value.String("c"), "documents", value.NewArray(doc(`{"_id": 1}`)))
	ended := make(chan error, 100)
	begin := func(name, script string, ms int32) {
		other, err := dial(p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { other.Close() })
		go func() {
			_, err := other.run(scriptCommand(0, script, name, "maxTimeMS", value.Int32(ms))...)
			ended <- err
		}()
	}
	for i := range 10 {
		name := fmt.Sprint("sleeper ", i)
		begin(name, `sleep(59000)`, 60000)
		eventually(t, name, func() bool { return operation(t, c, name) != 0 })
	}
	c.must(t, scriptCommand(0, `var a = []; for (var i = 0; i < 1e6; i++) a.push(i * 1.5); return a.concat(a).length`, "large")...)
	bombs := []string{
		`var a = []; for (;;) try { a.push("x".repeat(100000) + a.length) } catch (e) { sleep(5000) }`,
		`var a = []; for (;;) try { a.push(new Uint8Array(1e6).fill(1)) } catch (e) { sleep(5000) }`,
		`var m = new Map(); for (var i = 0; ; i++) m.set(i, "x" + i)`,
		`var s = "x"; for (;;) try { s = s + "y" + s } catch (e) { sleep(5000) }`,
		`var v = []; for (var i = 0; i < 60000; i++) v.push("a" + i); var f = new Function("g", v.join(), "g(g)"); for (;;) try { f(f) } catch (e) {}`,
	}
	for i := range 20 {
		begin("bomb", bombs[i%len(bombs)], 3000)
	}
	for range 20 {
		c.must(t, scriptCommand(1, `return true`, "small")...)
	}
	for range 20 {
		if err := <-ended; err == nil {
			t.Error("a bomb has ended well")
		}
	}
	if peak := peakMemory(t, p); peak > most {
		t.Errorf("the server took %d MB", peak>>20)
	} else {
		t.Logf("the server took %d MB", peak>>20)
	}
}

// peakMemory is the most memory that a process has had, in bytes.
func peakMemory(t *testing.T, p *proc.Server) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(text)
	if found == nil {
		needs.Missing(t, "VmHWM in /proc/PID/status")
	}
	kb, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
