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

// Helps returns the help texts of the commands, by name, as listCommands shows them. If a
// single server and one of several have different commands of a name, the text is that of the
// single server's.
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
