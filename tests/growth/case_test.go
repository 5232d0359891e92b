package growth

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/internal/relaxed"
	"github.com/duskdb/duskdb/value"
)

// growth is one case: a command whose cost depends on n.
//
// Commands are written as extended JSON whose keys need no quotes, and may begin with a
// database ("admin: {…}"; otherwise it is test). In them #n stands for the size, #h for half
// of it, and <<text>> for n repetitions of text, separated by commas, in which #i is the number
// of the repetition, #j the next one, #u the number with twelve digits,
// and #start an option that only the first statement of a transaction has.
type growth struct {
	name   string   // name of the operator, and of what there are n
	run    string   // what is measured
	before []string // runs before each measurement
	scale  int      // percent of the normal n, 0: 100
	limit  int      // the largest n that the server accepts, 0: any
	fails  bool     // the command fails: the server does not support it, or not here
	each   bool     // run is sent n times, once for each #i
	then   string   // a command that is sent at the end
}

// cases is the whole table: the cases of each kind of name.
func cases() map[string][]growth {
	return map[string][]growth{
		"expression":      expressionCases(),
		"query operator":  queryCases(),
		"update operator": updateCases(),
		"stage":           stageCases(),
		"accumulator":     accumulatorCases(),
		"window operator": windowCases(),
		"command":         commandCases(),
	}
}

// kinds are the kinds of names, sorted.
func kinds() []string { return slices.Sorted(maps.Keys(cases())) }

// operator is the name that the case is about.
func (g growth) operator() string {
	name, _, _ := strings.Cut(g.name, " ")
	return name
}

// size is n for a case, where the normal one is base.
func (g growth) size(base int) int {
	if g.scale > 0 {
		base = base * g.scale / 100
	}
	if g.limit > 0 {
		base = min(base, g.limit/4)
	}
	return base
}

// command is a command of a case for one size.
type command struct {
	db   string
	body value.Doc
}

// expand writes the repetitions of a text.
func expand(text string, n int) string {
	number := strconv.Itoa(n)
	var b strings.Builder
	for {
		head, rest, found := strings.Cut(text, "<<")
		b.WriteString(head)
		if !found {
			break
		}
		repeated, tail, ok := strings.Cut(rest, ">>")
		if !ok {
			panic("<< without >> in " + text)
		}
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(numbered(repeated, i))
		}
		text = tail
	}
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "#n", number), "#h", strconv.Itoa(max(n/2, 1)))
}

// numbered writes the number of a repetition.
func numbered(text string, i int) string {
	if !strings.Contains(text, "#") {
		return text
	}
	start := ""
	if i == 0 {
		start = "startTransaction: true, "
	}
	return strings.NewReplacer("#start", start, "#i", strconv.Itoa(i), "#j", strconv.Itoa(i+1), "#u", fmt.Sprintf("%012d", i)).Replace(text)
}

// parse reads a command.
func parse(text string) command {
	c := command{db: "test"}
	if db, rest, ok := strings.Cut(text, ": {"); ok && !strings.ContainsAny(db, `{" `) {
		c.db, text = db, "{"+rest
	}
	body, err := relaxed.Doc(text)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", text[:min(len(text), 300)], err))
	}
	c.body = body
	return c
}

// requests returns a text as commands for size n: one, or n with their numbers.
func requests(text string, n int, each bool) (list []command) {
	if !each {
		return []command{parse(expand(text, n))}
	}
	for i := range n {
		list = append(list, parse(numbered(expand(text, n), i)))
	}
	return list
}
