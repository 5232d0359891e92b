package commands

import (
	"slices"

	"github.com/duskdb/duskdb/commands/parameters"
)

// Names lists the commands of a server with all options on, sorted, without
// aliases. docs/compatibility.md is made from it.
func Names() []string {
	var names []string
	for _, family := range commandFamilies() {
		for i := range family {
			names = append(names, family[i].Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ParameterNames lists the server parameters, sorted.
func ParameterNames() []string {
	var names []string
	for _, p := range parameters.Table() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// Helps returns the help texts of the commands, by name, as listCommands shows them. What
// several commands of a name say, of which a server has one, is that of the one that a
// server alone has.
func Helps() map[string]string {
	helps := map[string]string{}
	for _, family := range commandFamilies() {
		for i := range family {
			if _, ok := helps[family[i].Name]; !ok {
				helps[family[i].Name] = family[i].Help
			}
		}
	}
	return helps
}
