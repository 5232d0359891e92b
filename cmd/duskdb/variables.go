package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/commandline"
)

// misspelt finds variables that differ from those of the server's flags only by their
// underscores, such as DUSKDB_MEMORYLIMIT, and returns a warning for each. Other unknown
// variables may be anybody's.
func misspelt(app *commandline.App, environ []string) (warnings []string) {
	known, spelt := map[string]bool{}, map[string]string{}
	for _, command := range app.Commands {
		if command.Name != "serve" {
			continue
		}
		for _, flag := range command.Flags {
			known[flag.Env] = true
			spelt[strings.ReplaceAll(flag.Env, "_", "")] = flag.Env
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
