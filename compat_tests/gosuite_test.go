package compat

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// goPackage is a package of tests that a Go driver brings with it, run as it
// stands in the module cache.
type goPackage string

func (p goPackage) run(t *testing.T, uri string, only, skip []string) outcome {
	t.Helper()
	delayPing(t, uri)
	args := append([]string{"test", "-count=1", "-json", "-timeout=30m"}, goSelection(only, skip)...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, string(p))...)
	cmd.Env = append(os.Environ(), "MONGODB_URI="+uri)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // that some tests fail is expected: the list judges
	return collect(bufio.NewScanner(out))
}

// delayPing makes the server delay its reply to the next ping. The drivers' TestMain starts
// two topologies and, after a ping by the second, queries the kind of the first. Without
// the delay the first may not have found the server yet, and the suite ends with "could
// not detect topology kind" before any test.
func delayPing(t *testing.T, uri string) {
	t.Helper()
	command(t, connect(t, uri).Database("admin"), bson.D{
		{Key: "configureFailPoint", Value: "failCommand"},
		{Key: "mode", Value: bson.D{{Key: "times", Value: 1}}},
		{Key: "data", Value: bson.D{
			{Key: "failCommands", Value: bson.A{"ping"}},
			{Key: "blockConnection", Value: true},
			{Key: "blockTimeMS", Value: 1000},
		}},
	})
}

// goSelection is the flags that have go test run some tests only, with what
// stands around them, or all, and leave some out.
func goSelection(only, skip []string) []string {
	without := []string{"^$"}
	for _, test := range skip {
		without = append(without, "^"+strings.ReplaceAll(test, "/", "$/^")+"$")
	}
	flags := []string{"-skip=" + strings.Join(without, "|")}
	if len(only) == 0 {
		return flags
	}
	var outermost []string
	for _, test := range only {
		name, _, _ := strings.Cut(test, "/")
		outermost = append(outermost, "^"+name+"$")
	}
	slices.Sort(outermost)
	return append(flags, "-run="+strings.Join(slices.Compact(outermost), "|"))
}

// event is a line of go test -json.
type event struct {
	Action, Test, Output string
}

// collect reads the results. A test with subtests counts by these, unless it
// fails although none of them does.
func collect(lines *bufio.Scanner) outcome {
	o := outcome{passed: map[string]bool{}, failed: map[string]bool{}, told: map[string]string{}}
	lines.Buffer(nil, 64<<20)
	ended, parents := map[string]string{}, map[string]bool{}
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			o.output += lines.Text() + "\n"
			continue
		}
		switch e.Action {
		case "pass", "fail", "skip":
			if e.Test != "" {
				ended[e.Test] = e.Action
			}
			if e.Action != "fail" {
				delete(o.told, e.Test)
			}
		case "run":
			for i, c := range e.Test {
				if c == '/' {
					parents[e.Test[:i]] = true
				}
			}
		case "output":
			if len(o.output) < 1<<16 {
				o.output += e.Output
			}
			if len(o.told[e.Test]) < 1<<12 {
				o.told[e.Test] += e.Output
			}
		}
	}
	blamed := map[string]bool{}
	for test, how := range ended {
		if how == "fail" && !parents[test] {
			blame(blamed, test)
		}
	}
	for test, how := range ended {
		switch {
		case parents[test] && (how != "fail" || blamed[test]):
		case how == "pass":
			o.passed[test] = true
		case how == "fail":
			o.failed[test] = true
		default:
			o.skipped++
		}
	}
	return o
}

// blame marks the tests that fail because one of their subtests does.
func blame(blamed map[string]bool, test string) {
	for i, c := range test {
		if c == '/' {
			blamed[test[:i]] = true
		}
	}
}
