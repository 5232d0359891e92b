package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// misspelt finds variables that differ from those of the server's flags only by their
// underscores, such as DUSKDB_MEMORYLIMIT, and returns a warning for each. Other unknown
// variables may be anybody's.
func misspelt(k *kong.Kong, environ []string) (warnings []string) {
	known, spelt := map[string]bool{}, map[string]string{}
	for _, command := range k.Model.Children {
		if command.Name != "serve" {
			continue
		}
		for _, flag := range command.Flags {
			for _, name := range flag.Envs {
				known[name] = true
				spelt[strings.ReplaceAll(name, "_", "")] = name
			}
		}
	}
	given := map[string]string{}
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if meant := spelt[strings.ReplaceAll(strings.ToUpper(name), "_", "")]; meant != "" && !known[name] {
			given[name] = meant
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		warnings = append(warnings, "The variable "+name+" is unknown and has no effect; did you mean "+given[name]+"?")
	}
	return warnings
}
