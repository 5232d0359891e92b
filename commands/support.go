package commands

import (
	"slices"

	"github.com/duskdb/duskdb/commands/parameters"
)

// Names lists the commands of a server with all options on, sorted, without
// aliases. The support list of the README is made from it.
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
