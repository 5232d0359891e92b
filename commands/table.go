package commands

import (
	"sort"

	"github.com/duskdb/duskdb/commands/applyops"
	"github.com/duskdb/duskdb/commands/crud"
	"github.com/duskdb/duskdb/commands/ddl"
	"github.com/duskdb/duskdb/commands/diagnostics"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/mq"
	"github.com/duskdb/duskdb/commands/replication"
	"github.com/duskdb/duskdb/commands/settings"
	"github.com/duskdb/duskdb/commands/sharding"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/commands/users"
)

// commandFamilies returns the commands of each room.
func commandFamilies() [][]kernel.Command {
	return [][]kernel.Command{
		handshakeCommands(),
		crud.Commands(),
		transaction.Commands(),
		ddl.Commands(),
		mq.Commands(),
		users.Commands(),
		settings.Commands(),
		diagnostics.Commands(),
		replication.Commands(),
		applyops.Commands(),
		refusedCommands(), // before the commands of a mongos with the same names: see Helps
		sharding.Commands(),
	}
}

// buildTable collects the commands of all rooms that the server has into one sorted table.
func buildTable(s *kernel.Service) {
	s.Table = map[string]*kernel.Command{}
	for _, family := range commandFamilies() {
		for i := range family {
			cmd := &family[i]
			if cmd.Enabled != nil && !cmd.Enabled(s) {
				continue
			}
			cmd.Runs = s.Metrics.Command(cmd.Name)
			if rule := authRules[cmd.Name]; rule != nil {
				cmd.Rule = rule
			}
			s.Commands = append(s.Commands, cmd)
			s.Table[cmd.Name] = cmd
			for _, alias := range cmd.Aliases {
				s.Table[alias] = cmd
			}
		}
	}
	sort.Slice(s.Commands, func(i, j int) bool { return s.Commands[i].Name < s.Commands[j].Name })
}
