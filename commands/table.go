package commands

import (
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

// commandFamilies lists the parts of the table, each next to its code.
func commandFamilies() [][]kernel.Command {
	return [][]kernel.Command{
		handshakeCommands(),
		users.Commands(),
		crud.Commands(),
		crud.BulkCommands(),
		ddl.CappedCommands(),
		diagnostics.UpkeepCommands(),
		diagnostics.HashCommands(),
		settings.SettingCommands(),
		settings.PlanCacheCommands(),
		settings.QuerySettingsCommands(),
		crud.MapReduceCommands(),
		refusedCommands(),
		diagnostics.ClientCommands(),
		oplogCommands(),
		diagnostics.Commands(),
		settings.ParameterCommands(),
		crud.SessionCommands(),
		transaction.TransactionCommands(),
		replication.Commands(),
		ddl.CatalogCommands(),
		diagnostics.StatsCommands(),
		diagnostics.ExpiryCommands(),
		ddl.CustomActionCommands(),
		mq.Commands(),
		diagnostics.MaintenanceCommands(),
		diagnostics.TestCommands(),
		sharding.Commands(),
	}
}
