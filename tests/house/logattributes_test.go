package house

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// logUnits end the names of attributes of the log that are no plain counts.
var logUnits = []string{"Millis", "MB", "Bytes", "bytes", "percent", "secondsLeft"}

// logCounts are the attributes of the log that count something, or number it.
var logCounts = []string{
	"pid", "maxConns", "connections", "runningCommands", "connectionCount", "connectionId", "documents", "verbosity", "term",
	"subPasses", "messagesDropped", "messagesDeadLettered", "queuesDropped", "kept",
}

// TestLogAttributesHaveUnits: a duration in the log ends in Millis, as those of mongod's log do,
// and every other number is a count or has its unit in its name.
func TestLogAttributesHaveUnits(t *testing.T) {
	all, fset := typedPackages(t)
	durations, seen := 0, map[string]bool{}
	for pkg, p := range all {
		if strings.HasPrefix(pkg, "cmd/duskbench") || strings.HasPrefix(pkg, "internal/release") {
			continue
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				method, name := logAttribute(p, n)
				switch {
				case name == "":
				case method == "Dur":
					t.Errorf("%s: the duration %s: write Int64 and a name that ends in Millis", fset.Position(n.Pos()), name)
				case strings.HasSuffix(name, "Millis"):
					durations++
				case slices.Contains(logCounts, name):
					seen[name] = true
				case !slices.ContainsFunc(logUnits, func(unit string) bool { return strings.HasSuffix(name, unit) }):
					t.Errorf("%s: %s is a number in the log: put its unit into its name, or list it in logCounts", fset.Position(n.Pos()), name)
				}
				return true
			})
		}
	}
	if durations == 0 {
		t.Error("found no duration: the test does not work")
	}
	for _, name := range logCounts {
		if !seen[name] {
			t.Errorf("no line of the log has %s any more", name)
		}
	}
}

// logAttribute is the call that adds a number to a line of the log: its receiver is of no type of
// this module, whose own builders of documents have methods of the same names.
func logAttribute(p typed, n ast.Node) (method, name string) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return "", ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Dur", "Int", "Int32", "Int64", "Uint32", "Uint64", "Float64"}, sel.Sel.Name) {
		return "", ""
	}
	if typ := p.types.TypeOf(sel.X); typ != nil && typ != types.Typ[types.Invalid] {
		return "", ""
	}
	literal, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "", ""
	}
	name, err := strconv.Unquote(literal.Value)
	if err != nil {
		return "", ""
	}
	return sel.Sel.Name, name
}
