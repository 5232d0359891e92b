package parameters

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// noEffectFiles list the parameters of mongod that are accepted, and checked, but have no
// effect. A line in brackets is the reason of the parameters below it, each of which has a
// line with its name, when it can be set, its type and its default, and perhaps
//
//	>0 >=1 <=100 <16Mi     bounds of a number
//	in:a|b|c               the strings that are allowed
//	formerly:name          a former name, which mongod still knows
//	fortests               exists only with enableTestCommands
//
// They are text because as Go code the five hundred calls weigh five times as much.
//
//go:embed noeffect/*.txt
var noEffectFiles embed.FS

// noEffectParameters returns the parameters of noEffectFiles.
var noEffectParameters = sync.OnceValue(func() (list []parameter) {
	files, err := noEffectFiles.ReadDir("noeffect")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		text, err := noEffectFiles.ReadFile("noeffect/" + f.Name())
		if err != nil {
			panic(err)
		}
		list = append(list, ParseNoEffect(string(text))...)
	}
	return list
})

// ParseNoEffect reads a file of noEffectFiles. A mistake in it is one of the program.
func ParseNoEffect(text string) (list []parameter) {
	reason := ""
	for l := range strings.Lines(text) {
		words := strings.Fields(l)
		switch {
		case len(words) == 0 || words[0] == "#":
		case l[0] == '[':
			reason = strings.Trim(l, "[]\n")
		default:
			p := parseParameter(words)
			p.NoEffect = reason
			list = append(list, p)
		}
	}
	return list
}

// parseParameter reads the words of a line.
func parseParameter(words []string) parameter {
	name, initial, options := words[0], words[3], words[4:]
	w, ok := map[string]when{"always": always, "start": atStart, "runtime": atRunTime, "never": never}[words[1]]
	if !ok {
		panic("parameter " + name + " cannot be set " + words[1])
	}
	var bounds []kernel.Bound
	var allowed []string
	former, tests := "", false
	for _, option := range options {
		kind, text, _ := strings.Cut(option, ":")
		switch kind {
		case "in":
			allowed = strings.Split(text, "|")
		case "formerly":
			former = text
		case "fortests":
			tests = true
		default:
			bounds = append(bounds, parseBound(option))
		}
	}
	p := typed(name, w, words[2], initial, allowed, bounds)
	p.Former, p.TestOnly = former, tests
	return p
}

// typed makes a parameter of a type.
func typed(name string, w when, kind, initial string, allowed []string, bounds []kernel.Bound) parameter {
	switch kind {
	case "bool":
		return boolean(name, w, initial == "true")
	case "int":
		return integer(name, w, int32(parseNumber(initial)), bounds...)
	case "long":
		return long(name, w, int64(parseNumber(initial)), bounds...)
	case "double":
		return double(name, w, parseNumber(initial), bounds...)
	case "string":
		return text(name, w, strings.Trim(initial, `"`), allowed...)
	case "document":
		return document(name, w, initial)
	case "list":
		return line(name, w, value.NewArray(), checkList)
	}
	panic(fmt.Sprintf("parameter %s is a %s", name, kind))
}

// parseBound reads a bound like ">=1".
func parseBound(text string) kernel.Bound {
	number := strings.TrimLeft(text, "<>=")
	bound := map[string]func(float64) kernel.Bound{">": gt, ">=": gte, "<": lt, "<=": lte}[text[:len(text)-len(number)]]
	if bound == nil {
		panic("option of a parameter: " + text)
	}
	return bound(parseNumber(number))
}

// parseNumber reads a number, which may be of Ki, Mi or Gi.
func parseNumber(text string) float64 {
	unit := 1.0
	for suffix, n := range map[string]float64{"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = number, n
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return f * unit
}
