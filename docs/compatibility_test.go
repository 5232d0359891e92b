package docs_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/parameters"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/servertest"
)

// TestCompatibilityPage holds the tables of the page against those in the code.
func TestCompatibilityPage(t *testing.T) {
	var b strings.Builder
	writeCommands(t, &b)
	stages := map[string]remark{}
	for _, name := range agg.RefusedStageNames() {
		stages[name] = remark{refused, "with mongod's error"}
	}
	for name, r := range stageRemarks {
		stages[name] = r
	}
	writeNames(t, &b, "Aggregation stages", append(agg.StageNames(), agg.RefusedStageNames()...), stages)
	writeNames(t, &b, "Query operators", match.Operators(), queryRemarks)
	writeNames(t, &b, "Update operators", update.Operators(), nil)
	writeExpressions(t, &b)
	writeNames(t, &b, "Accumulators of `$group`", agg.AccumulatorNames(), accumulatorRemarks)
	writeNames(t, &b, "Operators of `$setWindowFields`", agg.WindowNames(), nil)
	generated(t, "compatibility.md", "tables", b.String())
}

// writeCommands writes the table of commands. A command that its help calls refused is.
func writeCommands(t *testing.T, b *strings.Builder) {
	names, helps := commands.Names(), commands.Helps()
	needRemarks(t, names, commandRemarks)
	conditions := conditions(t, names)
	count := map[standing]int{}
	var rows strings.Builder
	for _, name := range names {
		r, ok := commandRemarks[name]
		help, why, isRefused := strings.Cut(helps[name], "refused: ")
		switch {
		case ok:
		case isRefused:
			r = remark{refused, why}
		default:
			r = remark{works, ""}
		}
		if isRefused {
			help = ""
		}
		if when := conditions[name]; when != "" {
			r.note = strings.TrimSuffix(when+"; "+r.note, "; ")
		}
		count[r.standing]++
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", name, help, r.standing, r.note)
	}
	fmt.Fprintf(b, "\n## Commands\n\n%d commands: %s.\n\n| command | what it does | | |\n|---|---|---|---|\n%s", len(names), counted(count), rows.String())
}

// counted says how many names there are of each standing.
func counted(count map[standing]int) string {
	var parts []string
	for _, s := range []struct {
		standing standing
		words    string
	}{{works, "work"}, {differs, "differ"}, {noEffect, "have no effect"}, {refused, "are refused"}, {own, "are DuskDB's own"}} {
		if n := count[s.standing]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.words))
		}
	}
	return strings.Join(parts, ", ")
}

// conditions says of commands that not every server has, when there are: it starts
// servers and asks them.
func conditions(t *testing.T, names []string) map[string]string {
	listed := func(opts ...servertest.Option) map[string]bool {
		srv := servertest.Run(t, append(opts, servertest.NoPort())...)
		var reply struct{ Commands map[string]bson.Raw }
		if err := srv.Client(t).Database("admin").RunCommand(t.Context(), bson.D{{Key: "listCommands", Value: 1}}).Decode(&reply); err != nil {
			t.Fatal(err)
		}
		has := map[string]bool{}
		for name := range reply.Commands {
			has[name] = true
		}
		return has
	}
	clock, tests := listed(), listed(servertest.Parameter("enableTestCommands", "true"))
	when := map[string]string{}
	for _, name := range names {
		switch {
		case name == "testClock" || name == "runExpirationPass":
			when[name] = "with `--test-clock`"
		case clock[name]:
		case tests[name]:
			when[name] = "with `--setParameter enableTestCommands=1`"
		default:
			when[name] = "for clients of [several servers](cluster.md)"
		}
	}
	return when
}

// writeNames writes a table of names: those that simply work in one paragraph, the
// others line by line.
func writeNames(t *testing.T, b *strings.Builder, title string, names []string, remarks map[string]remark) {
	needRemarks(t, names, remarks)
	slices.Sort(names)
	count := map[standing]int{}
	var plain []string
	var rows strings.Builder
	for _, name := range names {
		r, ok := remarks[name]
		if !ok {
			r.standing = works
		}
		if count[r.standing]++; r == (remark{works, ""}) {
			plain = append(plain, "`"+name+"`")
		} else {
			fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", name, r.standing, r.note)
		}
	}
	fmt.Fprintf(b, "\n## %s\n\n%d: %s.\n\n| name | | |\n|---|---|---|\n| %s | %s | |\n%s", title, len(names), counted(count), strings.Join(plain, " "), works, rows.String())
}

// writeExpressions writes a table of expressions with a line for each family.
func writeExpressions(t *testing.T, b *strings.Builder) {
	names := expr.Names()
	needRemarks(t, names, expressionRemarks)
	families := map[string][]string{}
	count := map[standing]int{}
	var rows strings.Builder
	for _, name := range names {
		r, ok := expressionRemarks[name]
		if !ok {
			r.standing = works
		}
		if count[r.standing]++; ok {
			fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", name, r.standing, r.note)
		}
		if r.standing == works {
			families[expr.Category(name)] = append(families[expr.Category(name)], "`"+name+"`")
		}
	}
	var order []string
	for family := range families {
		order = append(order, family)
	}
	slices.Sort(order)
	fmt.Fprintf(b, "\n## Expressions\n\n%d: %s.\n\n| name | | |\n|---|---|---|\n", len(names), counted(count))
	for _, family := range order {
		fmt.Fprintf(b, "| %s | %s | %s |\n", strings.Join(families[family], " "), works, family)
	}
	b.WriteString(rows.String())
}

// needRemarks fails if a remark is about a name that does not exist.
func needRemarks(t *testing.T, names []string, remarks map[string]remark) {
	t.Helper()
	for name := range remarks {
		if !slices.Contains(names, name) {
			t.Errorf("a remark is about %s, which is not in the table", name)
		}
	}
}

// What the page calls refused fails, and what has no effect is accepted.
func TestStandings(t *testing.T) {
	srv := servertest.Run(t, servertest.NoPort(), servertest.ReplicaSet("rs0"))
	client := srv.Client(t)
	run := func(db string, command bson.D) error {
		return client.Database(db).RunCommand(t.Context(), command).Err()
	}
	for _, name := range agg.RefusedStageNames() {
		err := run("test", bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: name, Value: bson.D{}}}}}, {Key: "cursor", Value: bson.D{}}})
		if e := (mongo.CommandError{}); !asCommandError(err, &e) || strings.Contains(e.Message, "Unrecognized") {
			t.Errorf("%s: %v", name, err)
		}
	}
	conditions := conditions(t, commands.Names())
	for name, help := range commands.Helps() {
		if r := commandRemarks[name]; conditions[name] != "" || r.standing != refused && !strings.Contains(help, "refused: ") {
			continue
		}
		err := run("admin", bson.D{{Key: name, Value: "c"}})
		if e := (mongo.CommandError{}); !asCommandError(err, &e) || e.Code == 59 {
			t.Errorf("%s is called refused: %v", name, err)
		}
	}
	for _, command := range []bson.D{
		{{Key: "flushRouterConfig", Value: 1}},
		{{Key: "dropConnections", Value: 1}, {Key: "hostAndPort", Value: bson.A{"h:1"}}},
		{{Key: "setParameter", Value: 1}, {Key: "syncdelay", Value: 10}},
		{{Key: "setParameter", Value: 1}, {Key: "internalQueryExecYieldIterations", Value: 10}},
	} {
		if err := run("admin", command); err != nil {
			t.Errorf("%v: %v", command, err)
		}
	}
}

func asCommandError(err error, e *mongo.CommandError) bool {
	c, ok := errors.AsType[mongo.CommandError](err)
	*e = c
	return ok
}

// TestParametersPage holds the table of parameters against that in the code. A
// parameter that the page says works is used in the sources.
func TestParametersPage(t *testing.T) {
	table := parameters.Table()
	slices.SortFunc(table, func(a, b parameter) int { return strings.Compare(a.Name, b.Name) })
	needRemarks(t, commands.ParameterNames(), parameterRemarks)
	sources := goSources(t, "../internal/auth", "../cmd/duskdb", "../commands", "../server", "../ttl", "../queue", "../storage")
	var b strings.Builder
	b.WriteString("\n| parameter | default | set | | |\n|---|---|---|---|---|\n")
	reasons := map[string][]string{}
	for _, p := range table {
		if p.NoEffect != "" {
			reasons[p.NoEffect] = append(reasons[p.NoEffect], withoutEffect(p))
			continue
		}
		r, ok := parameterRemarks[p.Name]
		if !ok {
			r.standing = works
		}
		if n := strings.Count(sources, `"`+p.Name+`"`); r.standing == works && n == 0 && p.OnChange == nil && r.note == "" {
			t.Errorf("%s works, says the page, but nothing but its table names it", p.Name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", p.Name, initial(p), when(p), r.standing, r.note)
	}
	b.WriteString("\nThese of mongod's parameters are accepted, and checked as mongod checks them, but have no effect. The log says so once for each that is set. Behind a name stands its default; one with * can be set at the start only, one with † at run time only, and one with ‡ exists only with `enableTestCommands`. Parameters whose names begin with `featureFlag` are accepted at the start without effect, too.\n\n| reason | parameters |\n|---|---|\n")
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(&b, "| %s | %s |\n", reason, strings.Join(reasons[reason], ", "))
	}
	generated(t, "reference.md", "parameters", b.String())
}

// withoutEffect is a parameter in the list of those without effect.
func withoutEffect(p parameter) string {
	text := "`" + p.Name + "`"
	if p.Former != "" {
		text += " (formerly `" + p.Former + "`)"
	}
	if initial := initial(p); initial != "" {
		text += " " + strings.Trim(initial, "`")
	}
	switch {
	case p.TestOnly:
		text += "‡"
	case !p.Runtime:
		text += "*"
	case !p.Startup:
		text += "†"
	}
	return text
}

type parameter = kernel.Parameter

func initial(p parameter) string {
	if p.Initial.String() == `""` {
		return ""
	}
	return "`" + strings.ReplaceAll(p.Initial.String(), "|", `\|`) + "`"
}

// when says when a parameter can be set.
func when(p parameter) string {
	switch {
	case p.Startup && p.Runtime:
		return "start, run time"
	case p.Startup:
		return "start"
	case p.Runtime:
		return "run time"
	}
	return "never"
}

// goSources is the text of all files of Go in directories, without tests and the table of
// parameters.
func goSources(t *testing.T, dirs ...string) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "commands/parameters/") {
				return err
			}
			text, err := os.ReadFile(path)
			b.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
